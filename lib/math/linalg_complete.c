/* linalg_complete.c -- completes a few orthonormal vectors to an orthonormal basis of the whole space.
 *
 * The basis is the product of Householder reflectors, one for each given vector, and only the reflectors are
 * stored. Applied to a unit vector e_i they give vector i of the basis. Applied to A, panel by panel, they
 * give A in this basis. */
#include "math/linalg_blas.h"

#include <string.h>

Status completion_open(Completion *c, double *v, size_t count, size_t k, Arena *a, Error *err)
{
    const Blas *blas = blas_routines();
    double told;
    int size, info;
    TRY(linalg_ready(err));
    *c = (Completion){.k = k, .count = count, .reflector = v, .tau = NEW(a, double, count)};
    TRY(arena_check(c->tau, a, err));
    if (count == 0)
        return OK;
    const int rows = blas_int(k), columns = blas_int(count);
    blas->dgeqrf_(&rows, &columns, v, &rows, c->tau, &told, &ask_size, &info);
    double *work = work_of(told, &size, a);
    TRY(arena_check(work, a, err));
    blas->dgeqrf_(&rows, &columns, v, &rows, c->tau, work, &size, &info);
    return info ? lapack_failed("dgeqrf", info, err) : OK;
}

/* Multiplies x (rows, cols), stored column by column, by H, the matrix whose columns are the vectors of the
 * basis. x becomes H x with how = "LN", H' x with "LT", and x H with "RN". */
static Status reflect(const Completion *c, const char *how, size_t rows, size_t cols, double *x, Arena *a,
                      Error *err)
{
    const int m = blas_int(rows), n = blas_int(cols), count = blas_int(c->count), k = blas_int(c->k);
    const Blas *blas = blas_routines();
    double told;
    int size, info;
    if (rows == 0 || cols == 0 || count == 0)
        return OK;
    const ArenaMark mark = arena_mark(a);
    blas->dormqr_(how, how + 1, &m, &n, &count, c->reflector, &k, c->tau, x, &m, &told, &ask_size, &info, 1,
                  1);
    double *work = work_of(told, &size, a);
    TRY(arena_check(work, a, err));
    blas->dormqr_(how, how + 1, &m, &n, &count, c->reflector, &k, c->tau, x, &m, work, &size, &info, 1, 1);
    arena_rewind(a, mark);
    return info ? lapack_failed("dormqr", info, err) : OK;
}

static void add_squares(const Panel *p, double *sum)
{
    const size_t cols = p->a->cols;
    for (size_t j = 0; p->a->turned && j < cols; j++)
        for (size_t i = 0; i < p->rows; i++)
            sum[j] += p->x[j * p->rows + i] * p->x[j * p->rows + i];
    for (size_t i = 0; !p->a->turned && i < p->rows; i++)
        for (size_t j = 0; j < cols; j++)
            sum[j] += p->x[i * cols + j] * p->x[i * cols + j];
}

Status completion_squares(const Completion *c, const Tall *a, double *square, Arena *scratch, Error *err)
{
    const ArenaMark mark = arena_mark(scratch);
    Panel p;
    TRY(panel_open(&p, a, scratch, err));
    memset(square, 0, a->cols * sizeof *square);
    for (size_t from = 0; from < a->rows; from += p.step) {
        panel_load(&p, from);
        TRY(a->turned ? reflect(c, "RN", p.rows, a->cols, p.x, scratch, err)
                      : reflect(c, "LT", a->cols, p.rows, p.x, scratch, err));
        add_squares(&p, square);
    }
    arena_rewind(scratch, mark);
    return OK;
}

Status completion_some(const Completion *c, const size_t *index, size_t count, double *v, Arena *a,
                       Error *err)
{
    memset(v, 0, count * c->k * sizeof *v);
    for (size_t i = 0; i < count; i++)
        v[i * c->k + index[i]] = 1;
    return reflect(c, "LN", c->k, count, v, a, err);
}
