/* loops.h -- the hot loops of layers whose activations are interleaved (PIECE images in the last axis) or blocked (a
 * group of channels in the last axis).
 *
 * lib/nn/vec/loops_vec.c is compiled once per instruction set, like the kernels of vec/. Compilers may use fused
 * multiply-adds, so results differ between instruction sets by rounding errors; on the same machine they are always
 * the same bytes. */
#ifndef ATOMO_LOOPS_H
#define ATOMO_LOOPS_H

#include "vec/kernels.h"

/* The taps of a kernel that contribute to one output row (or column): `count` taps tap, tap + tap_step, ..., which
 * read the input at rows (or columns) at, at + at_step, ... */
typedef struct {
    size_t count, tap, tap_step, at;
    ptrdiff_t at_step;
} Reach;

/* Arguments of a convolution of PIECE images: y[k][row][column] = bias[k] + sum over channels and contributing taps
 * of weight * x. */
typedef struct {
    const float *x; /* input (channels, x_rows, x_columns, PIECE) */
    size_t channels, x_rows, x_columns;
    const Reach *row, *column; /* (rows), (columns) */
    const float *weight; /* (tiles, channels, size, size, width): tiles of `width` outputs, the last padded */
    const float *bias;   /* (tiles, width) biases of the outputs; NULL: no biases */
    size_t size, width;
    float *y; /* output (outputs, rows, columns, PIECE) */
    size_t outputs, rows, columns;
    bool add; /* true: add to y instead of overwriting it */
} Direct;

/* Arguments of weight gradients: dw += sum over images and output pixels of dy times the x that the tap reads; dbias
 * += sum of dy. */
typedef struct {
    const float *x; /* input (channels, x_rows, x_columns, PIECE), padding included */
    size_t channels, x_rows, x_columns;
    const float *dy; /* gradient of the outputs (outputs, rows, columns, PIECE) */
    size_t outputs, rows, columns;
    size_t size, stride;
    float *dw, *dbias; /* gradients: dw (outputs, channels, size, size), dbias (outputs) */
} DirectWeights;

/* Pooling windows of size x size pixels; a pixel has `wide` adjacent floats. */
typedef struct {
    size_t size, wide;
    size_t rows, columns;     /* number of windows */
    size_t x_rows, x_columns; /* number of pixels */
} Windows;

typedef struct {
    size_t widest; /* the most outputs in a tile (Direct.width); a width is a multiple of 4 */
    void (*direct)(const Direct *d);
    void (*direct_weights)(const DirectWeights *d);
    /* windows_max writes to y the maximum of each window, NaN if the window contains NaN, and to `place` the index of
     * the maximum's pixel in the window, row by row; of equal maxima the first.
     * windows_max_back sets dx to dy at the pixel of the maximum and to 0 at the window's other pixels; if `add`, it
     * adds these values to dx. */
    void (*windows_max)(const Windows *w, const float *x, float *y, uint8_t *place);
    void (*windows_max_back)(const Windows *w, const float *dy, const uint8_t *place, bool add, float *dx);
} Loops;

const Loops *loops(void);
/* for tests; NULL: not in this build, or this CPU lacks the instruction set */
const Loops *loops_of(Isa isa);

#endif
