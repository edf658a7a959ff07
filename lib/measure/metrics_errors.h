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
 *     gain    <h, g> / |g|^2 has mean 1; Student's t over repeats. Finds a bias along g, to which the large
 *             elements contribute most.
 *     l1      <h, sign g> / |g|_1 has mean 1; Student's t over repeats. Finds a factor common to all
 *             elements.
 *
 * The tests use the codec's closed-form variance if it is larger than the measured one, because R repeats
 * may miss rare draws. An atom is a term of the decomposition of g from which a codec draws. */
#ifndef ATOMO_METRICS_ERRORS_H
#define ATOMO_METRICS_ERRORS_H

#include "measure/metrics.h"

/* Returns true if the repeats show how results vary. Returns false for one repeat of a random codec, and for
 * repeats with equal errors although the codec's variance is not 0. In the second case no repeat drew any of
 * the rare atoms. */
bool errors_known(const Tally *t);

/* Returns the standard deviation / sqrt(R) of the error sum `sum` (E_...), for the tests of bias. */
double sum_se(const Tally *t, int sum);

/* Returns the standard error of the mean of m->n values, one for each of n repeats. It exceeds standard
 * deviation / sqrt(n) if the values are skewed, or if n < R. */
double moments_se(const Tally *t, const Moments *m);

/* Returns the standard error of the mean of value(t, r) over the decoded repeats, without NaN values. It is
 * the result of `moments_se`, unless the codec may decode to all zeros with a known probability. */
double values_se(const Tally *t, double (*value)(const Tally *t, size_t r));

/* Returns the standard error of the mean cosine of h and g over the decoded repeats: the result of
 * `values_se`, but larger if the measured variance of <h, g> is below the codec's closed form. */
double cosine_se(const Tally *t, double (*cosine)(const Tally *t, size_t r));

double bias_p(const Tally *t);

/* Returns the standard error of the gain. If the codec is unbiased and has a closed form of this error,
 * returns the closed form. The gain's interval is then that of the normal distribution. */
double gain_se(const Tally *t);
double gain_p(const Tally *t);

double gain_l1(const Tally *t);
double gain_l1_se(const Tally *t);
double gain_l1_p(const Tally *t);

/* Returns the smallest b for which a t test finds the bias E h = (1 + b) g with probability 0.9. `se` is the
 * standard error of the measured b, and `level` the significance level of the test. */
double bias_detectable(double se, size_t repeats, double level);

/* Returns the smaller result of `bias_detectable` for the two standard errors. NaN if neither test applies.
 * A `gain_se` below 1/1000 of `gain_l1_se` means that the codec makes the gain 1 in every draw. The gain
 * then cannot show a bias, so only `gain_l1_se` counts. */
double bias_least(double gain_se, double gain_l1_se, size_t repeats, double level);

#endif
