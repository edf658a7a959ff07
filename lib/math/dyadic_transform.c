/* dyadic_transform.c -- the Walsh-Hadamard transform, and the wavelet transform and its inverse (dyadic_transform.h).
 *
 * Pieces of 2^16 elements are transformed while they are in the cache: butterflies with the sixteen strides
 * 1, 2, 4, ..., 2^15. A longer block also needs butterflies with larger strides, between elements of
 * different pieces. Each pass over memory does up to eight of these strides. In the wavelet
 * transform, threads work on different ranges of one level. */
#include "math/dyadic_transform.h"

#include "base/parallel.h"
#include "math/vec/kernels.h"

#include <math.h>
#include <string.h>

/* ---- Walsh-Hadamard ---- */

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

/* ---- wavelets ---- */

/* Filters of Daubechies, Ten Lectures on Wavelets (1992), table 6.1, scaled to a sum of sqrt 2. db2 is (1 +
 * r, 3 + r, 3 - r, 1 - r) / (4 sqrt 2) with r = sqrt 3. */
static const struct {
    int taps;
    double s[WAVELET_TAPS];
} families[WAVELETS] = {
    [WAVELET_HAAR] = {2, {0.70710678118654752, 0.70710678118654752}},
    [WAVELET_DB2] = {4,
                     {0.48296291314453414, 0.83651630373780791, 0.22414386804201338, -0.12940952255126038}},
    [WAVELET_DB4] = {8,
                     {0.23037781330889650, 0.71484657055291565, 0.63088076792985891, -0.027983769416859854,
                      -0.18703481171909308, 0.030841381835560764, 0.032883011666885200,
                      -0.010597401785069032}},
};

/* Returns the filters s and d of a family. */
static WaveletFilter wavelet_filter(int family)
{
    const double *s = families[family].s;
    WaveletFilter w = {.taps = families[family].taps};
    for (int t = 0; t < w.taps; t++) {
        w.smooth[t] = s[t];
        w.detail[t] = t % 2 ? -s[w.taps - 1 - t] : s[w.taps - 1 - t];
    }
    return w;
}

/* ---- one level of the transform ---- */

enum { PIECE = BLOCK / 2, EDGE = WAVELET_TAPS / 2 - 1 };

/* One level of a transform or its inverse: `pairs` pairs of one smooth and one detail coefficient. In a
 * forward transform the filters of the last `edge` pairs wrap around the end of x. */
typedef struct {
    WaveletFilter filter;
    size_t pairs, edge;
    /* inputs: x of a forward transform, smooth and detail of an inverse transform */
    const float *x, *smooth, *detail;
    float *to, *to_detail; /* outputs */
} Level;

static size_t pieces_of(const Level *l)
{
    return (l->pairs + PIECE - 1) / PIECE;
}

static void split_piece(void *data, size_t piece)
{
    const Level *l = data;
    const size_t from = piece * PIECE, to = piece + 1 < pieces_of(l) ? from + PIECE : l->pairs;
    const size_t inner = l->pairs - l->edge, stop = to < inner ? to : inner;
    float around[2 * EDGE + WAVELET_TAPS];
    if (from < stop)
        kernels()->wavelet_split(&l->filter, l->x + 2 * from, stop - from, l->to + from, l->to_detail + from);
    const size_t first = from > inner ? from : inner;
    if (first >= to)
        return;
    for (size_t i = 0; i < 2 * (to - first) + WAVELET_TAPS; i++)
        around[i] = l->x[(2 * first + i) % (2 * l->pairs)];
    kernels()->wavelet_split(&l->filter, around, to - first, l->to + first, l->to_detail + first);
}

static void join_piece(void *data, size_t piece)
{
    const Level *l = data;
    const size_t from = piece * PIECE, to = piece + 1 < pieces_of(l) ? from + PIECE : l->pairs;
    const size_t start = piece ? from : l->edge;
    float smooth[2 * EDGE], detail[2 * EDGE];
    if (start < to)
        kernels()->wavelet_join(&l->filter, l->smooth + start, l->detail + start, to - start,
                                l->to + 2 * start);
    if (piece || !l->edge)
        return;
    for (size_t i = 0; i < l->edge + EDGE; i++) {
        /* the first coefficient that is needed is EDGE pairs before pair 0, modulo the number of pairs */
        const size_t k = (i + EDGE * l->pairs - EDGE) % l->pairs;
        smooth[i] = l->smooth[k];
        detail[i] = l->detail[k];
    }
    kernels()->wavelet_join(&l->filter, smooth + EDGE, detail + EDGE, l->edge, l->to);
}

static Level level_of(int family, size_t pairs)
{
    const size_t edge = (size_t)families[family].taps / 2 - 1;
    return (Level){.filter = wavelet_filter(family), .pairs = pairs, .edge = edge < pairs ? edge : pairs};
}

/* ---- all levels of the transform ---- */

static int depth_of(size_t n, int levels)
{
    int depth = 0;
    while (n >> depth >= 2 && (depth < levels || levels == 0))
        depth++;
    return depth;
}

/* The smooth coefficients of the levels are written alternately to `room` and y. A level that reads y cannot
 * write its detail coefficients to y, so they go to `room` and are copied to y afterwards. */
bool wavelet(int family, int levels, const float *x, float *y, size_t n, int threads, Arena *scratch)
{
    const int depth = depth_of(n, levels);
    const ArenaMark mark = arena_mark(scratch);
    float *room = NEW(scratch, float, n / 2);
    if (!room)
        return false;
    for (int j = 0; j < depth; j++) {
        const size_t m = n >> j, pairs = m / 2;
        Level l = level_of(family, pairs);
        l.x = x;
        l.to = j % 2 ? y : room;
        l.to_detail = x == y ? room + pairs : y + pairs;
        parallel_for(threads, pieces_of(&l), split_piece, &l);
        if (x == y)
            memcpy(y + pairs, l.to_detail, pairs * sizeof *y);
        else if (m % 2)
            y[m - 1] = x[m - 1];
        x = l.to;
    }
    if (x != y)
        memcpy(y, x, (n >> depth) * sizeof *y);
    arena_rewind(scratch, mark);
    return true;
}

void wavelet_back(int family, int levels, float *y, float *x, size_t n, int threads)
{
    const int depth = depth_of(n, levels);
    for (int j = depth - 1; j >= 0; j--) {
        const size_t m = n >> j, pairs = m / 2;
        Level l = level_of(family, pairs);
        l.smooth = y;
        l.detail = y + pairs;
        l.to = x;
        parallel_for(threads, pieces_of(&l), join_piece, &l);
        if (m % 2)
            x[m - 1] = y[m - 1];
        if (j)
            memcpy(y, x, m * sizeof *y);
    }
    if (depth == 0)
        memcpy(x, y, n * sizeof *x);
}
