/* waterfill.h -- ATOMO's Algorithm 1 without the sort: the probabilities that have the least variance for a budget of
 * s expected atoms.
 *
 * They are p_i = min(1, |lambda_i| / tau), so one number determines them, the water level tau; sum p = min(s, number
 * of non-zero entries). Atoms above the level ("heavy") are always kept; the atoms below it share the rest of the
 * budget: tau = tail / (s - heavy). An atom counts as light while |lambda| (s - heavy) <= tail (1 + 4 eps), eps the
 * precision of doubles. */
#ifndef ATOMO_WATERFILL_H
#define ATOMO_WATERFILL_H

#include "base/arena.h"

typedef struct {
    double tau;   /* the water level; 0: every non-zero entry is kept; zeros never are */
    size_t heavy; /* number of entries above the level */
    double tail;  /* sum of |lambda| over the entries that are not above the level */
} Level;

/* Finds the level of the entries x (n). budget > 0, entries finite, their sum within double's range. O(n); the result
 * does not depend on the number of threads. False: out of memory. */
bool waterfill_floats(const float *x, size_t n, double budget, int threads, Arena *scratch, Level *out);

/* Returns the level alone, for short vectors such as singular values; NaN: out of memory. */
double waterfill_level(const double *lambda, size_t n, double budget, Arena *scratch);

/* The dual problem: returns the level at which the estimate's variance, sum over |x| <= tau of |x| (tau - |x|), is
 * eps |x|^2. This level has the least sum p of all p with that variance or less (Wangni et al. 2018). eps > 0,
 * entries finite. O(n); the result does not depend on the number of threads. 0: all entries are 0; NaN: out of
 * memory. */
double waterfill_of_variance(const float *x, size_t n, double eps, int threads, Arena *scratch);

#endif
