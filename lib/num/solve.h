/* solve.h -- the argument at which an expensive, roughly monotone function has a given value.
 *
 * Made for the size of a codec's payloads as a function of its rate: positive, close to a power of the rate, with
 * steps, constant at both ends of the range, rising or falling. Arguments are decimals of few digits. */
#ifndef ATOMO_SOLVE_H
#define ATOMO_SOLVE_H

#include "base/base.h"

typedef struct {
    double target, tolerance; /* a value within target * (1 +- tolerance) is wanted */
    double low, high;         /* range of the argument; low > 0 */
    bool whole;               /* only whole arguments */
    unsigned most;            /* evaluations; 0: 30 */

    /* Sets *value > 0; NaN: the function has no value, which ends the search. */
    Status (*of)(void *data, double at, double *value, Error *err);
    void *data;
} Solve;

typedef struct {
    double at, value; /* the try nearest to the target; NaN: no try had a value */
    double slope;     /* d log value / d log argument there; NaN: unknown */
    bool reached;
    unsigned tries;
} Solution;

/* On entry s->at is where to begin and s->slope the slope there, NaN: unknown. */
Status solve_search(const Solve *problem, Solution *s, Error *err);

/* Returns the decimal with the fewest digits strictly between low and high, the nearest to `v` of these; NaN when
 * seven digits are too few. All arguments are above 0. */
double solve_decimal(double v, double low, double high);

#endif
