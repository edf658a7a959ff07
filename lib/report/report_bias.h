/* report_bias.h -- the verdict on each codec's bias, from the p-values of all codecs of a comparison together. */
#ifndef ATOMO_REPORT_BIAS_H
#define ATOMO_REPORT_BIAS_H

#include "report/report.h"

/* The family-wise level: the probability that a table of unbiased codecs calls any of them biased. */
#define BIAS_LEVEL 0.01

enum { BIAS_TESTS = 3 }; /* bias_p, gain_p, gain_l1_p */

/* The test results of a codec on one vector, or on several vectors measured as one; NaN: there is no such result. */
typedef struct {
    double p[BIAS_TESTS];
    double se[2]; /* standard errors of gain and gain_l1 */
    double mse, variance;
    /* set by bias_judge */
    /* the smallest of the row's p-values after adjustment by Holm's method; NaN: nothing was tested */
    double holm;
    double detectable; /* least bias that would be detected (metrics_errors.h); NaN: nothing was tested */
} BiasRow;

/* Adjusts the p-values of all tests of all rows by Holm's method, and sets each row's `holm` and `detectable`. The
 * rows are codecs on the same vectors, each with `repeats` repeats. */
Status bias_judge(BiasRow *row, size_t rows, size_t repeats, Arena *a, Error *err);

/* Returns the verdict in words: "none seen (>= 12 % would show)". Text NULL: there is no verdict. */
Value bias_words(const BiasRow *row, Arena *a);

#endif
