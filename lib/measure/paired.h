/* paired.h -- compares a metric of two codecs that drew the same random numbers in each repeat.
 *
 * For the same seed, repeat, worker, step and tensor, all codecs draw the same random numbers. So the values
 * of two codecs in the same repeat are a pair. If the two values rise and fall together, their differences
 * vary less than the values. Intervals and p-values use Student's t, with one degree of freedom less than
 * there are pairs. */
#ifndef ATOMO_PAIRED_H
#define ATOMO_PAIRED_H

#include "base/base.h"

/* Values of one codec's metric, one for each decoded repeat; NaN: a repeat has no value. */
typedef struct {
    const double *value;
    size_t count;
    bool random; /* false: the value is the same in every repeat, and stored once */
} Draws;

typedef struct {
    size_t pairs;      /* repeats in which both codecs have a value */
    double difference; /* mean of a - b over the pairs; NaN: no pairs */
    /* standard error of `difference`; 0: all pairs have the same difference, or `exact`; NaN: fewer than
     * two pairs */
    double se;
    double low, high; /* 95 % interval of the expected difference; NaN if `se` is 0, or if `pairs` < 2 */
    double p;         /* two-sided p-value of "the expected difference is 0"; NaN if there is no interval */
    bool exact;       /* neither codec is random, so the difference is exact */
} Paired;

/* Compares codec a with codec b. If both codecs are random, they have equally many values. */
Paired paired_difference(Draws a, Draws b);

#endif
