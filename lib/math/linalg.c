/* linalg.c -- computes Gram matrices, projections, sums of rank-one matrices, and general products of
 * matrices. */
#include "math/linalg_blas.h"
#include "base/bytes.h"
#include "math/vec/kernels.h"

#include <math.h>
#include <string.h>

Tall tall_of(const float *x, size_t rows, size_t cols)
{
    return rows >= cols ? (Tall){x, rows, cols, false} : (Tall){x, cols, rows, true};
}

/* Returns the number of rows in a piece of about BLOCK elements, but at least 64 rows. It depends on the
 * matrix alone, not on the number of threads. */
static size_t piece_rows(size_t cols)
{
    return cols < BLOCK / 64 ? BLOCK / cols / 64 * 64 : 64;
}

/* ---- Gram matrices ---- */

typedef struct {
    const Tall *a;
    size_t step;     /* number of rows of A in a piece */
    double *partial; /* (pieces, cols, cols) */
} FewGram;

static void few_gram_piece(void *data, size_t piece)
{
    const FewGram *f = data;
    const size_t cols = f->a->cols, from = piece * f->step, rows = size_least(f->step, f->a->rows - from);
    kernels()->gram_rows(f->a->x + from * cols, rows, cols, f->partial + piece * cols * cols);
}

static Status few_gram(const Tall *a, int threads, double *g, Arena *scratch, Error *err)
{
    const size_t cells = a->cols * a->cols, step = piece_rows(a->cols), pieces = (a->rows + step - 1) / step;
    FewGram f = {a, step, NEW(scratch, double, pieces *cells)};
    TRY(arena_check(f.partial, scratch, err));
    parallel_for(threads, pieces, few_gram_piece, &f);
    memset(g, 0, cells * sizeof *g);
    for (size_t p = 0; p < pieces; p++)
        for (size_t i = 0; i < cells; i++)
            g[i] += f.partial[p * cells + i];
    return OK;
}

enum { STRIP = 256 }; /* the number of columns of g that one call computes */

/* A panel takes at most 2 MB as doubles if A has at most 4096 columns. */
Status panel_open(Panel *p, const Tall *a, Arena *scratch, Error *err)
{
    const size_t cols = a->cols, most = cols < 256 ? 1024 : cols < 4096 ? (1 << 18) / cols : 64;
    const size_t step = size_least(most, a->rows);
    *p = (Panel){.a = a, .step = step, .x = NEW(scratch, double, step *cols)};
    return arena_check(p->x, scratch, err);
}

void panel_load(Panel *p, size_t from)
{
    const float *x = p->a->x;
    const size_t cols = p->a->cols, rows = size_least(p->step, p->a->rows - from);
    p->from = from;
    p->rows = rows;
    if (!p->a->turned)
        for (size_t i = 0; i < rows * cols; i++)
            p->x[i] = (double)x[from * cols + i];
    else
        for (size_t j = 0; j < cols; j++)
            for (size_t i = 0; i < rows; i++)
                p->x[j * rows + i] = (double)x[j * p->a->rows + from + i];
}

typedef struct {
    Panel panel;
    double *g;
} ManyGram;

/* Adds X'X to columns from .. to - 1 of the upper triangle of g, where the panel X is a block of rows of A.
 * Computes first the rectangle above row `from`, then the triangle below. */
static void many_gram_strip(void *data, size_t strip)
{
    const ManyGram *m = data;
    const Panel *p = &m->panel;
    const size_t cols = p->a->cols, from = strip * STRIP, to = size_least(from + STRIP, cols);
    const bool turned = p->a->turned;
    const size_t lead = turned ? p->rows : cols;
    const double *x = p->x + (turned ? from * lead : from);
    const int first = turned ? NO_TRANSPOSE : TRANSPOSE, second = turned ? TRANSPOSE : NO_TRANSPOSE;
    const Blas *blas = blas_routines();
    if (from > 0)
        blas->cblas_dgemm(ROW_MAJOR, first, second, blas_int(from), blas_int(to - from), blas_int(p->rows), 1,
                          p->x, blas_int(lead), x, blas_int(lead), 1, m->g + from, blas_int(cols));
    blas->cblas_dsyrk(ROW_MAJOR, UPPER, first, blas_int(to - from), blas_int(p->rows), 1, x, blas_int(lead),
                      1, m->g + from * cols + from, blas_int(cols));
}

