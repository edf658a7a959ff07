/* spectral.h -- writes a matrix A as a sum of matrices of rank one (atoms): A = sum of (A v_i) v_i', for an
 * orthonormal basis v_1 .. v_k.
 *
 * The equation holds for any orthonormal basis. If the basis is the eigenvectors of A'A, the sum is the
 * singular value decomposition. Where this saves time, v_i is computed only for the requested atoms. */
#ifndef ATOMO_SPECTRAL_H
#define ATOMO_SPECTRAL_H

#include "math/linalg.h"

/* An orthonormal basis of k dimensions whose first vectors are `count` given vectors, up to their signs. */
typedef struct {
    size_t k, count;
    double *reflector, *tau;
} Completion;

/* The singular vectors v_i of a matrix A whose singular values are more than rounding errors. */
typedef struct {
    size_t count;   /* 0: the rank of A is not low, or not known to be low */
    double *square; /* (count) squared singular values |A v_i|^2, descending */
    double *v;      /* (count, cols) the vectors v_i */
    double rest;    /* squared Frobenius norm of the matrix A - sum of (A v_i) v_i' */
} Range;

typedef enum { SPECTRAL_GRAM, SPECTRAL_GESDD } SpectralMethod;

typedef struct {
    Tall a;
    size_t k; /* a.cols */
    /* (k) the norms |A v_i|, descending up to rounding errors; norms below the rounding error of the largest
     * are 0. If A has a low rank, norms below 1e-6 of the largest are replaced by their root mean square. */
    double *lambda;
    Eigen eigen; /* SPECTRAL_GRAM: eigenvalues and eigenvectors of the Gram matrix A'A */
    /* the completed basis: used if A has a low rank, or if spectral_open_leading has
     * computed the leading singular vectors only */
    Completion rest;
    size_t *order; /* spectral_open_leading: order[i] is the number of v_i in `rest`; NULL: i */
    double *u, *v; /* SPECTRAL_GESDD: singular vectors, u (k, rows) and v (k, cols) */
    int threads;
} Spectral;

/* Computes `lambda` (the norms of the atoms), and prepares spectral_atoms. All memory comes from the
 * arena. Returns ERR_NUMERIC if A is not finite. */
Status spectral_open(Spectral *s, Tall a, SpectralMethod method, int threads, Arena *arena, Error *err);

/* Does the same at a cost per element of A that does not grow with the number of columns. The basis is about
 * the `leading` right singular vectors with the largest singular values, completed to an orthonormal basis.
 * So the first atoms are nearly those of the singular value decomposition; the v_i of the others are just
 * orthonormal. Products are in float, so norms are known to about 1e-7 of the largest. The basis depends on A alone: a codec
 * that draws atoms of it at random is unbiased in every draw, also if several draws share the basis. Computes what `spectral_open` does by SPECTRAL_GRAM if `leading` is over a quarter of the
 * columns, if the rank is low, or if products in float would overflow or underflow. */
Status spectral_open_leading(Spectral *s, Tall a, size_t leading, int threads, Arena *arena, Error *err);

/* Computes `count` atoms. Their indices i = index[q] are ascending. For each atom, writes the `rows` floats
 * scale[q] A v_i to u[q], and the `cols` floats v_i to v[q]. u[q] and v[q] need no alignment. */
Status spectral_atoms(Spectral *s, const size_t *index, const double *scale, size_t count, uint8_t *const *u,
                      uint8_t *const *v, Arena *arena, Error *err);

#endif
