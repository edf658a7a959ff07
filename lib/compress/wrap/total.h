/* total.h -- sums of two vectors that must stay within float32. */
#ifndef ATOMO_TOTAL_H
#define ATOMO_TOTAL_H

#include "codec/compressor.h"

#include <math.h>

/* A finite float32 added to one that is smaller in magnitude rounds to a finite one. */
#define TOTAL_SAFE 0x1p103f

static inline bool total_is_safe(const float *x, size_t n)
{
    float most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(x[i]));
    return most < TOTAL_SAFE;
}

#endif
