/* slices.h -- slices of a long row of hash buckets. A row of 16,384 buckets or more is cut into slices of about
 * 8,192. Each has a stretch of consecutive elements to itself, so that the buckets in use stay in the cache.
 * A slice has as large a share of the buckets as its stretch has of the elements. A stretch consists of whole
 * blocks of elements. */
#ifndef ATOMO_SLICES_H
#define ATOMO_SLICES_H

#include "base/parallel.h"

enum { SLICE_LEAST = 1 << 13 };

/* The buckets `first` .. `first` + `count` - 1 of a row. */
typedef struct {
    size_t first;
    uint32_t count;
} Slice;

/* Returns the number of slices of a row of `buckets` < 2^32 buckets, to which n elements hash. */
static inline size_t slices_of(size_t buckets, size_t n)
{
    const size_t most = buckets / SLICE_LEAST, blocks = blocks_of(n), slices = most < blocks ? most : blocks;
    return slices ? slices : 1;
}

/* Returns the slice to which the elements of a block hash. */
static inline Slice slice_of(size_t buckets, size_t n, size_t block)
{
    const size_t slices = slices_of(buckets, n);
    const Stretch s = stretch_of(n, slices, ((block + 1) * slices - 1) / blocks_of(n));
    const size_t first = (size_t)((unsigned __int128)buckets * s.from / n),
                 end = (size_t)((unsigned __int128)buckets * s.to / n);
    return (Slice){first, (uint32_t)(end - first)};
}

#endif
