/* hadamard_transform.h -- the orthonormal Walsh-Hadamard transform of any length n.
 *
 * A vector is cut into blocks whose lengths are powers of two and add up to n: one for each 1 in the binary
 * form of n, the largest first. Nothing is padded. In a block of 2^L elements
 *
 *     y_k = 2^(-L/2) sum over i of (-1)^popcount(i & k) x_i
 *
 * and the transform is its own inverse. Butterflies are applied by rising stride, so all machines and any
 * number of threads give the same bytes. */
#ifndef ATOMO_HADAMARD_H
#define ATOMO_HADAMARD_H

#include "base/base.h"

/* Writes the transform of x to y; y is x or does not overlap x. y is finite if |x|_2 is at most
 * HADAMARD_MOST. */
void hadamard_of(const float *x, float *y, size_t n, int threads);

#define HADAMARD_MOST 0x1p119f

static inline void hadamard(float *x, size_t n, int threads)
{
    hadamard_of(x, x, n, threads);
}

#endif
