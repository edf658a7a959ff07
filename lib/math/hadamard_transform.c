/* hadamard_transform.c -- the Walsh-Hadamard transform (dyadic_transform.h).
 *
 * Pieces of 2^16 elements are transformed while they are in the cache: butterflies with the sixteen strides
 * 1, 2, 4, ..., 2^15. A longer block also needs butterflies with larger strides, between elements of
 * different pieces. Each pass over memory does up to eight of these strides. */
#include "math/dyadic_transform.h"

#include "math/vec/kernels.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { LOG_RUN = 8, LOG_BLOCK = 16, LOG_TILE = 14, MOST_ROWS = 8 /* log2 of the most rows in a pass */ };

static int log_of(size_t n)
{
    return 63 - __builtin_clzll((unsigned long long)n);
}

static float scale_of(int log)
{
    return (float)sqrt(ldexp(1, -log));
}

/* ---- transforms of blocks of up to 2^16 elements ---- */

static void short_block(float *x, int log)
{
    const size_t n = (size_t)1 << log;
    for (size_t stride = 1; stride < n; stride *= 2)
        for (size_t i = 0; i < n; i++)
            if (!(i & stride)) {
                const float a = x[i], b = x[i + stride];
                x[i] = a + b;
                x[i + stride] = a - b;
            }
    for (size_t i = 0; log && i < n; i++)
        x[i] *= scale_of(log);
}

static void whole_block(float *x, int log)
{
    const int log_rows = log - LOG_RUN;
    const size_t cols = (size_t)1 << (LOG_TILE - (log_rows > 6 ? log_rows : 6));
    if (log < LOG_RUN) {
        short_block(x, log);
        return;
    }
    kernels()->hadamard_runs(x, (size_t)1 << log_rows);
    for (size_t c = 0; c < HADAMARD_RUN; c += cols)
        kernels()->hadamard_rows(x + c, HADAMARD_RUN, log_rows, cols, scale_of(log));
}

typedef struct {
    const float *x;
    float *y;
    size_t n;
} Transform;

/* Transforms a piece of 2^16 elements of the vector: a block of the transform, or a fraction of a longer
 * block. The last piece may be shorter and consist of several blocks. */
static void transform_piece(void *data, size_t piece)
{
    const Transform *t = data;
    size_t left = block_size(t->n, piece);
    float *y = t->y + piece * BLOCK;
    if (t->y != t->x)
        memcpy(y, t->x + piece * BLOCK, left * sizeof *y);
    while (left) {
        const int log = log_of(left);
        whole_block(y, log);
        y += (size_t)1 << log;
        left -= (size_t)1 << log;
    }
}

/* ---- butterflies between elements of different pieces ---- */

typedef struct {
    float *y;
    /* `stride`: number of elements in a row; `cols`: number of columns that one call transforms */
    size_t stride, cols;
    int log_rows;
} Rows;

static void transform_columns(void *data, size_t piece)
{
    const Rows *r = data;
    const size_t pieces = r->stride / r->cols;
    float *y = r->y + (piece / pieces * r->stride << r->log_rows) + piece % pieces * r->cols;
    kernels()->hadamard_rows(y, r->stride, r->log_rows, r->cols, scale_of(r->log_rows));
}

static void join_pieces(float *y, int log, int threads)
{
    for (int done = LOG_BLOCK; done < log;) {
        const int log_rows = log - done < MOST_ROWS ? log - done : MOST_ROWS;
        Rows r = {.y = y, .stride = (size_t)1 << done, .log_rows = log_rows};
        r.cols = (size_t)1 << (LOG_TILE - log_rows);
        parallel_for(threads, ((size_t)1 << (log - log_rows)) / r.cols, transform_columns, &r);
        done += log_rows;
    }
}

void hadamard_of(const float *x, float *y, size_t n, int threads)
{
    Transform t = {x, y, n};
    parallel_for(threads, blocks_of(n), transform_piece, &t);
    for (size_t left = n; left > BLOCK;) {
        const int log = log_of(left);
        join_pieces(y, log, threads);
        y += (size_t)1 << log;
        left -= (size_t)1 << log;
    }
}
