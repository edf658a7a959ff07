/* stats.h -- quantiles, running moments and the tail of the F distribution. */
#ifndef ATOMO_STATS_H
#define ATOMO_STATS_H

#include "base/base.h"

/* Sorts v; the empty set's statistics are NaN. */
void stats_sort(double *v, size_t n);

/* The q-quantile (0 <= q <= 1) of sorted values by linear interpolation at (n - 1) q, as numpy's default. */
double stats_quantile(const double *sorted, size_t n, double q);

/* Sorts v. */
double stats_median(double *v, size_t n);

/* Mean and squared deviations by Welford's recurrence. */
typedef struct {
    size_t n;
    double mean, m2;
} Moments;

void moments_add(Moments *m, double v);
double moments_variance(const Moments *m); /* of a sample: m2 / (n - 1); NaN under two values */

#endif
