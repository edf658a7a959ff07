/* select.h -- the largest magnitudes of a vector, in linear time and without moving an element.
 *
 * A selection is a bit for each element. Of equal magnitudes the first ones are selected, so a selection depends on
 * the vector alone. Zeros are never selected. */
#ifndef ATOMO_SELECT_H
#define ATOMO_SELECT_H

#include "base/arena.h"

typedef struct {
    const float *x;
    size_t n, count; /* elements, and how many are selected */
    int threads;
    Arena *scratch;
    uint64_t *bits;   /* element i: bit i % 64 of bits[i / 64] */
    size_t *in_block; /* how many bits of each block are set */
    size_t *place;    /* NULL, or the selected indices in order, which then replace the bits */
    float *value;     /* x at the selected indices */
    double *part;     /* (blocks) room for sums */
} Picks;

/* Opens an empty selection. All functions of this file that return bool return false when scratch has no memory. */
bool select_open(Picks *s, const float *x, size_t n, int threads, Arena *scratch);

/* Selects all |x| >= least; a smaller `least` is raised to the smallest float above zero. */
void select_from(Picks *s, double least);
float select_level(double least); /* the smallest positive float >= least */

/* Return the largest magnitude, and the sum of the magnitudes, of all elements of x. */
double select_largest(const Picks *s);
double select_total(const Picks *s);

/* Selects the k largest magnitudes, or all nonzero elements where these are fewer. */
bool select_top(Picks *s, size_t k);

/* Keeps the k largest magnitudes of the present selection. */
bool select_narrow(Picks *s, size_t k);

/* Selects the k[0] largest elements above zero and the k[1] of largest magnitude below zero; x has at least as
 * many. */
bool select_sides(Picks *s, const size_t k[2]);

/* Makes the list s->place, s->value where at most one element in eight is selected. */
bool select_list(Picks *s);

/* Writes the indices of the selected elements of a block to `place` and returns their number. */
size_t select_places(const Picks *s, size_t block, size_t *place);

#endif
