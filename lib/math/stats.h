/* stats.h -- statistics: quantiles, running moments, tails of the F and t distributions, p-values of many
 * tests. */
#ifndef ATOMO_STATS_H
#define ATOMO_STATS_H

#include "base/base.h"

#include <math.h>

/* Sorts v in ascending order. */
void stats_sort(double *v, size_t n);

/* Returns the q-quantile (0 <= q <= 1) of sorted values, NaN if there are none. Interpolates linearly at
 * position (n - 1) q, as numpy does by default. */
double stats_quantile(const double *sorted, size_t n, double q);

/* Sorts v and returns its median. */
double stats_median(double *v, size_t n);

/* Returns the variance of the median of sorted values, assuming a normal distribution: pi/2 (IQR / 1.349)^2 /
 * n, where IQR is the interquartile range. NaN for fewer than two values. */
double stats_median_variance(const double *sorted, size_t n);

/* Running moments: the mean, and the sums `m2` and `m3` of squared and cubed deviations from the mean. The
 * recurrences are those of Welford (Technometrics 4 (1962) 419) and Terriberry (Computing higher-order moments
 * online, 2007). */
typedef struct {
    size_t n;
    double mean, m2, m3;
} Moments;

void moments_add(Moments *m, double v);
double moments_variance(const Moments *m); /* sample variance m2 / (n - 1); NaN if n < 2 */

/* Returns the sample skewness G1 = n m3 / ((n - 1) (n - 2) s^3) for the sample variance s^2. 0 if n < 3 or all
 * values are equal. */
double moments_skewness(const Moments *m);

/* Returns P(F > f) for F with d1 and d2 degrees of freedom, which need not be integers. */
double f_tail(double f, double d1, double d2);

/* Returns P(|T| > |t|) for Student's T with d > 0 degrees of freedom, which need not be an integer. */
double t_tails(double t, double d);

/* Returns the t >= 0 for which t_tails(t, d) = p, 0 < p <= 1. The relative error is below 1e-9. */
double t_quantile(double p, double d);

/* Returns Holm's adjusted p-value (Scand. J. Statist. 6 (1979) 65) of p, which is one of the m ascending
 * p-values `sorted`. It is the least family-wise level at which Holm's step-down procedure rejects p's
 * hypothesis: the largest (m - k) sorted[k] over all sorted[k] <= p, at most 1. */
double stats_holm(const double *sorted, size_t m, double p);

/* Bins of equal width that divide six standard deviations around the mean; the outer bins have all values beyond. */
typedef struct {
    size_t count;                    /* at most 256 */
    double centre, width;            /* mean of the values, width of a bin */
    double total[256], members[256]; /* of each bin: sum and number of its values */
} EqualBins;

/* Makes `count` bins of x (n > 0). */
void bins_open(EqualBins *b, const float *x, size_t n, size_t count);

static inline size_t bins_find(const EqualBins *b, float v)
{
    const double bin = b->width > 0 ? rint(((double)v - b->centre) / b->width + (double)b->count / 2) : 0;
    return (size_t)fmin(fmax(bin, 0), (double)(b->count - 1));
}

/* ---- pairs of draws ---- */

/* Compares a metric of two codecs that drew the same random numbers in each repeat.
 *
 * For the same seed, repeat, worker, step and tensor, all codecs draw the same random numbers. So the values
 * of two codecs in the same repeat are a pair. If the two values rise and fall together, their differences
 * vary less than the values. Intervals and p-values use Student's t, with one degree of freedom less than
 * there are pairs. */

/* Values of one codec's metric, one for each decoded repeat; NaN: a repeat has no value. */
typedef struct {
    const double *value;
    size_t count;
    bool random; /* false: the value is the same in every repeat, and stored once */
} PairedDraws;

typedef struct {
    size_t pairs;      /* repeats in which both codecs have a value */
    double difference; /* mean of a - b over the pairs; NaN: no pairs */
    /* standard error of `difference`; 0: all pairs have the same difference, or `exact`; NaN: fewer than
     * two pairs */
    double se;
    double low, high; /* 95 % interval of the expected difference; NaN if `se` is 0, or if `pairs` < 2 */
    double p;         /* two-sided p-value of "the expected difference is 0"; NaN if there is no interval */
    bool exact;       /* neither codec is random, so the difference is exact */
} Paired;

/* Compares codec a with codec b. If both codecs are random, they have equally many values. */
Paired paired_difference(PairedDraws a, PairedDraws b);

#endif
