/* select.h -- selects the largest magnitudes of a vector, in linear time and without moving an element.
 *
 * A selection is a bit for each element. Among equal magnitudes the elements with the lowest indices are selected, so
 * a selection depends on the vector alone. Zeros are never selected. */
#ifndef ATOMO_SELECT_H
#define ATOMO_SELECT_H

#include "base/arena.h"

typedef struct {
    const float *x;
    size_t n, count; /* elements, selected elements */
    int threads;
    Arena *scratch;
    uint64_t *bits;   /* element i is selected if bit i % 64 of bits[i / 64] is set */
    size_t *in_block; /* (blocks) number of set bits in each block */
    /* the selected indices in order; `bits` is then not used. NULL: there is no list, and `bits` is the selection */
    size_t *place;
    float *value; /* the elements of x at the selected indices */
    double *part; /* (blocks) working memory of one number for each block */
} Picks;

/* Opens an empty selection of elements of x. All functions of this file that return bool return false when scratch
 * has no memory. */
bool select_open(Picks *s, const float *x, size_t n, int threads, Arena *scratch);

/* Selects all elements with |x_i| >= least; `least` <= 0 selects all non-zero elements. */
void select_from(Picks *s, double least);
float select_level(double least); /* returns the smallest positive float >= least */

/* Return the largest magnitude of all elements of x (select_largest), or the sum of all magnitudes (select_total). */
double select_largest(const Picks *s);
double select_total(const Picks *s);

/* Selects the k largest magnitudes, or all non-zero elements if these are fewer than k. */
bool select_top(Picks *s, size_t k);

/* Keeps the k largest magnitudes of the selected elements. */
bool select_narrow(Picks *s, size_t k);

/* Selects the k[0] largest of the elements above zero and the k[1] largest magnitudes of the elements below zero; x
 * must have at least k[0] elements above zero and k[1] below. */
bool select_sides(Picks *s, const size_t k[2]);

/* Lists the selected indices in s->place and their elements in s->value if at most one element in eight is selected;
 * else leaves s->place and s->value NULL. */
bool select_list(Picks *s);

/* Writes the indices of the selected elements of a block to `place` and returns their number. */
size_t select_places(const Picks *s, size_t block, size_t *place);

#endif
