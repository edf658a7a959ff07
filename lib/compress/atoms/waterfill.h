/* waterfill.h -- ATOMO's Algorithm 1 without the sort: finds the probabilities that have the least variance, if
 * s atoms are kept on average (s is the budget).
 *
 * The probabilities are p_i = min(1, |lambda_i| / tau), and sum p = min(s, number of non-zero entries). So one
 * number, the water level tau, determines all of them. Atoms with |lambda| above tau are "heavy" and always
 * kept. The others are "light", and tau = tail / (s - heavy), where `heavy` is the number of heavy atoms and
 * `tail` is the sum of |lambda| over light atoms. An atom counts as light if |lambda| (s - heavy) <= tail (1 +
 * 4 eps), where eps is DBL_EPSILON. */
#ifndef ATOMO_WATERFILL_H
#define ATOMO_WATERFILL_H

#include "base/arena.h"

typedef struct {
    double tau;   /* the water level; 0: every non-zero entry is kept (zeros are never kept) */
    size_t heavy; /* number of entries above the level */
    double tail;  /* sum of |lambda| over the entries that are not above the level */
} Level;

/* Finds the water level for the n entries x. The entries must be finite, with a sum within double's range;
 * budget > 0. Takes O(n) time. The result does not depend on the number of threads. Returns false if memory
 * runs out. */
bool waterfill_floats(const float *x, size_t n, double budget, int threads, Arena *scratch, Level *out);

/* Does the same for `count` budgets in fewer passes over x. */
bool waterfill_budgets(const float *x, size_t n, const double *budget, size_t count, int threads, Arena *scratch, Level *out);

/* Returns the water level of the n entries lambda, or NaN if memory runs out. Meant for short vectors such as
 * singular values. */
double waterfill_level(const double *lambda, size_t n, double budget, Arena *scratch);

/* Returns the water level tau of the dual problem (Wangni et al. 2018): the fewest expected atoms with variance
 * at most eps |x|^2. `eps` must be positive and the entries finite. Takes O(n) time. The result does not depend
 * on the number of threads. Returns 0 if all entries are 0, and NaN if memory runs out. */
double waterfill_of_variance(const float *x, size_t n, double eps, int threads, Arena *scratch);

#endif
