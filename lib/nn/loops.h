/* loops.h -- the hot loops of layers whose numbers stand side by side: of PIECE images, or of a group of channels.
 *
 * The sources stand in lib/nn/vec/, compiled once per instruction set like the kernels; here products and sums may
 * fuse, so machines agree to rounding, and one machine with itself to the byte. */
#ifndef ATOMO_LOOPS_H
#define ATOMO_LOOPS_H

#include "vec/kernels.h"

/* Along one axis, the taps of a kernel that meet one output place and where they read the input: tap, tap + tap_step, ...
 * at place at, at + at_step, ... */
typedef struct {
    size_t count, tap, tap_step, at;
    ptrdiff_t at_step;
} Reach;

/* y[k][row][column] = bias[k] + sum over channels and the taps that reach it of weight times x, for PIECE images. */
typedef struct {
    const float *x; /* (channels, x_rows, x_columns, PIECE) */
    size_t channels, x_rows, x_columns;
    const Reach *row, *column; /* (rows), (columns) */
    const float *weight; /* (tiles, channels, size, size, width): `width` outputs to a tile, padded at will */
    const float *bias;   /* (tiles, width); NULL: none */
    size_t size, width;
    float *y; /* (outputs, rows, columns, PIECE) */
    size_t outputs, rows, columns;
    bool add; /* onto what is in y */
} Direct;

/* dw += sum over images and output places of dy times the x that each tap reads there; dbias += sum of dy. */
typedef struct {
    const float *x; /* (channels, x_rows, x_columns, PIECE), its padding included */
    size_t channels, x_rows, x_columns;
    const float *dy; /* (outputs, rows, columns, PIECE) */
    size_t outputs, rows, columns;
    size_t size, stride;
    float *dw, *dbias; /* (outputs, channels, size, size), (outputs) */
} DirectWeights;

/* size x size windows of pixels of `wide` numbers. */
typedef struct {
    size_t size, wide;
    size_t rows, columns;     /* windows */
    size_t x_rows, x_columns; /* pixels */
} Windows;

typedef struct {
    size_t widest; /* tile of `direct`; a width is a multiple of 4 up to it */
    void (*direct)(const Direct *d);
    void (*direct_weights)(const DirectWeights *d);
    /* The largest of each window, the first of equals or the first that is no number, and which of its pixels that is,
     * row by row. Back: dy goes there, 0 elsewhere, onto what is in dx when `add`. */
    void (*windows_max)(const Windows *w, const float *x, float *y, uint8_t *place);
    void (*windows_max_back)(const Windows *w, const float *dy, const uint8_t *place, bool add, float *dx);
} Loops;

const Loops *loops(void);
const Loops *loops_of(Isa isa); /* NULL: not in this build, or not on this CPU; for tests */

#endif
