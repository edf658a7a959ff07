/* paired.h -- the difference of a metric between two codecs that drew the same random numbers in each repeat.
 *
 * Codecs share their random numbers at one address (seed, repeat, worker, step, tensor), so repeat r of one codec and
 * repeat r of another are a pair. The differences of the pairs are independent draws; where the two codecs' values go
 * up and down together, they vary less than the values do. Student's t with one degree of freedom fewer than pairs. */
#ifndef ATOMO_PAIRED_H
#define ATOMO_PAIRED_H

#include "base/base.h"

/* A codec's values of a metric, one for each decoded repeat. NaN: a repeat has no
 * value. */
typedef struct {
    const double *value;
    size_t count;
    bool random; /* false: there is one value, which no repeat changes */
} Draws;

typedef struct {
    size_t pairs;      /* repeats in which both codecs have a value */
    double difference; /* mean of a - b over the pairs; NaN: there are none */
    double se;         /* its standard error; 0: no pair differs from another; NaN: one pair */
    double low,
        high;   /* 95 % interval; NaN: there is none, because the pairs do not differ, or there is one */
    double p;   /* p-value, both tails, of "the expected difference is 0"; NaN where there is no interval */
    bool exact; /* neither codec is random: the difference is no estimate */
} Paired;

/* Returns the paired difference of a less b. Two random codecs have the same count. */
Paired paired_difference(Draws a, Draws b);

#endif
