/* metrics_errors.h -- standard errors of results over the R repeats, and tests of bias.
 *
 * Repeats are independent draws, so the standard error of a mean over them is their standard deviation / sqrt(R). It
 * is NaN if a random codec has only one repeat, and 0 if the codec is not random.
 *
 * Three tests ask whether E h = g, for the estimate h of the gradient g. They give p-values; NaN: the test does not
 * apply.
 *
 *     bias    R |mean h - g|^2 / sum v is F(nu, nu (R - 1)), nu = (sum v)^2 / sum v^2, v the elements' variances:
 *             finds a bias in any direction, also one spread over all elements
 *     gain    <h, g> / |g|^2 has mean 1; Student's t over repeats: finds a bias along g, where its large elements are
 *     l1      <h, sign g> / |g|_1 has mean 1; Student's t: finds a factor that all elements share
 *
 * If the codec's closed-form variance is larger than the measured one, the tests use it: R repeats may lack rare
 * draws. */
#ifndef ATOMO_METRICS_ERRORS_H
#define ATOMO_METRICS_ERRORS_H

#include "measure/metrics.h"

/* Returns the standard error of the mean over repeats of the error sum `sum` (E_...). */
double sum_se(const Tally *t, int sum);

/* Returns the standard error of the mean of value(t, r) over the decoded repeats; NaN values are left out. It is made for
 * the interval mean +- t(R - 1) se: wider than the deviation / sqrt(n) where values are few or skewed, and by the
 * codec's own probability that an estimate is all zeros. */
double values_se(const Tally *t, double (*value)(const Tally *t, size_t r));

double bias_p(const Tally *t);

/* The codec's closed form, if it has one; it does not vary, so the interval is that of the normal distribution. */
double gain_se(const Tally *t);
double gain_p(const Tally *t);

double gain_l1(const Tally *t);
double gain_l1_se(const Tally *t);
double gain_l1_p(const Tally *t);

/* Returns the smallest bias b, E h = (1 + b) g, that a t test over this many repeats at this level finds with
 * probability 0.9, for an estimate with standard error se. */
double bias_detectable(double se, size_t repeats, double level);

/* Returns the smaller of bias_detectable for gain's standard error and for gain_l1's; NaN if neither test applies.
 * If gain's standard error is below 1/1000 of gain_l1's, the codec makes the gain 1 in every draw, so its test
 * cannot find a bias, and only gain_l1 counts. */
double bias_least(double gain_se, double gain_l1_se, size_t repeats, double level);

#endif