static Status many_gram(const Tall *a, int threads, double *g, Arena *scratch, Error *err)
{
    const size_t cols = a->cols;
    ManyGram m = {.g = g};
    TRY(linalg_ready(err));
    TRY(panel_open(&m.panel, a, scratch, err));
    memset(g, 0, cols * cols * sizeof *g);
    for (size_t from = 0; from < a->rows; from += m.panel.step) {
        panel_load(&m.panel, from);
        parallel_for(threads, (cols + STRIP - 1) / STRIP, many_gram_strip, &m);
    }
    for (size_t i = 0; i < cols; i++)
        for (size_t j = 0; j < i; j++)
            g[i * cols + j] = g[j * cols + i];
    return OK;
}

Status linalg_gram(const Tall *a, int threads, double *g, Arena *scratch, Error *err)
{
    const ArenaMark mark = arena_mark(scratch);
    const bool few = a->cols <= FEW_COLS && !a->turned && a->cols > 0;
    const Status status = (few ? few_gram : many_gram)(a, threads, g, scratch, err);
    arena_rewind(scratch, mark);
    return status;
}

/* ---- projections ---- */

typedef struct {
    const Tall *a;
    const double *v; /* (cols, 4) up to four vectors; element i of vector j is v[4 i + j] */
    uint8_t *u[4];
    size_t count, step;
} Projection;

static void project_piece(void *data, size_t piece)
{
    const Projection *p = data;
    const size_t from = piece * p->step, rows = size_least(p->step, p->a->rows - from);
    uint8_t *u[4] = {0};
    for (size_t k = 0; k < p->count; k++)
        u[k] = p->u[k] + from * sizeof(float);
    kernels()->project_rows(p->a->x + from * p->a->cols, rows, p->a->cols, p->v, p->count, u);
}

/* Computes the products A v, adding v_j times column j of A, in blocks of SOME rows. A is stored as its
 * transpose, so its columns are contiguous. */
static void project_turned_piece(void *data, size_t piece)
{
    enum { SOME = 256 };
    const Projection *p = data;
    const size_t end = size_least((piece + 1) * p->step, p->a->rows);
    for (size_t from = piece * p->step; from < end; from += SOME) {
        const size_t rows = size_least(SOME, end - from);
        double sum[4][SOME] = {{0}};
        for (size_t j = 0; j < p->a->cols; j++) {
            const float *column = p->a->x + j * p->a->rows + from;
            for (size_t k = 0; k < p->count; k++) {
                const double v = p->v[4 * j + k];
                for (size_t i = 0; i < rows; i++)
                    sum[k][i] += v * (double)column[i];
            }
        }
        for (size_t k = 0; k < p->count; k++)
            for (size_t i = 0; i < rows; i++)
                store_f32(p->u[k] + (from + i) * sizeof(float), (float)sum[k][i]);
    }
}

static Status project_few(const Tall *a, const double *v, size_t count, int threads, uint8_t *const *u,
                          Arena *scratch, Error *err)
{
    double *four = NEW(scratch, double, 4 * a->cols);
    TRY(arena_check(four, scratch, err));
    Projection p = {.a = a, .v = four, .step = a->turned ? 4096 : piece_rows(a->cols)};
    for (size_t k = 0; k < count; k += 4) {
        p.count = size_least(4, count - k);
        for (size_t q = 0; q < p.count; q++) {
            p.u[q] = u[k + q];
            for (size_t j = 0; j < a->cols; j++)
                four[4 * j + q] = v[(k + q) * a->cols + j];
        }
        parallel_for(threads, (a->rows + p.step - 1) / p.step,
                     a->turned ? project_turned_piece : project_piece, &p);
    }
    return OK;
}

typedef struct {
    Panel panel;
    const double *v;
    double *product; /* (count, rows of the panel) the products as doubles */
    size_t count;
    uint8_t *const *u;
} ManyProjection;

enum { VECTORS = 128 }; /* the most vectors that one call of project_strip handles */

/* Computes the products of the panel with up to VECTORS rows of `v`, and stores them as floats. */
static void project_strip(void *data, size_t strip)
{
    const ManyProjection *m = data;
    const Panel *p = &m->panel;
    const size_t cols = p->a->cols, from = strip * VECTORS, count = size_least(VECTORS, m->count - from);
    double *out = m->product + from * p->rows;
    blas_routines()->cblas_dgemm(ROW_MAJOR, NO_TRANSPOSE, p->a->turned ? NO_TRANSPOSE : TRANSPOSE,
                                 blas_int(count), blas_int(p->rows), blas_int(cols), 1, m->v + from * cols,
                                 blas_int(cols), p->x, blas_int(p->a->turned ? p->rows : cols), 0, out,
                                 blas_int(p->rows));
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < p->rows; i++)
            store_f32(m->u[from + k] + (p->from + i) * sizeof(float), (float)out[k * p->rows + i]);
}

