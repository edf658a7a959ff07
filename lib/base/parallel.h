/* parallel.h -- runs code on several threads. All threads that compute together are created here.
 *
 * Results are bit for bit the same for any number of threads. Work is cut into pieces, and their number
 * depends on the data alone. Each piece writes to its own memory. Partial sums of pieces are added in the
 * order of the pieces. */
#ifndef ATOMO_PARALLEL_H
#define ATOMO_PARALLEL_H

#include "base/base.h"
#include "base/arena.h"

#include <sys/types.h>

/* Number of elements in a block. Large tensors are cut into blocks, and each block has its own key of random
 * words. */
enum { BLOCK = 1 << 16 };

static inline size_t blocks_of(size_t n)
{
    return n / BLOCK + (n % BLOCK != 0);
}
static inline size_t block_size(size_t n, size_t block)
{
    size_t left = n - block * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

/* The elements with indices `from` to `to` - 1, which form piece p of n elements. A piece consists of
 * whole blocks. The numbers of blocks in two pieces differ by at most 1. */
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

/* Like parallel_for, but also passes a number `slot`, below parallel_slots(threads, pieces), to each call of
 * the body. Calls that run at the same time have different slots. So scratch memory is needed for each slot,
 * not for each piece. */
void parallel_for_slots(int threads, size_t pieces, void (*body)(void *data, size_t piece, size_t slot),
                        void *data);

/* From now on, calls of parallel_for by this thread start no piece once stopped() is true; it then stays true. Several threads
 * ask it at a time. Results are then incomplete, so the caller asks, too, and drops them. NULL: all pieces run, as at
 * first. */
void parallel_until(bool (*stopped)(void));

static inline size_t parallel_slots(int threads, size_t pieces)
{
    const size_t most = threads > 1 ? (size_t)threads : 1;
    return most < pieces ? most : pieces;
}

/* Bytes of the stacks of all threads that are made here. Codecs keep blocks of floats there. */
enum { PARALLEL_STACK = 4 << 20 };

/* Creates a thread that blocks all signals, so that they go to the program's other threads. The caller joins or
 * detaches it. False: the system has no more threads. */
bool parallel_thread(pthread_t *thread, void *(*run)(void *), void *arg);

/* Returns the number of cores that this process may use. */
int parallel_cores(void);

#endif
