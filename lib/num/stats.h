/* stats.h -- quantiles, running moments, tails of the F and t distributions, p-values of many tests. */
#ifndef ATOMO_STATS_H
#define ATOMO_STATS_H

#include "base/base.h"

/* Sorts v; the empty set's statistics are NaN. */
void stats_sort(double *v, size_t n);

/* The q-quantile (0 <= q <= 1) of sorted values by linear interpolation at (n - 1) q, as numpy's default. */
double stats_quantile(const double *sorted, size_t n, double q);

/* Sorts v. */
double stats_median(double *v, size_t n);

/* The variance of the median of sorted values, by the normal law: pi/2 (IQR / 1.349)^2 / n. NaN under two values. */
double stats_median_variance(const double *sorted, size_t n);

/* Mean and squared deviations by Welford's recurrence. */
typedef struct {
    size_t n;
    double mean, m2;
} Moments;

void moments_add(Moments *m, double v);
double moments_variance(const Moments *m); /* of a sample: m2 / (n - 1); NaN under two values */

/* The regularised incomplete beta function I_x(a, b); a, b > 0. */
double beta_inc(double a, double b, double x);

/* P(F(d1, d2) > f); degrees of freedom may be real. */
double f_tail(double f, double d1, double d2);

/* P(|T(d)| > |t|) of Student's t with d > 0 degrees of freedom, which may be real. */
double t_tails(double t, double d);

/* The t >= 0 at which t_tails(t, d) is p, 0 < p <= 1; relative error under 1e-9. */
double t_quantile(double p, double d);

/* Holm's adjusted value of p, which is one of the m ascending p-values: the least family-wise level at which the
 * step-down procedure rejects it, largest over sorted[k] <= p of (m - k) sorted[k], at most 1. Scand. J. Statist. 6
 * (1979) 65. */
double stats_holm(const double *sorted, size_t m, double p);

#endif
