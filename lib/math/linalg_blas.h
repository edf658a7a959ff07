/* linalg_blas.h -- declarations that the linalg files share: the routines of OpenBLAS, its integers, and
 * panels (some rows of a matrix in double).
 *
 * OpenBLAS is loaded when the first routine is needed (linalg_load.c), so its header is not included.
 * LAPACK's routines take the address of every argument and store matrices column by column. For each text
 * argument, one more argument at the end gives the length of the text, which is always 1 here. */
#ifndef ATOMO_LINALG_BLAS_H
#define ATOMO_LINALG_BLAS_H

#include "math/linalg.h"

#include <assert.h>
#include <limits.h>

/* The constants of the C interface to BLAS. */
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112, UPPER = 121 };

/* clang-format off */
#define BLAS_ROUTINES(X)                                                                                            \
    X(void, cblas_sgemm, (int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,    \
                          int lda, const float *b, int ldb, float beta, float *c, int ldc))                         \
    X(void, cblas_dgemm, (int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double *a,  \
                          int lda, const double *b, int ldb, double beta, double *c, int ldc))                      \
    X(void, cblas_dsyrk, (int order, int uplo, int trans, int n, int k, double alpha, const double *a, int lda,     \
                          double beta, double *c, int ldc))                                                         \
    X(void, dsyevd_, (const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,       \
                      double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t, size_t))    \
    X(void, dsytrd_, (const char *uplo, const int *n, double *a, const int *lda, double *d, double *e, double *tau, \
                      double *work, const int *lwork, int *info, size_t))                                           \
    X(void, dormtr_, (const char *side, const char *uplo, const char *trans, const int *m, const int *n,            \
                      double *a, const int *lda, double *tau, double *c, const int *ldc, double *work,              \
                      const int *lwork, int *info, size_t, size_t, size_t))                                         \
    X(void, dsterf_, (const int *n, double *d, double *e, int *info))                                               \
    X(void, dstedc_, (const char *compz, const int *n, double *d, double *e, double *z, const int *ldz,             \
                      double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t))            \
    X(void, dstein_, (const int *n, double *d, double *e, const int *m, double *w, int *iblock, int *isplit,        \
                      double *z, const int *ldz, double *work, int *iwork, int *ifail, int *info))                  \
    X(void, dgesdd_, (const char *jobz, const int *m, const int *n, double *a, const int *lda, double *s,           \
                      double *u, const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork,       \
                      int *iwork, int *info, size_t))                                                               \
    X(void, dgeqrf_, (const int *m, const int *n, double *a, const int *lda, double *tau, double *work,             \
                      const int *lwork, int *info))                                                                 \
    X(void, dormqr_, (const char *side, const char *trans, const int *m, const int *n, const int *k, double *a,     \
                      const int *lda, double *tau, double *c, const int *ldc, double *work, const int *lwork,       \
                      int *info, size_t, size_t))                                                                   \
    X(void, dorgqr_, (const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau,       \
                      double *work, const int *lwork, int *info))                                                   \
    X(void, dlarft_, (const char *direct, const char *storev, const int *n, const int *k, double *v, const int *ldv, \
                      const double *tau, double *t, const int *ldt, size_t, size_t))                                \
    X(void, ilaver_, (int *major, int *minor, int *patch))                                                          \
    X(char *, openblas_get_config, (void))                                                                          \
    X(char *, openblas_get_corename, (void))                                                                        \
    X(int, openblas_get_parallel, (void))                                                                           \
    X(int, openblas_get_num_threads, (void))                                                                        \
    X(void, openblas_set_num_threads, (int threads))
/* clang-format on */

typedef struct {
#define ROUTINE(result, name, arguments) result(*name) arguments;
    BLAS_ROUTINES(ROUTINE)
#undef ROUTINE
} Blas;

/* Returns OpenBLAS's routines, which run on one thread and stay valid until the program ends; NULL if
 * OpenBLAS cannot be loaded. */
const Blas *blas_routines(void);

static inline int blas_int(size_t n)
{
    assert(n <= INT_MAX);
    return (int)n;
}

static inline Status lapack_failed(const char *routine, int info, Error *err)
{
    return FAIL(err, ERR_NUMERIC, "%s: no convergence (info %d)", routine, info);
}

/* Runs a call of LAPACK twice: the first time, with `size` -1, it only says how long the array `work` must be. */
#define WITH_WORK(a, err, ...)                                                                               \
    do {                                                                                                     \
        double told, *work = &told;                                                                          \
        int size = -1;                                                                                       \
        __VA_ARGS__;                                                                                         \
        size = (int)told;                                                                                    \
        work = NEW(a, double, (size_t)size);                                                                 \
        TRY(arena_check(work, a, err));                                                                      \
        __VA_ARGS__;                                                                                         \
    } while (0)

/* A panel: some rows of the matrix A, converted to double. The panel is stored row by row. If A is stored as
 * its transpose (`a->turned`), the panel too is stored as its transpose. */
typedef struct {
    const Tall *a;
    /* `from`: the first row of A in the panel; `step`: number of rows of every panel but the last, which
     * depends on the shape of A alone */
    size_t from, rows, step;
    double *x;
} Panel;

Status panel_open(Panel *p, const Tall *a, Arena *scratch, Error *err);
void panel_load(Panel *p, size_t from);

#endif
