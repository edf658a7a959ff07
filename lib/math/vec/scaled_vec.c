/* scaled_vec.c -- multiplies a vector, and adds a multiple of a vector to another. Each product is rounded
 * before it is added: fused multiply-add would round differently. */
#include "math/vec/lane.h"

void ISA_NAME(add_scaled)(const float *a, const float *b, float factor, size_t n, float *y)
{
    const VecF f = set_f(factor);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store_f(y + i, load_f(a + i) + f * load_f(b + i));
    for (; i < n; i++)
        y[i] = a[i] + factor * b[i];
}

void ISA_NAME(scale)(const float *x, float factor, size_t n, float *y)
{
    const VecF f = set_f(factor);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store_f(y + i, f * load_f(x + i));
    for (; i < n; i++)
        y[i] = factor * x[i];
}
