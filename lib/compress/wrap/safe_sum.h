/* safe_sum.h -- a sufficient condition for the sum of two vectors to be within float32's range. */
#ifndef ATOMO_SAFE_SUM_H
#define ATOMO_SAFE_SUM_H

#include "codec/compressor.h"

#include <math.h>

/* True if x plus any finite vector is finite: float32 addends under 2^103 cannot round a sum up to infinity. */
static inline bool sum_is_safe(const float *x, size_t n)
{
    float most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(x[i]));
    return most < 0x1p103f;
}

#endif
