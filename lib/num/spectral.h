/* spectral.h -- writes a matrix as a sum of atoms of rank one, A = sum of (A v_i) v_i', for an orthonormal basis v_1
 * .. v_k.
 *
 * The sum is exact for any orthonormal basis. With the eigenvectors of A'A as basis it is the singular value
 * decomposition, and v_i is computed for the requested atoms only. */
#ifndef ATOMO_SPECTRAL_H
#define ATOMO_SPECTRAL_H

#include "num/linalg.h"

typedef enum { SPECTRAL_GRAM, SPECTRAL_GESDD } SpectralMethod;

typedef struct {
    Tall a;
    size_t k; /* a.cols */
    /* (k) |A v_i|, descending up to rounding; 0 where it is below the rounding error of the largest lambda */
    double *lambda;
    Eigen eigen;     /* SPECTRAL_GRAM: eigenvalues and eigenvectors of the Gram matrix A'A */
    Completion rest; /* SPECTRAL_GRAM: the completed basis, used when most eigenvalues are rounding error */
    double *u, *v;   /* SPECTRAL_GESDD: singular vectors, u (k, rows) and v (k, cols) */
    int threads;
} Spectral;

/* Computes lambda (the norms of the atoms) and prepares the atoms; all memory comes from the arena. ERR_NUMERIC when
 * A is not finite. */
Status spectral_open(Spectral *s, Tall a, SpectralMethod method, int threads, Arena *arena, Error *err);

/* Computes the atoms with the `count` ascending indices i = index[q]: writes `rows` floats u[q] = scale[q] A v_i and
 * `cols` floats v[q] = v_i. u[q] and v[q] need no alignment. */
Status spectral_atoms(Spectral *s, const size_t *index, const double *scale, size_t count, uint8_t *const *u,
                      uint8_t *const *v, Arena *arena, Error *err);

#endif
