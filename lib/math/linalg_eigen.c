/* linalg_eigen.c -- eigenvectors of symmetric matrices and singular value decompositions, through LAPACK.
 *
 * For small matrices all eigenvectors are computed at once. Larger matrices are reduced to tridiagonal form,
 * which gives all eigenvalues. A few eigenvectors are then computed by inverse iteration, at a fraction of
 * the cost of the whole basis. */
#include "math/linalg_blas.h"
#include "math/blockwise.h"

#include <math.h>
#include <string.h>

enum { SMALL = 32 };

/* The integers that dsyevd and dstedc need to compute all eigenvectors of a matrix of side k. */
#define WHOLES(k) (3 + 5 * (k))

/* An eigenvalue is well separated if its distance to its neighbours exceeds this share of the largest
 * magnitude of an eigenvalue. Inverse iteration then gives its eigenvector with an error of about double's
 * epsilon divided by this share: float32's precision. */
#define APART 1e-9

static bool all_finite(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * 0;
    return sum == 0;
}

/* ---- computing all eigenvectors ---- */

static Status small_basis(Eigen *e, double *g, Arena *a, Error *err)
{
    const Blas *blas = blas_routines();
    const int k = blas_int(e->k), wholes = WHOLES(k);
    int info, *whole = NEW(a, int, (size_t)wholes);
    TRY(arena_check(whole, a, err));
    WITH_WORK(a, err,
              blas->dsyevd_("V", "L", &k, g, &k, e->value, work, &size, whole, &wholes, &info, 1, 1));
    e->vector = g; /* LAPACK stores by columns: its column i is row i of `vector` */
    return info ? lapack_failed("dsyevd", info, err) : OK;
}

/* Turns eigenvectors v (count, k) of the tridiagonal form into eigenvectors of the original matrix, in
 * place. */
static Status turn_back(const Eigen *e, size_t count, double *v, Arena *a, Error *err)
{
    const Blas *blas = blas_routines();
    const int k = blas_int(e->k), columns = blas_int(count);
    int info;
    WITH_WORK(a, err,
              blas->dormtr_("L", "L", "N", &k, &columns, e->reduced, &k, e->tau, v, &k, work, &size, &info, 1,
                            1, 1));
    return info ? lapack_failed("dormtr", info, err) : OK;
}

Status eigen_all(Eigen *e, Arena *a, Error *err)
{
    if (e->vector)
        return OK;
    const Blas *blas = blas_routines();
    const int k = blas_int(e->k), wholes = WHOLES(k);
    double *v = NEW(a, double, e->k * e->k);
    const ArenaMark mark = arena_mark(a);
    double *d = NEW(a, double, e->k), *off = NEW(a, double, e->k);
    int info, *whole = NEW(a, int, (size_t)wholes);
    TRY(arena_check(d && off && v && whole, a, err));
    memcpy(d, e->diag, e->k * sizeof *d);
    memcpy(off, e->off, e->k * sizeof *off);
    WITH_WORK(a, err, blas->dstedc_("I", &k, d, off, v, &k, work, &size, whole, &wholes, &info, 1));
    if (info)
        return lapack_failed("dstedc", info, err);
    TRY(turn_back(e, e->k, v, a, err));
    arena_rewind(a, mark);
    e->vector = v;
    return OK;
}

/* ---- computing all eigenvalues, and a few eigenvectors ---- */

static Status reduce(Eigen *e, double *g, Arena *a, Error *err)
{
    const Blas *blas = blas_routines();
    const int k = blas_int(e->k);
    e->reduced = g;
    e->tau = NEW(a, double, e->k);
    e->diag = NEW(a, double, e->k);
    e->off = NEW_ZERO(a, double, e->k);
    double *off = NEW(a, double, e->k);
    int info;
    TRY(arena_check(e->tau && e->diag && e->off && off, a, err));
    WITH_WORK(a, err, blas->dsytrd_("L", &k, g, &k, e->diag, e->off, e->tau, work, &size, &info, 1));
    if (info)
        return lapack_failed("dsytrd", info, err);
    memcpy(e->value, e->diag, e->k * sizeof *e->value);
    memcpy(off, e->off, e->k * sizeof *off);
    blas->dsterf_(&k, e->value, off, &info);
    return info ? lapack_failed("dsterf", info, err) : OK;
}

