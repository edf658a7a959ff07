/* linalg.h -- dense linear algebra in our types; OpenBLAS stays behind it.
 *
 * BLAS always runs on one thread here: large products are cut into panels that depend on the data alone and go
 * through parallel_for, so results are the same to the byte for any number of threads. NaN and infinities are refused
 * before LAPACK, where one infinity can loop for ever. Matrices are float; derived quantities are double, whose range
 * holds every product of floats, so tiny and huge matrices need no scaling. */
#ifndef ATOMO_LINALG_H
#define ATOMO_LINALG_H

#include "base/arena.h"

/* ---- tall matrices ---- */

/* A matrix A with rows >= cols. It is stored row by row, or, when `turned`, its transpose is. */
typedef struct {
    const float *x;
    size_t rows, cols;
    bool turned;
} Tall;

/* x holds (rows, cols) row by row. Returns that matrix or its transpose, whichever is tall. */
Tall tall_of(const float *x, size_t rows, size_t cols);

/* Writes g (cols, cols) = A'A, exact products summed in double. */
Status linalg_gram(const Tall *a, int threads, double *g, Arena *scratch, Error *err);

/* u[k], rows floats at any address: A v_k for v (count, cols), summed in double. Results beyond
 * float32's range become infinities. */
Status linalg_project(const Tall *a, const double *v, size_t count, int threads, uint8_t *const *u,
                      Arena *scratch, Error *err);

/* Writes x (rows, cols) = sum of l_k r_k' over l (count, rows), r (count, cols). */
void linalg_outer(const float *l, const float *r, size_t count, size_t rows, size_t cols, int threads,
                  float *x);

/* Computes s, the singular values, descending, and, unless u and v are NULL, A = sum s_i u_i v_i' with u (cols,
 * rows), v (cols, cols), a vector a row. */
Status linalg_svd(const Tall *a, double *u, double *s, double *v, Arena *scratch, Error *err);

/* ---- symmetric matrices ---- */

/* One orthonormal basis of eigenvectors, of which all or a few are computed. A vector does not depend on which others
 * are asked for: unless its eigenvalue is well apart from its neighbours, the whole basis is computed once and the
 * vector taken from it. */
typedef struct {
    size_t k;
    double *value;                      /* (k), ascending */
    double *vector;                     /* (k, k), row i belongs to value[i]; NULL until it is computed */
    double *reduced, *tau, *diag, *off; /* the tridiagonal form and the reflectors that lead to it */
} Eigen;

/* ERR_NUMERIC when eigen_open would refuse a matrix of this side. */
Status eigen_fits(size_t k, Error *err);

/* g (k, k), symmetric, is overwritten and must outlive e, like the arena. ERR_NUMERIC when g is not finite. */
Status eigen_open(Eigen *e, double *g, size_t k, Arena *a, Error *err);
Status eigen_all(Eigen *e, Arena *a, Error *err); /* computes e->vector */

/* Writes to v (count, k) the eigenvectors of value[index[0 .. count-1]]; index ascends. */
Status eigen_some(Eigen *e, const size_t *index, size_t count, double *v, Arena *a, Error *err);

/* An orthonormal basis of all k dimensions whose first vectors are, up to their signs, `count` given ones. */
typedef struct {
    size_t k, count;
    double *reflector, *tau;
} Completion;

/* v (count, k), orthonormal, is overwritten and must outlive c, like the arena. */
Status completion_open(Completion *c, double *v, size_t count, size_t k, Arena *a, Error *err);

/* Writes to square (k) |A v_i|^2 for each vector v_i of the basis. */
Status completion_squares(const Completion *c, const Tall *a, double *square, Arena *scratch, Error *err);

/* Writes to v (count, k) the basis vectors index[0 .. count-1]. */
Status completion_some(const Completion *c, const size_t *index, size_t count, double *v, Arena *a,
                       Error *err);

/* ---- products ---- */

/* c (m, n) = scale * A B, added to c when `add`. A is (m, k), B is (k, n); a turned matrix is stored as its
 * transpose. */
typedef struct {
    const float *a, *b;
    float *c;
    size_t m, n, k;
    bool a_turned, b_turned, add;
    float scale;
} Product;
void linalg_multiply(const Product *p, int threads);

/* ---- the library in use ---- */

/* Loads OpenBLAS unless it is there already; ERR_IO with the loader's reason where that fails. Functions above that
 * return a Status do so themselves; call this before linalg_multiply. */
Status linalg_ready(Error *err);

/* OpenBLAS picks kernels from a table of CPU models, and takes its slowest ones for a model newer than the table.
 * After this call it may be told by its environment variable OPENBLAS_CORETYPE which kernels suit this CPU, unless
 * the user has set that, and creates no threads of its own. For programs, before they have threads; a library leaves
 * the environment alone. */
void linalg_choose_kernels(void);

typedef struct {
    const char *config;    /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
    const char *core;      /* CPU model whose kernels run: "Haswell" */
    const char *threading; /* "none", "pthreads", "OpenMP" */
    const char *file;      /* path of the loaded library */
    int lapack[3];         /* LAPACK version */
    const char *wanted; /* the OPENBLAS_CORETYPE that suits this CPU better than `core`; NULL: `core` does */
} BlasInfo;

/* Fills info; fails with ERR_IO as linalg_ready does. */
Status linalg_blas_info(BlasInfo *info, Error *err);

#endif
