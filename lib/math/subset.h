/* subset.h -- draws a random subset with k of n elements from the random numbers of an Rng (rng.h), every
 * subset with equal probability.
 *
 * First the number of members in each block of 2^16 elements is drawn, block after block, from the
 * hypergeometric distribution; then the members within a block by Floyd's algorithm. So a block's members
 * depend on the random numbers of the Rng, n and k alone, and blocks can be drawn in any order and on any
 * thread. The draws use only sums, products and quotients of doubles, so they are the same on every machine. */
#ifndef ATOMO_SUBSET_H
#define ATOMO_SUBSET_H

#include "base/arena.h"
#include "base/rng.h"

typedef struct {
    Rng rng;
    size_t n, k;
    size_t *before; /* (blocks + 1) number of the subset's members before each block */
} Subset;

/* Draws the number of the subset's members in each block; k <= n. False when the arena has no memory. */
bool subset_open(Subset *s, const Rng *rng, size_t n, size_t k, Arena *a);

/* Sets bit i % 64 of word i / 64 for each member i of the subset in this block, and clears the block's other
 * bits. */
void subset_mark(const Subset *s, size_t block, uint64_t member[BLOCK / 64]);

#endif
