/* spectral.h -- a matrix as atoms of rank one, A = sum (A v_i) v_i', for one orthonormal basis v_1 .. v_k.
 *
 * The sum is exact for any orthonormal basis. From the eigenvectors of A'A it is the singular value
 * decomposition, and only the requested atoms need their vectors computed. */
#ifndef ATOMO_SPECTRAL_H
#define ATOMO_SPECTRAL_H

#include "num/linalg.h"

typedef enum { SPECTRAL_GRAM, SPECTRAL_GESDD } SpectralMethod;

typedef struct {
    Tall a;
    size_t k; /* a.cols */
    double *
        lambda; /* (k) |A v_i|, in descending order up to rounding; 0 where it is mere rounding error of the largest */
    Eigen eigen;     /* GRAM; of the Gram matrix */
    Completion rest; /* GRAM: where most of the values are rounding error, all vectors come from this basis */
    double *u, *v;   /* GESDD: (k, rows), (k, cols) */
    int threads;
} Spectral;

/* Everything lives in the arena. ERR_NUMERIC when A is not finite. */
Status spectral_open(Spectral *s, Tall a, SpectralMethod method, int threads, Arena *arena, Error *err);

/* The atoms index[0 .. count-1], ascending, each scaled: u[q] = A v_i * scale_q, rows floats, and v[q] = v_i,
 * cols floats, at any addresses. */
Status spectral_atoms(Spectral *s, const size_t *index, const double *scale, size_t count, uint8_t *const *u,
                      uint8_t *const *v, Arena *arena, Error *err);

#endif
