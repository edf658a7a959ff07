/* report_bias.h -- decides for each codec of a comparison whether it is biased, with the p-values of all
 * codecs adjusted together. */
#ifndef ATOMO_REPORT_BIAS_H
#define ATOMO_REPORT_BIAS_H

#include "report/report.h"

/* Family-wise error rate: the probability that some codec of a table is called biased if all are unbiased. */
#define BIAS_LEVEL 0.01

/* If the least detectable bias is this share of the gradient or more, the verdict is that a bias cannot be seen with
 * so few repeats. */
#define BIAS_UNSEEN 0.5

/* In fewer repeats there is no verdict: the standard error of two values is below a tenth of the true one in 8 cases of
 * 100, of three below a third in 11 of 100, and the bias that is said to show is as far off. */
enum { BIAS_REPEATS = 5 };

enum { BIAS_TESTS = 3 }; /* the p-values bias_p, gain_p, gain_l1_p (fields.c) */

/* The test results of a codec for one vector, or for several vectors measured as one. NaN: no result. */
typedef struct {
    double p[BIAS_TESTS];
    double se[2], freedom[2]; /* gain_se and gain_l1_se, gain_freedom and gain_l1_freedom (fields.c) */
    double mse, variance;
    double expected; /* the codec's closed-form variance; NaN: unknown */
    /* set by bias_judge: the smallest p-value of this row, adjusted by Holm's method; NaN: nothing was
     * tested, or in too few repeats */
    double holm;
    /* set by bias_judge: least detectable bias (metrics.h); NaN: as `holm` */
    double detectable;
} BiasRow;

/* Sets each row's `holm` and `detectable`, with the p-values of all rows adjusted together. The rows are
 * codecs on the same vectors, each measured in `repeats` repeats. Both are NaN in fewer than BIAS_REPEATS. */
Status bias_judge(BiasRow *row, size_t rows, size_t repeats, Arena *a, Error *err);

/* Returns "p = 3e-05", or "p < 1e-300" where p is 0 only because a double holds no smaller one. NULL: out of memory. */
const char *p_words(double p, Arena *a);

/* Returns the verdict in words, such as "none seen (about 10 % would show)" or "needs 5 repeats"; VALUE_NONE if nothing was
 * tested and the variance is not 0. */
Value bias_words(const BiasRow *row, size_t repeats, Arena *a);

#endif
