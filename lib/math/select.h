/* select.h -- selects the elements of a vector with the largest magnitudes, in linear time.
 *
 * Among elements of equal magnitude, those with the lowest indices are selected, so the selection does not
 * depend on the number of threads. Zeros are never selected. */
#ifndef ATOMO_SELECT_H
#define ATOMO_SELECT_H

#include "base/arena.h"

typedef struct {
    const float *x;
    size_t n, count; /* elements, selected elements */
    int threads;
    Arena *scratch;
    uint64_t *bits;   /* element i is selected if bit i % 64 of bits[i / 64] is set */
    size_t *in_block; /* (blocks) number of selected elements in each block */
    /* the selected indices, ascending; `bits` is then not used. NULL: there is no list, only `bits` */
    size_t *place;
    float *value; /* the elements of x at the selected indices; NULL before select_values */
    double *part; /* (blocks) working memory of one number for each block */
} Picks;

/* Opens an empty selection of elements of x. All functions of this file that return bool return false when
 * `scratch` has no memory. */
bool select_open(Picks *s, const float *x, size_t n, int threads, Arena *scratch);

/* Selects all elements with |x_i| >= least; `least` <= 0 selects all non-zero elements. */
void select_from(Picks *s, double least);
float select_level(double least); /* returns the smallest positive float >= least */

/* Selects the k elements with the largest magnitudes, or all non-zero elements if there are fewer than k. */
bool select_top(Picks *s, size_t k);

/* Keeps the k largest magnitudes of the selected elements. */
bool select_narrow(Picks *s, size_t k);

/* Selects the k[0] largest positive elements, and the k[1] negative elements with the largest magnitudes. x
 * must have at least k[0] positive and k[1] negative elements. */
bool select_sides(Picks *s, const size_t k[2]);

/* Writes the selected elements to s->value, in the order of their indices, and the indices to s->place if at most one
 * element in eight is selected. */
bool select_values(Picks *s);

#endif
