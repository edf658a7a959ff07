/* slow_slices.h -- the slices of a long row of hash buckets (compress/sketch/slices.h), by search. */
#ifndef ATOMO_TEST_SLOW_SLICES_H
#define ATOMO_TEST_SLOW_SLICES_H

#include "base/parallel.h"

/* Sets edge[0] to the first bucket of the slice of a block of n elements, and edge[1] to the first behind it. */
static inline void slow_slice(size_t buckets, size_t n, size_t block, size_t edge[2])
{
    const size_t blocks = (n + BLOCK - 1) / BLOCK, slices = buckets / 8192 < blocks ? buckets / 8192 : blocks;
    edge[0] = 0;
    edge[1] = buckets;
    for (size_t s = 1; s < slices; s++) {
        const size_t start = blocks * s / slices, bucket = buckets * start * BLOCK / n;
        if (start <= block)
            edge[0] = bucket;
        else if (bucket < edge[1])
            edge[1] = bucket;
    }
}

/* Returns the bucket of an element of a block, whose random word is `word`. */
static inline size_t slow_bucket_of(size_t buckets, size_t n, size_t block, uint32_t word)
{
    size_t edge[2];
    slow_slice(buckets, n, block, edge);
    return edge[0] + ((uint64_t)word * (edge[1] - edge[0]) >> 32);
}

#endif