static Status project_many(const Tall *a, const double *v, size_t count, int threads, uint8_t *const *u,
                           Arena *scratch, Error *err)
{
    ManyProjection m = {.v = v, .count = count, .u = u};
    TRY(linalg_ready(err));
    TRY(panel_open(&m.panel, a, scratch, err));
    m.product = NEW(scratch, double, count *m.panel.step);
    TRY(arena_check(m.product, scratch, err));
    for (size_t from = 0; from < a->rows; from += m.panel.step) {
        panel_load(&m.panel, from);
        parallel_for(threads, (count + VECTORS - 1) / VECTORS, project_strip, &m);
    }
    return OK;
}

Status linalg_project(const Tall *a, const double *v, size_t count, int threads, uint8_t *const *u,
                      Arena *scratch, Error *err)
{
    enum { MANY = 12 };
    const ArenaMark mark = arena_mark(scratch);
    const bool many = count >= MANY && a->cols > FEW_COLS;
    const Status status = (many ? project_many : project_few)(a, v, count, threads, u, scratch, err);
    arena_rewind(scratch, mark);
    return status;
}

/* ---- sums of rank-one matrices ---- */

typedef struct {
    const float *l, *r;
    size_t count, rows, cols, step;
    float *x;
} Outer;

static void outer_piece(void *data, size_t piece)
{
    const Outer *o = data;
    const size_t from = piece * o->step, rows = size_least(o->step, o->rows - from);
    for (size_t k = 0; k < o->count; k += 4) {
        const float *l[4], *r[4];
        const size_t some = size_least(4, o->count - k);
        for (size_t q = 0; q < some; q++) {
            l[q] = o->l + (k + q) * o->rows + from;
            r[q] = o->r + (k + q) * o->cols;
        }
        kernels()->outer_rows(l, r, some, rows, o->cols, k > 0, o->x + from * o->cols);
    }
}

void linalg_outer(const float *l, const float *r, size_t count, size_t rows, size_t cols, int threads,
                  float *x)
{
    if (count == 0 || rows * cols == 0) {
        memset(x, 0, rows * cols * sizeof *x);
        return;
    }
    Outer o = {l, r, count, rows, cols, piece_rows(cols), x};
    parallel_for(threads, (rows + o.step - 1) / o.step, outer_piece, &o);
}

/* ---- gemm ---- */

enum { PANEL_ROWS = 384, PANEL_COLUMNS = 512, TILE_ROWS = 16 };

typedef struct {
    const Product *p;
    size_t rows, columns; /* of the result in a panel; each panel is computed by one thread */
    size_t across;        /* number of panels side by side, which together have all columns */
} Panels;

static void multiply_panel(void *data, size_t panel)
{
    const Panels *q = data;
    const Product *p = q->p;
    const size_t from = panel / q->across * q->rows, rows = size_least(q->rows, p->m - from);
    const size_t left = panel % q->across * q->columns, columns = size_least(q->columns, p->n - left);
    blas_routines()->cblas_sgemm(
        ROW_MAJOR, p->a_turned ? TRANSPOSE : NO_TRANSPOSE, p->b_turned ? TRANSPOSE : NO_TRANSPOSE,
        blas_int(rows), blas_int(columns), blas_int(p->k), p->scale,
        p->a + (p->a_turned ? from : from * p->k), blas_int(p->a_turned ? p->m : p->k),
        p->b + (p->b_turned ? left * p->k : left), blas_int(p->b_turned ? p->k : p->n), p->add ? 1 : 0,
        p->c + from * p->n + left, blas_int(p->n));
}

/* Threads compute panels of the result. A panel has all columns and up to PANEL_ROWS rows, which are divided evenly.
 * If the result has at most PANEL_ROWS rows, a panel has all rows and PANEL_COLUMNS columns. OpenBLAS packs operands
 * again for each panel, so small panels are slow. */
void linalg_multiply(const Product *p, int threads)
{
    if (p->m == 0 || p->n == 0)
        return;
    assert(blas_routines()); /* linalg_ready was called */
    const size_t down = size_parts(p->m, PANEL_ROWS);
    Panels q = {.p = p, .rows = size_parts(size_parts(p->m, down), TILE_ROWS) * TILE_ROWS};
    q.columns = down == 1 ? PANEL_COLUMNS : p->n;
    q.across = size_parts(p->n, q.columns);
    parallel_for(threads, size_parts(p->m, q.rows) * q.across, multiply_panel, &q);
}
