/* safe_sum.h -- a sufficient condition for the sum of two vectors to be within float32's range. */
#ifndef ATOMO_SAFE_SUM_H
#define ATOMO_SAFE_SUM_H

#include "math/blockwise.h"

/* Returns true if all elements of x are below 2^103 in magnitude. Then the sum of x and any finite float32
 * vector is finite, because adding less than 2^103 to a finite float32 cannot round up to infinity. */
static inline bool sum_is_safe(const float *x, size_t n, int threads)
{
    return blockwise_most(x, n, threads) < 0x1p103f;
}

#endif
