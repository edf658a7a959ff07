/* report_bias.h -- whether the codecs of a comparison are biased, from the p-values of all of them together. */
#ifndef ATOMO_REPORT_BIAS_H
#define ATOMO_REPORT_BIAS_H

#include "report/report.h"

/* The family-wise level: the probability that a table of unbiased codecs calls any of them biased. */
#define BIAS_LEVEL 0.01

enum { BIAS_TESTS = 3 }; /* bias_p, gain_p, gain_l1_p */

/* A row's results; NaN where there are none. */
typedef struct {
    double p[BIAS_TESTS];
    double se[2]; /* of gain and gain_l1 */
    double mse, variance;
    /* found */
    double holm;       /* the least adjusted p; NaN: nothing was tested */
    double detectable; /* metrics_errors.h; NaN: nothing was tested */
} BiasRow;

/* Holm's correction over all tests of all rows, which are of the same vectors, with so many repeats. */
Status bias_judge(BiasRow *row, size_t rows, size_t repeats, Arena *a, Error *err);

/* The verdict in words: "none seen (>= 12 % would show)". NULL text: there is none. */
Value bias_words(const BiasRow *row, Arena *a);

#endif
