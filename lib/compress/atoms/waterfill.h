/* waterfill.h -- ATOMO's Algorithm 1 without the sort: the probabilities that spend a budget of s expected
 * atoms with the least variance.
 *
 * They are p_i = min(1, |lambda_i| / tau), so one number, the water level tau, says them all; sum p = min(s,
 * nnz). Atoms above the level ("heavy") are always kept, those under it share what is left: tau = tail / (s -
 * heavy). An atom counts as balanced (light) while |lambda| (s - heavy) <= tail (1 + 4 eps). */
#ifndef ATOMO_WATERFILL_H
#define ATOMO_WATERFILL_H

#include "base/arena.h"

typedef struct {
    double tau;   /* 0: every non-zero entry is kept, zeros never are */
    size_t heavy; /* entries above the level */
    double tail;  /* sum of |lambda| over the others */
} Level;

/* budget > 0, entries finite, their sum within double's range. O(n); the same for any number of threads.
 * False when scratch has no memory. */
bool waterfill_floats(const float *x, size_t n, double budget, int threads, Arena *scratch, Level *out);

/* The level alone, for short vectors such as singular values; NaN when scratch has no memory. */
double waterfill_level(const double *lambda, size_t n, double budget, Arena *scratch);

/* The dual: the level at which the estimate's variance, sum over |x| <= tau of |x| (tau - |x|), is eps |x|^2;
 * it spends the least sum p of all that vary no more (Wangni et al. 2018). eps > 0, entries finite. O(n), the
 * same for any number of threads. 0 when all entries are, NaN when scratch has no memory. */
double waterfill_of_variance(const float *x, size_t n, double eps, int threads, Arena *scratch);

#endif
