/* loops_vec.c -- the hot loops of networks, compiled for one instruction set, and the table of these
 * functions.
 *
 * A convolution works on PIECE interleaved images. Each weight is multiplied by a vector that has one pixel
 * of each image. The sums for one pixel and up to WIDEST output channels stay in registers. The input
 * gradient uses the same loop with transposed weights. Weight gradients are computed in tiles: a few output
 * channels times a few kernel elements. */
#include "nn/loops.h"
#include "vec/vec.h"

/* the most sums that fit into the registers together with the operands of the next product */
enum { WIDEST = VEC_BYTES == 64 ? 24 : 12 };

INLINE VecF splat(float x)
{
    return x - (VecF){0};
}

/* ---- the outputs of a convolution ---- */

INLINE void pixel(const Direct *d, const float *x, const float *weight, const Reach *row, const Reach *column,
                  VecF *sum, const size_t width)
{
    const size_t count = column->count, w_step = column->tap_step * width;
    const ptrdiff_t x_step = column->at_step * ROW;
    for (size_t c = 0; c < d->channels; c++)
        for (size_t i = 0; i < row->count; i++) {
            const size_t ky = row->tap + i * row->tap_step;
            const size_t y = (size_t)((ptrdiff_t)row->at + (ptrdiff_t)i * row->at_step);
            const float *w = weight + ((c * d->size + ky) * d->size + column->tap) * width;
            const float *v = x + ((c * d->x_rows + y) * d->x_columns + column->at) * ROW;
            for (size_t j = 0; j < count; j++, v += x_step, w += w_step) {
                const VecF one = load_f(v);
#pragma GCC unroll 24
                for (size_t q = 0; q < width; q++)
                    sum[q] += one * w[q];
            }
        }
}

INLINE void tile(const Direct *d, size_t t, const size_t width)
{
    const size_t first = t * width, count = d->outputs - first < width ? d->outputs - first : width;
    const size_t plane = d->rows * d->columns * ROW;
    const float *weight = d->weight + first * d->channels * d->size * d->size;
    for (size_t row = 0; row < d->rows; row++)
        for (size_t column = 0; column < d->columns; column++)
            for (size_t part = 0; part < ROW; part += LANES) {
                VecF sum[WIDEST];
#pragma GCC unroll 24
                for (size_t q = 0; q < width; q++)
                    sum[q] = splat(d->bias ? d->bias[first + q] : 0);
                pixel(d, d->x + part, weight, &d->row[row], &d->column[column], sum, width);
                float *y = d->y + first * plane + (row * d->columns + column) * ROW + part;
#pragma GCC unroll 24
                for (size_t q = 0; q < width; q++)
                    if (q < count)
                        store_f(y + q * plane, d->add ? load_f(y + q * plane) + sum[q] : sum[q]);
            }
}

static void direct(const Direct *d)
{
    for (size_t t = 0; t * d->width < d->outputs; t++)
        switch (d->width) {
        case 4:
            tile(d, t, 4);
            break;
        case 8:
            tile(d, t, 8);
            break;
        case 12:
            tile(d, t, 12);
            break;
#if VEC_BYTES == 64
        case 16:
            tile(d, t, 16);
            break;
        case 20:
            tile(d, t, 20);
            break;
        case 24:
            tile(d, t, 24);
            break;
#endif
        }
}

/* ---- the weight gradients of a convolution ---- */

/* `TALL`: outputs in a tile; `BROAD`: kernel elements in a tile */
enum { TALL = 4, BROAD = VEC_BYTES == 64 ? 5 : 2 };

INLINE float lanes_sum(VecF v)
{
    float s[LANES];
    memcpy(s, &v, sizeof s);
    for (size_t n = LANES / 2; n; n /= 2)
        for (size_t i = 0; i < n; i++)
            s[i] += s[i + n];
    return s[0];
}

static void bias_sum(const DirectWeights *d, size_t k)
{
    const size_t plane = d->rows * d->columns * ROW;
    VecF sum = {0};
    for (size_t i = 0; i < plane; i += LANES)
        sum += load_f(d->dy + k * plane + i);
    d->dbias[k] += lanes_sum(sum);
}

/* Returns the offset in x of the input pixel that kernel element i (channel, row, column) multiplies for the
 * first output pixel. */
static size_t place(const DirectWeights *d, size_t i)
{
    const size_t taps = d->size * d->size, c = i / taps, ky = i % taps / d->size, kx = i % d->size;
    return ((c * d->x_rows + ky) * d->x_columns + kx) * ROW;
}

/* Adds one tile of weight gradients: output channels from k on, kernel elements from i on. If the tile
 * extends past the last output channel or kernel element, computes the last one repeatedly and drops the
 * copies. */
