/* select.h -- selects the elements of a vector with the largest magnitudes, in linear time.
 *
 * Among elements of equal magnitude, those with the lowest indices are selected, so the selection does not
 * depend on the number of threads. Zeros are never selected. */
#ifndef ATOMO_SELECT_H
#define ATOMO_SELECT_H

#include "base/arena.h"
#include "base/rng.h"

typedef struct {
    const float *x;
    size_t n, count; /* elements, selected elements */
    int threads;
    Arena *scratch;
    uint64_t *bits;   /* element i is selected if bit i % 64 of bits[i / 64] is set */
    size_t *in_block; /* (blocks) number of set bits in each block */
    /* the selected indices, ascending; `bits` is then not used. NULL: there is no list, only `bits` */
    size_t *place;
    float *value; /* the elements of x at the selected indices */
    double *part; /* (blocks) working memory of one number for each block */
} Picks;

/* Opens an empty selection of elements of x. All functions of this file that return bool return false when
 * `scratch` has no memory. */
bool select_open(Picks *s, const float *x, size_t n, int threads, Arena *scratch);

/* Selects all elements with |x_i| >= least; `least` <= 0 selects all non-zero elements. */
void select_from(Picks *s, double least);
float select_level(double least); /* returns the smallest positive float >= least */

/* Returns the sum of the magnitudes of all elements of x. */
double select_total(const Picks *s);

/* Selects the k elements with the largest magnitudes, or all non-zero elements if there are fewer than k. */
bool select_top(Picks *s, size_t k);

/* Keeps the k largest magnitudes of the selected elements. */
bool select_narrow(Picks *s, size_t k);

/* Selects the k[0] largest positive elements, and the k[1] negative elements with the largest magnitudes. x
 * must have at least k[0] positive and k[1] negative elements. */
bool select_sides(Picks *s, const size_t k[2]);

/* If at most one element in eight is selected, writes the selected indices to s->place and the elements at
 * these indices to s->value. Otherwise leaves both pointers NULL. */
bool select_list(Picks *s);

/* Returns an array with the number of selected elements before each block. NULL: no memory. */
size_t *select_before(const Picks *s);

/* Writes the indices of the selected elements of a block to `place` and returns their number. */
size_t select_places(const Picks *s, size_t block, size_t *place);

/* ---- a random subset ---- */

/* Draws a random subset with k of n elements from the random numbers of an Rng (rng.h), every
 * subset with equal probability.
 *
 * First the number of members in each block of 2^16 elements is drawn, block after block, from the
 * hypergeometric distribution; then the members within a block by Floyd's algorithm. So a block's members
 * depend on the random numbers of the Rng, n and k alone, and blocks can be drawn in any order and on any
 * thread. The draws use only sums, products and quotients of doubles, so they are the same on every machine. */

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
