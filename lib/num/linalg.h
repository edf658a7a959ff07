/* linalg.h -- dense linear algebra; its callers do not use OpenBLAS directly.
 *
 * OpenBLAS runs on one thread: large products are cut into panels, which depend on the matrix's shape alone and are
 * computed by parallel_for, so results are the same bytes for any number of threads. NaN and infinities are refused
 * before LAPACK is called, which may loop for ever on an infinity. Matrices are float; derived quantities are double,
 * whose range holds every product of floats, so tiny and huge matrices need no scaling. */
#ifndef ATOMO_LINALG_H
#define ATOMO_LINALG_H

#include "base/arena.h"

/* ---- operations on tall matrices (rows >= columns) ---- */

/* A matrix A with rows >= cols, stored row by row; when `turned`, the transpose of A is stored row by row. */
typedef struct {
    const float *x;
    size_t rows, cols;
    bool turned;
} Tall;

/* x (rows, cols) is stored row by row. Returns x or its transpose, whichever is tall. */
Tall tall_of(const float *x, size_t rows, size_t cols);

/* Writes g (cols, cols) = A'A; the products are exact and added in double. */
Status linalg_gram(const Tall *a, int threads, double *g, Arena *scratch, Error *err);

/* Writes u[k] = A v_k for the rows v_k of v (count, cols), added in double; u[k] is `rows` floats and needs no
 * alignment. Results beyond float32's range become infinities. */
Status linalg_project(const Tall *a, const double *v, size_t count, int threads, uint8_t *const *u,
                      Arena *scratch, Error *err);

/* Writes x (rows, cols) = the sum over k of l_k r_k', where l_k and r_k are the rows of l (count, rows) and r (count,
 * cols). */
void linalg_outer(const float *l, const float *r, size_t count, size_t rows, size_t cols, int threads,
                  float *x);

/* Computes the singular values s, descending, and, unless u and v are NULL, the singular vectors: A = sum of s_i u_i
 * v_i', where u_i and v_i are the rows of u (cols, rows) and v (cols, cols). */
Status linalg_svd(const Tall *a, double *u, double *s, double *v, Arena *scratch, Error *err);

/* ---- eigenvectors of symmetric matrices ---- */

/* The eigenvalues and an orthonormal basis of eigenvectors, which may be computed in part. A vector does not depend
 * on which other vectors are asked for: unless its eigenvalue is well separated from the neighbouring eigenvalues,
 * the whole basis is computed once and the vector is taken from that basis. */
typedef struct {
    size_t k;
    double *value;  /* (k), ascending */
    double *vector; /* (k, k), row i is the eigenvector of value[i]; NULL until all are computed */
    /* the tridiagonal form of the matrix, and the reflectors that produce this form */
    double *reduced, *tau, *diag, *off;
} Eigen;

/* Returns ERR_NUMERIC when eigen_open refuses k x k matrices as too large. */
Status eigen_fits(size_t k, Error *err);

/* Computes the eigenvalues of g (k, k), symmetric, which is overwritten. g and the arena must outlive e. ERR_NUMERIC
 * when g is not finite. */
Status eigen_open(Eigen *e, double *g, size_t k, Arena *a, Error *err);
Status eigen_all(Eigen *e, Arena *a, Error *err); /* computes e->vector */

/* Writes to v (count, k) the eigenvectors of value[index[i]] for i < count; index[] ascends. */
Status eigen_some(Eigen *e, const size_t *index, size_t count, double *v, Arena *a, Error *err);

/* An orthonormal basis of k dimensions whose first vectors are `count` given vectors, up to their signs. */
typedef struct {
    size_t k, count;
    double *reflector, *tau;
} Completion;

/* Completes the rows of v (count, k), which are orthonormal. v is overwritten; v and the arena must outlive c. */
Status completion_open(Completion *c, double *v, size_t count, size_t k, Arena *a, Error *err);

/* Sets square[i] = |A v_i|^2 for each of the k vectors v_i of the basis. */
Status completion_squares(const Completion *c, const Tall *a, double *square, Arena *scratch, Error *err);

/* Writes to v (count, k) the basis vectors with the `count` indices in index[]. */
Status completion_some(const Completion *c, const size_t *index, size_t count, double *v, Arena *a,
                       Error *err);

/* ---- products ---- */

/* A product c (m, n) = scale A B, plus the old c when `add`. A is (m, k), B is (k, n); a matrix whose `turned` is set
 * is stored as its transpose. */
typedef struct {
    const float *a, *b;
    float *c;
    size_t m, n, k;
    bool a_turned, b_turned, add;
    float scale;
} Product;
void linalg_multiply(const Product *p, int threads);

/* ---- loading OpenBLAS ---- */

/* Loads OpenBLAS unless it is loaded already; ERR_IO with the loader's reason when that fails. The functions above
 * that return a Status call linalg_ready themselves; callers of linalg_multiply must call it first. */
Status linalg_ready(Error *err);

/* OpenBLAS picks kernels by CPU model, and takes its slowest kernels for a model that it does not know. This call
 * permits linalg_ready to name the kernels that suit this CPU in the environment variable OPENBLAS_CORETYPE, unless
 * the user has set it, and keeps OpenBLAS from creating threads. Programs call it before they create threads;
 * libraries leave the environment alone. */
void linalg_choose_kernels(void);

/* For a library inside a program that may use OpenBLAS too: from linalg_borrow to linalg_return OpenBLAS runs on one
 * thread. Several threads may borrow at the same time; the last return restores the number of threads that OpenBLAS
 * had before. */
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

/* Fills info; fails with ERR_IO as linalg_ready does. */
Status linalg_blas_info(BlasInfo *info, Error *err);

#endif