static void weights_tile(const DirectWeights *d, size_t k, size_t i)
{
    const size_t places = d->channels * d->size * d->size, plane = d->rows * d->columns * ROW;
    const float *g[TALL], *x[BROAD];
    VecF sum[TALL][BROAD];
    for (size_t q = 0; q < TALL; q++)
        g[q] = d->dy + (k + q < d->outputs ? k + q : d->outputs - 1) * plane;
    for (size_t p = 0; p < BROAD; p++)
        x[p] = d->x + place(d, i + p < places ? i + p : places - 1);
#pragma GCC unroll 4
    for (size_t q = 0; q < TALL; q++)
#pragma GCC unroll 5
        for (size_t p = 0; p < BROAD; p++)
            sum[q][p] = (VecF){0};
    for (size_t row = 0; row < d->rows; row++) {
        size_t from = row * d->stride * d->x_columns * ROW, at = row * d->columns * ROW;
        for (size_t column = 0; column < d->columns; column++, from += d->stride * ROW, at += ROW)
            for (size_t part = 0; part < ROW; part += LANES) {
                VecF dy[TALL];
#pragma GCC unroll 4
                for (size_t q = 0; q < TALL; q++)
                    dy[q] = load_f(g[q] + at + part);
#pragma GCC unroll 5
                for (size_t p = 0; p < BROAD; p++) {
                    const VecF v = load_f(x[p] + from + part);
#pragma GCC unroll 4
                    for (size_t q = 0; q < TALL; q++)
                        sum[q][p] += v * dy[q];
                }
            }
    }
#pragma GCC unroll 4
    for (size_t q = 0; q < TALL; q++)
#pragma GCC unroll 5
        for (size_t p = 0; p < BROAD; p++)
            if (k + q < d->outputs && i + p < places)
                d->dw[(k + q) * places + i + p] += lanes_sum(sum[q][p]);
}

static void direct_weights(const DirectWeights *d)
{
    for (size_t k = 0; k < d->outputs; k++)
        bias_sum(d, k);
    for (size_t k = 0; k < d->outputs; k += TALL)
        for (size_t i = 0; i < d->channels * d->size * d->size; i += BROAD)
            weights_tile(d, k, i);
}

/* ---- max pooling: windows that do not overlap ---- */

typedef uint8_t VecB __attribute__((vector_size(LANES)));

INLINE VecI either(VecI mask, VecI yes, VecI no)
{
    return (mask & yes) | (~mask & no);
}

INLINE void window_max(const Windows *w, const float *x, float *y, uint8_t *place, const size_t size)
{
    VecF most = load_f(x);
    VecI best = {0};
    for (size_t row = 0; row < size; row++)
        for (size_t column = 0; column < size; column++) {
            const VecF v = load_f(x + (row * w->x_columns + column) * w->wide);
            const VecI mask = (v > most) | (v != v), i = (int32_t)(row * size + column) - (VecI){0};
            best = either(mask, i, best);
            most = (VecF)either(mask, (VecI)v, (VecI)most);
        }
    store_f(y, most);
    const VecB bytes = __builtin_convertvector(best, VecB);
    memcpy(place, &bytes, sizeof bytes);
}

INLINE void window_back(const Windows *w, const float *dy, const uint8_t *place, bool add, float *dx,
                        const size_t size)
{
    VecB bytes;
    memcpy(&bytes, place, sizeof bytes);
    const VecI best = __builtin_convertvector(bytes, VecI), d = (VecI)load_f(dy);
    for (size_t row = 0; row < size; row++)
        for (size_t column = 0; column < size; column++) {
            float *to = dx + (row * w->x_columns + column) * w->wide;
            const VecF v = (VecF)((best == (int32_t)(row * size + column)) & d);
            store_f(to, add ? load_f(to) + v : v);
        }
}

INLINE size_t first_of(const Windows *w, size_t row, size_t column)
{
    return (row * w->x_columns + column) * w->size * w->wide;
}

static void windows_max(const Windows *w, const float *x, float *y, uint8_t *place)
{
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++)
            for (size_t k = 0; k < w->wide; k += LANES, y += LANES, place += LANES) {
                const float *from = x + first_of(w, row, column) + k;
                if (w->size == 2)
                    window_max(w, from, y, place, 2);
                else
                    window_max(w, from, y, place, w->size);
            }
}

static void windows_max_back(const Windows *w, const float *dy, const uint8_t *place, bool add, float *dx)
{
    if (!add && (w->rows * w->size != w->x_rows || w->columns * w->size != w->x_columns))
        memset(dx, 0, w->x_rows * w->x_columns * w->wide * sizeof *dx);
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++)
            for (size_t k = 0; k < w->wide; k += LANES, dy += LANES, place += LANES) {
                float *to = dx + first_of(w, row, column) + k;
                if (w->size == 2)
                    window_back(w, dy, place, add, to, 2);
                else
                    window_back(w, dy, place, add, to, w->size);
            }
}

extern const RowLoops ISA_NAME(row_loops);
extern const ProductLoops ISA_NAME(product_loops);
extern const Loops ISA_NAME(loops);
const Loops ISA_NAME(loops) = {
    .widest = WIDEST,
    .direct = direct,
    .direct_weights = direct_weights,
    .windows_max = windows_max,
    .windows_max_back = windows_max_back,
    .rows = &ISA_NAME(row_loops),
    .product = &ISA_NAME(product_loops),
};
