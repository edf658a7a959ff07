/* metrics_errors.h -- standard errors of results over the R repeats, and tests of bias.
 *
 * Repeats are independent draws, so the standard error of a mean over them is their standard deviation / sqrt(R). NaN: a random
 * codec has one repeat. 0: the codec is not random.
 *
 * Three tests ask whether E h = g, h the decoded gradient; NaN: the test says nothing.
 *     bias    R |mean h - g|^2 / variance is F(nu, nu (R - 1)), nu = (sum v)^2 / sum v^2: any bias, spread over elements
 *     gain    <h, g> / |g|^2 has mean 1; Student's t over repeats: a bias along g, where its large elements are
 *     l1      <h, sign g> / |g|_1 has mean 1; Student's t: a factor that all elements share
 * Where the codec knows its variance, a smaller one that was measured is replaced by it: rare draws may not have come yet. */
#ifndef ATOMO_METRICS_ERRORS_H
#define ATOMO_METRICS_ERRORS_H

#include "measure/metrics.h"

/* The standard error of the mean over repeats of E_.. `sum` of the errors. */
double sum_se(const Tally *t, int sum);

/* The standard error of the mean of value[r] over the repeats (t->decoded); leaves out NaN. */
double values_se(const Tally *t, double (*value)(const Tally *t, size_t r));

double bias_p(const Tally *t);

double gain_se(const Tally *t);
double gain_p(const Tally *t);

double gain_l1(const Tally *t);
double gain_l1_se(const Tally *t);
double gain_l1_p(const Tally *t);

/* The least bias b, E h = (1 + b) g, that a t test over so many repeats finds with probability 0.9 at this level, for an
 * estimate with standard error se. */
double bias_detectable(double se, size_t repeats, double level);

#endif
