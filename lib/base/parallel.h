/* parallel.h -- runs code on several threads; all threads of the library are created here.
 *
 * Work is cut into pieces whose number depends on the data alone, never on the number of threads; each piece
 * writes to memory of its own, and the partial sums of pieces are added in the order of the pieces. So results are
 * bit for bit the same for any number of threads. */
#ifndef ATOMO_PARALLEL_H
#define ATOMO_PARALLEL_H

#include "base/base.h"

enum {
    BLOCK = 1 << 16
}; /* number of elements in a block of a large tensor; each block has its own key of random words */

static inline size_t blocks_of(size_t n)
{
    return n / BLOCK + (n % BLOCK != 0);
}
static inline size_t block_size(size_t n, size_t block)
{
    size_t left = n - block * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

/* The range from .. to - 1 of elements in one piece, when n elements are cut into pieces of whole blocks, as equal
 * in length as possible. */
typedef struct {
    size_t from, to;
} Stretch;
static inline Stretch stretch_of(size_t n, size_t pieces, size_t p)
{
    const size_t blocks = blocks_of(n), end = blocks * (p + 1) / pieces * BLOCK;
    return (Stretch){blocks * p / pieces * BLOCK, end < n ? end : n};
}

/* Calls body(data, piece) for piece = 0 .. pieces-1, in any order, on up to `threads` threads. */
void parallel_for(int threads, size_t pieces, void (*body)(void *data, size_t piece), void *data);

/* Like parallel_for, but also passes a slot number to the body: `slot` is below parallel_slots(threads, pieces),
 * and no two calls of the body that run at the same time have the same slot. So scratch memory is needed once for
 * each slot, not for each piece. */
void parallel_for_slots(int threads, size_t pieces, void (*body)(void *data, size_t piece, size_t slot),
                        void *data);

static inline size_t parallel_slots(int threads, size_t pieces)
{
    const size_t most = threads > 1 ? (size_t)threads : 1;
    return most < pieces ? most : pieces;
}

/* Returns the number of cores that this process may use. */
int parallel_cores(void);

#endif
