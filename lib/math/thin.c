/* thin.c -- products with thin matrices, orthonormalisation; see thin.h. */
#include "math/thin.h"
#include "math/vec/kernels.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 4 }; /* the most vectors that a kernel takes */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t pieces_of(size_t n, size_t step)
{
    return n / step + (n % step != 0);
}

/* ---- products M q of a matrix and a vector ---- */

typedef struct {
    const float *m, *q;
    float *p;
    size_t rows, cols, count, step;
} Right;

static void right_piece(void *data, size_t piece)
{
    const Right *j = data;
    const size_t from = piece * j->step, rows = smaller(j->step, j->rows - from);
    for (size_t k = 0; k < j->count; k += AT_ONCE) {
        const size_t some = smaller(AT_ONCE, j->count - k);
        const float *q[AT_ONCE];
        float *p[AT_ONCE];
        for (size_t i = 0; i < some; i++) {
            q[i] = j->q + (k + i) * j->cols;
            p[i] = j->p + (k + i) * j->rows + from;
        }
        kernels()->rows_dot(j->m + from * j->cols, rows, j->cols, q, some, p);
    }
}

void thin_right(const float *m, size_t rows, size_t cols, const float *q, size_t count, int threads, float *p)
{
    const size_t step = cols < BLOCK / 4 ? BLOCK / (cols ? cols : 1) / 4 * 4 : 4;
    Right j = {m, q, p, rows, cols, count, step};
    parallel_for(threads, pieces_of(rows, step), right_piece, &j);
}

/* ---- products M' p of a transposed matrix and a vector ---- */

/* Columns are cut into strips, so that the sums of a strip stay in the cache. If there are at most
 * ENOUGH_STRIPS strips, the rows are also cut, into up to STRETCHES stretches with sums of their own. */
enum { STRIP = 1024, ENOUGH_STRIPS = 8, STRETCHES = 16, LEAST_ROWS = 256 };

typedef struct {
    const float *m, *p;
    float *q;
    double *sum; /* (stretches, count, cols) */
    size_t rows, cols, count, strips, stretches;
} Left;

static size_t stretches_of(size_t rows, size_t strips)
{
    return strips > ENOUGH_STRIPS ? 1 : smaller(STRETCHES, pieces_of(rows, LEAST_ROWS));
}

static void left_piece(void *data, size_t piece)
{
    const Left *j = data;
    const size_t strip = piece % j->strips, stretch = piece / j->strips;
    const size_t first = strip * STRIP, cols = smaller(STRIP, j->cols - first);
    const size_t each = pieces_of(j->rows, j->stretches), end = smaller((stretch + 1) * each, j->rows);
    double *const sum = j->sum + stretch * j->count * j->cols + first;
    for (size_t k = 0; k < j->count; k++)
        memset(sum + k * j->cols, 0, cols * sizeof *sum);
    for (size_t from = stretch * each, rows; from < end; from += rows) {
        rows = smaller(LEAST_ROWS, end - from);
        for (size_t k = 0; k < j->count; k += AT_ONCE) {
            const size_t some = smaller(AT_ONCE, j->count - k);
            const float *p[AT_ONCE];
            double *s[AT_ONCE];
            for (size_t i = 0; i < some; i++) {
                p[i] = j->p + (k + i) * j->rows + from;
                s[i] = sum + (k + i) * j->cols;
            }
            kernels()->rows_add(j->m + from * j->cols + first, j->cols, rows, cols, p, some, s);
        }
    }
}

Status thin_left(const float *m, size_t rows, size_t cols, const float *p, size_t count, int threads,
                 float *q, Arena *scratch, Error *err)
{
    const ArenaMark mark = arena_mark(scratch);
    const size_t strips = pieces_of(cols, STRIP), cells = count * cols;
    Left j = {m, p, q, NULL, rows, cols, count, strips, stretches_of(rows, strips)};
    j.sum = NEW(scratch, double, j.stretches *cells);
    TRY(arena_check(j.sum, scratch, err));
    parallel_for(threads, strips * j.stretches, left_piece, &j);
    for (size_t i = 0; i < cells; i++) {
        double total = 0;
        for (size_t s = 0; s < j.stretches; s++)
            total += j.sum[s * cells + i];
        q[i] = (float)total;
    }
    arena_rewind(scratch, mark);
    return OK;
}

/* ---- orthonormalisation of vectors ---- */

static double dot(const double *a, const double *b, size_t n)
{
    double s[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t l = 0; l < 8; l++)
            s[l] += a[i + l] * b[i + l];
    for (size_t l = 0; i < n; i++, l++)
        s[l] += a[i] * b[i];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Subtracts from vector k of w its projections on vectors 0 .. k - 1, which are orthonormal, and normalises
 * the remainder. Returns the ratio of the remainder's length to the vector's; 0: there is no remainder. */
static double orthogonal(double *w, size_t k, size_t n)
{
    double *v = w + k * n;
    const double whole = sqrt(dot(v, v, n));
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j < k; j++) {
            const double *u = w + j * n, along = dot(u, v, n);
            for (size_t i = 0; i < n; i++)
                v[i] -= along * u[i];
        }
    const double rest = sqrt(dot(v, v, n));
    if (!(rest > 0))
        return 0;
    for (size_t i = 0; i < n; i++)
        v[i] /= rest;
    return rest / whole;
}

Status thin_orthonormal(float *v, size_t count, size_t n, const Rng *rng, Arena *scratch, Error *err)
{
    const double least = 1e-6; /* ten times the rounding error of float32 */
    const ArenaMark mark = arena_mark(scratch);
    double *w = NEW(scratch, double, count *n);
    TRY(arena_check(w, scratch, err));
    for (size_t k = 0; k < count; k++) {
        double *const own = w + k * n;
        for (size_t i = 0; i < n; i++)
            own[i] = (double)v[k * n + i];
        if (orthogonal(w, k, n) > least)
            continue;
        thin_normal(rng, k * n, n, 1, 1, v + k * n);
        for (size_t i = 0; i < n; i++)
            own[i] = (double)v[k * n + i];
        orthogonal(w, k, n);
    }
    for (size_t i = 0; i < count * n; i++)
        v[i] = (float)w[i];
    arena_rewind(scratch, mark);
    return OK;
}

/* ---- vectors of normal random numbers ---- */

enum { NORMALS = 1024 };

typedef struct {
    const Rng *rng;
    uint64_t first;
    size_t n;
    double scale;
    float *v;
} Normals;

static void normals_piece(void *data, size_t piece)
{
    const Normals *j = data;
    const size_t from = piece * NORMALS, to = smaller(from + NORMALS, j->n);
    rng_normals(j->rng, USE_INIT, j->first + from, to - from, j->scale, j->v + from);
}

void thin_normal(const Rng *rng, uint64_t first, size_t n, double scale, int threads, float *v)
{
    Normals j = {rng, first, n, scale, v};
    parallel_for(threads, pieces_of(n, NORMALS), normals_piece, &j);
}
