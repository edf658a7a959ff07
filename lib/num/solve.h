/* solve.h -- the argument at which a dear, roughly monotone function has a given value.
 *
 * Made for the size of a codec's payloads as a function of its rate: positive, near a power of it, of steps
 * here and there, level at both ends of the range, rising or falling. Arguments stay short decimals. */
#ifndef ATOMO_SOLVE_H
#define ATOMO_SOLVE_H

#include "base/base.h"

typedef struct {
    double target, tolerance; /* wanted within target * (1 +- tolerance) */
    double low, high;         /* of the argument; low > 0 */
    bool whole;               /* only whole arguments */
    unsigned most;            /* evaluations; 0: 30 */

    /* *value > 0; NaN: there is none, which ends the search. */
    Status (*of)(void *data, double at, double *value, Error *err);
    void *data;
} Solve;

typedef struct {
    double at, value; /* of all that were tried the nearest; NaN: nothing had a value */
    double slope;     /* d log value / d log at around there; NaN: unknown */
    bool reached;
    unsigned tries;
} Solution;

/* `s` comes with where to begin and, where known, the slope there. */
Status solve_search(const Solve *problem, Solution *s, Error *err);

/* The decimal of the fewest digits that is nearest to `v` and strictly between low and high; NaN when seven
 * digits are too few. All are above 0. */
double solve_decimal(double v, double low, double high);

#endif