Status eigen_open(Eigen *e, double *g, size_t k, Arena *a, Error *err)
{
    TRY(linalg_ready(err));
    *e = (Eigen){.k = k, .value = NEW(a, double, k)};
    TRY(arena_check(e->value, a, err));
    if (!all_finite(g, k * k))
        return FAIL(err, ERR_NUMERIC, "a matrix with NaN or Inf");
    if (k == 0)
        return OK;
    return k <= SMALL ? small_basis(e, g, a, err) : reduce(e, g, a, err);
}

static bool stands_apart(const Eigen *e, size_t i)
{
    const double least = APART * fmax(fabs(e->value[0]), fabs(e->value[e->k - 1]));
    return (i == 0 || e->value[i] - e->value[i - 1] > least) &&
           (i + 1 == e->k || e->value[i + 1] - e->value[i] > least);
}

/* Computes `count` eigenvectors of the tridiagonal form by inverse iteration. Returns false if the iteration
 * did not converge or the arena has no memory. */
static bool iterate(const Eigen *e, const size_t *index, size_t count, double *v, Arena *a)
{
    const int k = blas_int(e->k), columns = blas_int(count);
    double *value = NEW(a, double, e->k), *work = NEW(a, double, 5 * e->k);
    int *block = NEW(a, int, e->k), *split = NEW(a, int, e->k), *whole = NEW(a, int, e->k),
        *bad = NEW(a, int, count);
    if (!value || !work || !block || !split || !whole || !bad)
        return false;
    for (size_t i = 0; i < e->k; i++) {
        value[i] = i < count ? e->value[index[i]] : 0;
        block[i] = 1;
        split[i] = k;
    }
    int info;
    blas_routines()->dstein_(&k, e->diag, e->off, &columns, value, block, split, v, &k, work, whole, bad,
                             &info);
    return info == 0;
}

Status eigen_some(Eigen *e, const size_t *index, size_t count, double *v, Arena *a, Error *err)
{
    if (count == 0)
        return OK;
    bool apart = !e->vector;
    for (size_t i = 0; i < count; i++)
        apart = apart && stands_apart(e, index[i]);
    if (apart && iterate(e, index, count, v, a))
        return turn_back(e, count, v, a, err);
    TRY(eigen_all(e, a, err));
    for (size_t i = 0; i < count; i++)
        memcpy(v + i * e->k, e->vector + index[i] * e->k, e->k * sizeof *v);
    return OK;
}

/* ---- singular values ---- */

/* Writes A as doubles column by column, the order in which LAPACK is fast for tall matrices. */
static void by_columns(const Tall *a, double *out)
{
    if (a->turned)
        for (size_t i = 0; i < a->rows * a->cols; i++)
            out[i] = (double)a->x[i];
    else
        for (size_t i = 0; i < a->rows; i++)
            for (size_t j = 0; j < a->cols; j++)
                out[j * a->rows + i] = (double)a->x[i * a->cols + j];
}

static Status check_matrix(const Tall *a, Error *err)
{
    const size_t rows = a->rows, cols = a->cols, bad = first_nonfinite(a->x, rows * cols, NULL);
    if (bad != rows * cols)
        return FAIL(err, ERR_NUMERIC, "a matrix whose element %zu is not finite", bad);
    if (rows > INT_MAX || cols > 46340 / 2)
        return FAIL(err, ERR_NUMERIC, "a matrix of %zu by %zu is beyond gesdd", rows, cols);
    return linalg_ready(err);
}

Status linalg_svd(const Tall *a, double *u, double *s, double *v, Arena *scratch, Error *err)
{
    if (a->cols == 0)
        return OK;
    TRY(check_matrix(a, err));
    const ArenaMark mark = arena_mark(scratch);
    const Blas *blas = blas_routines();
    const int rows = blas_int(a->rows), cols = blas_int(a->cols);
    const char *job = u ? "S" : "N";
    double *x = NEW(scratch, double, a->rows *a->cols), *vt = u ? NEW(scratch, double, a->cols *a->cols) : NULL;
    int info, *whole = NEW(scratch, int, 8 * a->cols);
    TRY(arena_check(x && whole && (vt || !u), scratch, err));
    by_columns(a, x);
    WITH_WORK(scratch, err,
              blas->dgesdd_(job, &rows, &cols, x, &rows, s, u, &rows, vt, &cols, work, &size, whole, &info, 1));
    for (size_t i = 0; u && i < a->cols; i++)
        for (size_t j = 0; j < a->cols; j++)
            v[i * a->cols + j] = vt[j * a->cols + i];
    arena_rewind(scratch, mark);
    return info ? lapack_failed("dgesdd", info, err) : OK;
}
