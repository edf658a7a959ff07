/* loops.h -- the hot loops of layers. They work on activations whose last axis is PIECE images (interleaved)
 * or a group of channels (blocked).
 *
 * lib/nn/vec/loops_vec.c is compiled once per instruction set, like the kernels of vec/. Compilers may use
 * fused multiply-adds, so instruction sets give results with different rounding errors. On one machine the
 * bytes are always the same. */
#ifndef ATOMO_LOOPS_H
#define ATOMO_LOOPS_H

#include "nn/product.h"
#include "nn/rows.h"
#include "vec/kernels.h"

/* Describes, for one output row of a convolution, the kernel rows that meet the input and not only padding.
 * They are the `count` rows `tap`, `tap` + `tap_step`, ..., and read the input rows `at`, `at` + `at_step`,
 * ... For an output column, the members describe kernel columns and input columns. */
typedef struct {
    size_t count, tap, tap_step, at;
    ptrdiff_t at_step;
} Reach;

/* Arguments of a convolution of PIECE images: y[k][i][j] = bias[k] + sum of weight * x over the input channels,
 * the kernel rows that row[i] lists, and the kernel columns that column[j] lists. */
typedef struct {
    const float *x; /* input (channels, x_rows, x_columns, PIECE) */
    size_t channels, x_rows, x_columns;
    const Reach *row, *column; /* (rows), (columns) one entry for each output row and output column */
    const float *weight; /* (tiles, channels, size, size, width): tiles of `width` outputs, the last padded */
    const float *bias;   /* (tiles, width) biases of the outputs; NULL: no biases */
    size_t size, width;
    float *y; /* output (outputs, rows, columns, PIECE) */
    size_t outputs, rows, columns;
    bool add; /* true: add to y instead of overwriting it */
} Direct;

/* Arguments of the gradients of a convolution's weights and biases, which are added to `dw` and `dbias`. A
 * weight's gradient is the sum of dy x over images and output pixels, where x is the input pixel that the
 * weight multiplies. A bias's gradient is the sum of dy. */
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
    size_t widest; /* largest `Direct.width` (outputs per tile); each width is a multiple of 4 */
    void (*direct)(const Direct *d);
    void (*direct_weights)(const DirectWeights *d);
    /* `windows_max` sets y to the maximum of each window, or NaN if the window contains NaN. It sets `place`
     * to the index of the maximum's pixel in the window, row by row; the first, if several are equal.
     * `windows_max_back` sets dx to dy at the maximum's pixel, and to 0 at the window's other pixels. If
     * `add` is true, it adds to dx instead. */
    void (*windows_max)(const Windows *w, const float *x, float *y, uint8_t *place);
    void (*windows_max_back)(const Windows *w, const float *dy, const uint8_t *place, bool add, float *dx);
    const RowLoops *rows;
    const ProductLoops *product; /* its members are NULL where OpenBLAS computes products */
} Loops;

const Loops *loops(void);
/* for tests: returns the loops for one instruction set; NULL: not in this build, or not on this CPU */
const Loops *loops_of(Isa isa);

#endif
