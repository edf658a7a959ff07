/* log_series.h -- a natural logarithm that is the same on every machine: it uses only sums, products and a
 * division of doubles. The C library's log may round differently on different machines. */
#ifndef ATOMO_LOG_SERIES_H
#define ATOMO_LOG_SERIES_H

#include <math.h>
#include <stdint.h>

/* Splits v > 0 into m 2^e with m in 1/sqrt(2) .. sqrt(2). Returns ln m and sets e. With z = (m - 1) / (m + 1),
 * ln m = 2 atanh z. The series of atanh ends where the relative error is below 1e-20. */
static inline double log_split(double v, int *e)
{
    double m = frexp(v, e), series = 0;
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        --*e;
    }
    const double z = (m - 1) / (m + 1), square = z * z;
    for (int k = 25; k >= 1; k -= 2)
        series = series * square + 1.0 / k;
    return 2 * z * series;
}

/* Returns log2 v, v > 0, rounded in the same way on every machine. */
static inline double log2_whole(uint64_t v)
{
    int e;
    const double log_m = log_split((double)v, &e);
    return e + log_m * 0x1.71547652b82fep+0; /* 1 / ln 2 */
}

#endif
