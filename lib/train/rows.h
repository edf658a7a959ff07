/* rows.h -- the hot loops of transformers. They work on rows of floats: the channels of a token, or the
 * attention of a token to itself and the tokens before it.
 *
 * lib/train/vec/rows_vec.c is compiled once per instruction set, like the kernels of vec/. Compilers may use fused
 * multiply-adds, so instruction sets give results with different rounding errors. On one machine the bytes are
 * always the same. */
#ifndef ATOMO_ROWS_H
#define ATOMO_ROWS_H

#include "math/vec/kernels.h"

typedef struct {
    /* Sets y = x P(N(0, 1) < x), the exact GELU (Hendrycks & Gimpel 2016), to 2e-7, and overwrites x with the
     * derivative dy / dx. */
    void (*gelu)(size_t n, float *x, float *y);
    void (*scale)(size_t n, const float *by, float *x); /* x = x by */
    /* Overwrites x with its softmax. Returns log(sum of exp(x)). */
    float (*softmax)(size_t n, float *x);
    /* Overwrites x with exp(x - shift). */
    void (*exp_less)(size_t n, float shift, float *x);
    /* The gradient of softmax: d = p (d - mean), where `mean` is the inner product of p and the gradient. */
    void (*softmax_back)(size_t n, const float *p, float mean, float *d);
    float (*dot)(size_t n, const float *a, const float *b);
    /* Normalises x to mean 0 and variance 1, as y = (x - mean) scale weight + bias. `bias` may be NULL.
     * Returns mean and scale in `kept`. */
    void (*norm)(size_t n, const float *x, const float *weight, const float *bias, float *y, float kept[2]);
    /* The gradient of `norm`. Adds dy (x - mean) scale to dweight, and dy to dbias unless it is NULL. Sets
     * dx, or adds to dx if `add`. */
    void (*norm_back)(size_t n, const float *x, const float *weight, const float *dy, const float kept[2],
                      int add, float *dx, float *dweight, float *dbias);
} RowLoops;

const RowLoops *row_loops(void); /* those for this CPU */

#endif
