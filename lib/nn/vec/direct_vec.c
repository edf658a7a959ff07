/* direct_vec.c -- convolutions of PIECE images side by side: every weight meets a whole vector, whatever the sizes.
 *
 * One pixel of up to WIDEST output channels is summed in registers; the input gradient is the same loop with other
 * reaches and the weights turned. Weight gradients take tiles of outputs and places in the kernel. */
#include "nn/vec/wide.h"

/* ---- outputs ---- */

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

void ISA_NAME(direct)(const Direct *d)
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

/* ---- weight gradients ---- */

enum { TALL = 4, BROAD = VEC_BYTES == 64 ? 5 : 2 }; /* outputs and kernel places of a tile */

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

/* Where place i of the kernel (channel, row, column) reads for the first output pixel. */
static size_t place(const DirectWeights *d, size_t i)
{
    const size_t taps = d->size * d->size, c = i / taps, ky = i % taps / d->size, kx = i % d->size;
    return ((c * d->x_rows + ky) * d->x_columns + kx) * ROW;
}

/* Outputs from k on, kernel places from i on; behind the last of either, the last once more. */
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

void ISA_NAME(direct_weights)(const DirectWeights *d)
{
    for (size_t k = 0; k < d->outputs; k++)
        bias_sum(d, k);
    for (size_t k = 0; k < d->outputs; k += TALL)
        for (size_t i = 0; i < d->channels * d->size * d->size; i += BROAD)
            weights_tile(d, k, i);
}
