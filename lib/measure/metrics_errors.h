/* metrics_errors.h -- standard errors of results over the R repeats, and tests of bias.
 *
 * Repeats are independent draws, so the standard error of a mean over them is their standard deviation /
 * sqrt(R). It is NaN if `errors_known` is false, and 0 if the codec is not random. Callers multiply it by a
 * quantile of Student's t for R - 1 degrees of freedom. Values of few repeats that are skewed give too short
 * intervals, so `moments_se` and `values_se` return more than standard deviation / sqrt(R).
 *
 * Three tests ask whether E h = g, for the estimate h of the gradient g. They give p-values; NaN: the test
 * does not apply.
 *
 *     bias    R |mean h - g|^2 / sum v has the distribution F(nu, nu (R - 1)), where v are the elements'
 *             variances and nu = (sum v)^2 / sum v^2. Finds a bias in any direction, also one that is spread
 *             over all elements.
 *     gain    <h, g> / |g|^2 has mean 1. Finds a bias along g, to which the large elements contribute most.
 *     l1      <h, sign g> / |g|_1 has mean 1. Finds a factor common to all elements.
 *
 * Where the variance along g or sign g is known, the mean has a gamma distribution. Where it is measured, element by element
 * or over the repeats, the test is Student's t.
 *
 * The tests use the codec's closed-form variance if it is larger than the measured one, because R repeats
 * may miss rare draws. An atom is a term of the decomposition of g from which a codec draws. */
#ifndef ATOMO_METRICS_ERRORS_H
#define ATOMO_METRICS_ERRORS_H

#include "measure/metrics.h"

/* Returns true if all draws give the same values for certain: the codec is not random, or makes no error. */
bool never_varies(const Tally *t);

/* Returns true if the repeats show how results vary. Returns false for one repeat of a random codec, and for
 * repeats with equal errors unless the codec's variance is known to be 0. In the second case no repeat may have drawn any
 * of the rare atoms. */
bool errors_known(const Tally *t);

/* Returns the standard deviation / sqrt(R) of the error sum `sum` (E_...), for the tests of bias. NaN where equal sums may be
 * chance. */
double sum_se(const Tally *t, int sum);

/* Returns by how much the standard error of the mean of n values of this skewness is widened. */
double skew_factor(double skewness, double n);

/* Returns the standard error of the mean of m->n values, one for each of n repeats. It exceeds standard
 * deviation / sqrt(n) if the values are skewed, or if n < R. */
double moments_se(const Tally *t, const Moments *m);

/* Returns the standard error of the mean of value(t, r) over the decoded repeats, without NaN values. It is
 * the result of `moments_se`, unless the codec may decode to all zeros with a known probability. */
double values_se(const Tally *t, double (*value)(const Tally *t, size_t r));

/* Returns the standard error of the mean cosine of h and g over the decoded repeats: the result of
 * `values_se`, but larger if the measured variance of <h, g> is below the codec's closed form. */
double cosine_se(const Tally *t, double (*cosine)(const Tally *t, size_t r));

/* Returns the standard error of the metric `variance`. `mse_se` is that of the mean squared error. */
double spread_se(const Tally *t, double mse_se);

/* Returns the standard error of mse - variance, an unbiased estimate of |E h - g|^2. */
double bias2_se(const Tally *t);

double bias_p(const Tally *t);

/* The standard errors of the gains, and the degrees of freedom of Student's t for their intervals and tests. If the
 * variance is known (errors of independent atoms, or of independent elements with a closed form), the standard error is no
 * estimate, the freedom NaN, and the interval that of the normal distribution. */
double gain_se(const Tally *t);
double gain_freedom(const Tally *t);
double gain_p(const Tally *t);

double gain_l1(const Tally *t);
double gain_l1_se(const Tally *t);
double gain_l1_freedom(const Tally *t);
double gain_l1_p(const Tally *t);

/* Whether the test knows the standard error or measures it, and then, whether `se` is only an estimate by such a test. */
typedef enum { SE_KNOWN, SE_MEASURED, SE_ESTIMATED } SeKind;

/* Returns the smallest b for which the test finds the factor 1 + b on every estimate h with probability 0.9, and the shift
 * h + b g with 0.9 or more. `se` and `freedom` are those of the gain without the bias (freedom NaN: normal tails), `level` is
 * the significance level of the test. NaN: no factor shows, or `freedom` is too low to say. */
double bias_detectable(double se, double freedom, SeKind kind, double level);

#endif
