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
    float *value;     /* x at these places */
    double *part;     /* (blocks) room for sums */
} Picks;

/* An empty selection; false when scratch has no memory, here and below. */
bool select_open(Picks *s, const float *x, size_t n, int threads, Arena *scratch);

/* All |x| >= least; `least` below the smallest float above zero counts as that one. */
void select_from(Picks *s, double least);
float select_level(double least); /* the smallest float above zero that is no smaller */

/* The largest magnitude of all elements, and the sum of all magnitudes. */
double select_largest(const Picks *s);
double select_total(const Picks *s);

/* The k largest, or all that are not zero. */
bool select_top(Picks *s, size_t k);

/* The k largest of those selected now. */
bool select_narrow(Picks *s, size_t k);

/* The k[0] largest elements above zero and the k[1] of largest magnitude below zero; x has at least as many. */
bool select_sides(Picks *s, const size_t k[2]);

/* Makes the list s->place, s->value where at most one element in eight is selected. */
bool select_list(Picks *s);

/* The indices of the bits set in a block; returns how many. */
size_t select_places(const Picks *s, size_t block, size_t *place);

#endif
