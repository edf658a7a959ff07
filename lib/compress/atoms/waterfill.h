/* waterfill.h -- ATOMO's Algorithm 1 without the sort: the probabilities that have the least variance for a budget
 * of s expected atoms.
 *
 * The probabilities are p_i = min(1, |lambda_i| / tau), so one number, the water level tau, determines all of
 * them; sum p = min(s, number of non-zero entries). Atoms above the level ("heavy") are always kept; the "light"
 * atoms below the level share the rest of the budget: tau = tail / (s - heavy), where `heavy` is the number of
 * heavy atoms and `tail` the sum of |lambda| over light atoms. An atom counts as light if |lambda| (s - heavy) <=
 * tail (1 + 4 eps), where eps is the precision of doubles. */
#ifndef ATOMO_WATERFILL_H
#define ATOMO_WATERFILL_H

#include "base/arena.h"

typedef struct {
    double tau;   /* the water level; 0: every non-zero entry is kept (zeros are never kept) */
    size_t heavy; /* number of entries above the level */
    double tail;  /* sum of |lambda| over the entries that are not above the level */
} Level;

/* Finds the water level for the entries x (n), which must be finite with a sum within double's range; budget > 0.
 * Takes O(n) time; the result does not depend on the number of threads. False: out of memory. */
bool waterfill_floats(const float *x, size_t n, double budget, int threads, Arena *scratch, Level *out);

/* Returns the water level of the entries lambda (n), for short vectors such as singular values; NaN: out of
 * memory. */
double waterfill_level(const double *lambda, size_t n, double budget, Arena *scratch);

/* The dual problem: returns the water level tau at which the estimate's variance, sum over |x| <= tau of |x| (tau
 * - |x|), is eps |x|^2. Among all probabilities p with at most this variance, those of this level have the least
 * sum p (Wangni et al. 2018). eps > 0, and entries must be finite. Takes O(n) time; the result does not depend on
 * the number of threads. 0: all entries are 0; NaN: out of memory. */
double waterfill_of_variance(const float *x, size_t n, double eps, int threads, Arena *scratch);

#endif
