/* linalg.h -- dense linear algebra; its callers do not use OpenBLAS directly.
 *
 * Results have the same bytes for any number of threads. OpenBLAS runs on one thread; `parallel_for`
 * computes panels of a large product, which depend only on the matrix's shape. LAPACK may loop for ever on
 * an infinity, so functions fail for a matrix with NaN or infinities. Matrices are float and derived
 * quantities double. The range of double holds every product of floats, so tiny and huge matrices need no
 * scaling. */
#ifndef ATOMO_LINALG_H
#define ATOMO_LINALG_H

#include "base/arena.h"

/* ---- operations on tall matrices (rows >= columns) ---- */

/* A matrix A with rows >= cols. `x` is A row by row or, if `turned`, the transpose of A row by row. */
typedef struct {
    const float *x;
    size_t rows, cols;
    bool turned;
} Tall;

/* Returns x (rows, cols), stored row by row, if rows >= cols, else its transpose. */
Tall tall_of(const float *x, size_t rows, size_t cols);

/* Writes g (cols, cols) = A'A. Products are exact, and are added in double. */
Status linalg_gram(const Tall *a, int threads, double *g, Arena *scratch, Error *err);

/* Writes u[k] = A v_k, where v_k is row k of v (count, cols). Sums are in double. u[k] has `rows` floats as
 * in payloads (little-endian) and needs no alignment. A result that exceeds float32's range becomes an
 * infinity. */
Status linalg_project(const Tall *a, const double *v, size_t count, int threads, uint8_t *const *u,
                      Arena *scratch, Error *err);

/* Writes x (rows, cols) = the sum over k of l_k r_k'. l_k is row k of l (count, rows), and r_k is row k of r
 * (count, cols). */
void linalg_outer(const float *l, const float *r, size_t count, size_t rows, size_t cols, int threads,
                  float *x);

/* Computes the singular values s, descending, and the singular vectors unless u and v are NULL. A = sum of
 * s_i u_i v_i', where u_i is row i of u (cols, rows), and v_i is row i of v (cols, cols). */
Status linalg_svd(const Tall *a, double *u, double *s, double *v, Arena *scratch, Error *err);

/* ---- eigenvectors of symmetric matrices ---- */

/* The eigenvalues of a symmetric matrix, from which single eigenvectors can be computed. If one of the
 * requested eigenvalues is not well separated from its neighbours, all requested eigenvectors are taken from
 * a basis of all eigenvectors, which is computed once. Up to its sign and rounding errors, an eigenvector
 * does not depend on which others are requested. */
typedef struct {
    size_t k;
    double *value; /* (k), ascending */
    double
        *vector; /* (k, k), row i is the eigenvector of value[i]; NULL until all eigenvectors are computed */
    /* the tridiagonal form of the matrix, and the Householder reflectors that lead to it */
    double *reduced, *tau, *diag, *off;
} Eigen;

/* Computes the eigenvalues of the symmetric matrix g (k, k), which is overwritten. g and the arena must
 * outlive `e`. k <= EIGEN_MOST. Returns ERR_NUMERIC if g is not finite. */
enum { EIGEN_MOST = 46340 }; /* LAPACK's work sizes are ints, so k * k must fit an int */
Status eigen_open(Eigen *e, double *g, size_t k, Arena *a, Error *err);
Status eigen_all(Eigen *e, Arena *a, Error *err); /* computes e->vector */

/* Writes to v (count, k) the eigenvectors of the eigenvalues value[index[i]], i < count; index[] ascends. */
Status eigen_some(Eigen *e, const size_t *index, size_t count, double *v, Arena *a, Error *err);

/* ---- products ---- */

/* The product c (m, n) = scale A B, or c + scale A B if `add`. A is (m, k), B is (k, n). `a_turned` and
 * `b_turned`: A or B is stored as its transpose. */
typedef struct {
    const float *a, *b;
    float *c;
    size_t m, n, k;
    bool a_turned, b_turned, add;
    float scale;
} Product;
void linalg_multiply(const Product *p, int threads);

/* ---- loading OpenBLAS ---- */

/* Loads OpenBLAS unless it is loaded. If this fails, the status is ERR_IO and the error text gives the reason. The functions above
 * that return a Status load it where they need it; before `linalg_multiply` the caller must call `linalg_ready`. */
Status linalg_ready(Error *err);

/* OpenBLAS picks its kernels by CPU model, and picks the slowest for an unknown model. After this call,
 * `linalg_ready` sets the environment variable OPENBLAS_CORETYPE if other kernels suit this CPU better,
 * unless the user has set it. This call also sets OPENBLAS_NUM_THREADS to 1, unless the user has set it, so
 * that OpenBLAS creates no threads. Programs call this function before they create threads. The library
 * libatomo does not, since it must not change the environment. */
void linalg_choose_kernels(void);

/* For a library inside a program that may use OpenBLAS too. Between `linalg_borrow` and `linalg_return`
 * OpenBLAS runs on one thread. Several threads may borrow at the same time; the last call of `linalg_return`
 * restores OpenBLAS's number of threads. */
void linalg_borrow(void);
void linalg_return(void);

typedef struct {
    /* OpenBLAS's description of itself: "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
    const char *config;
    const char *core;      /* the CPU model whose kernels are used: "Haswell" */
    const char *threading; /* "none", "pthreads", "OpenMP" */
    const char *file;      /* path of the loaded OpenBLAS library */
    int lapack[3];         /* LAPACK version */
    const char *wanted;    /* the OPENBLAS_CORETYPE that suits this CPU better than `core`; NULL: none */
} BlasInfo;

/* Fills `info`. Fails as `linalg_ready` does if OpenBLAS cannot be loaded. */
Status linalg_blas_info(BlasInfo *info, Error *err);

#endif
