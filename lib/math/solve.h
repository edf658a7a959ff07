/* solve.h -- finds the argument at which an expensive, roughly monotone function has a given value.
 *
 * It is made for the payload size of a codec as a function of its rate parameter: positive, close to a power
 * of the argument, perhaps with jumps, perhaps constant at both ends of the range. The arguments tried are
 * decimals with few digits. */
#ifndef ATOMO_SOLVE_H
#define ATOMO_SOLVE_H

#include "base/base.h"

typedef struct {
    double target, tolerance; /* the search ends at a value within target * (1 +- tolerance) */
    double low, high;         /* smallest and largest argument; low > 0 */
    bool whole;               /* the argument must be an integer */
    unsigned most;            /* the most evaluations of the function; 0: 30 */
    /* Sets *value > 0 to the function's value at `at`. NaN: there is no value, and the search ends. */
    Status (*of)(void *data, double at, double *value, Error *err);
    void *data;
} Solve;

typedef struct {
    double at, value; /* of the evaluation nearest to the target; NaN: no evaluation gave a value */
    double slope;     /* estimate of d log value / d log argument near `at`; NaN: unknown */
    bool reached;
    unsigned tries;
} Solution;

/* Searches for the argument and fills s. The caller sets s->at to the first argument to try, and s->slope to
 * the slope there (NaN: unknown). */
Status solve_search(const Solve *problem, Solution *s, Error *err);

/* Returns v rounded to the fewest digits that give a result strictly between low and high; NaN: more than
 * seven are needed. v, low and high are above 0. */
double solve_decimal(double v, double low, double high);

#endif
