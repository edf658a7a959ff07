/* log_series.h -- logarithms that are the same on every machine, from sums, products and one division of doubles; the
 * C library's log may differ in rounding. */
#ifndef ATOMO_LOG_SERIES_H
#define ATOMO_LOG_SERIES_H

#include <math.h>

/* Returns ln m and sets e, where v = m 2^e > 0 with m within 1/sqrt(2) .. sqrt(2). ln m = 2 atanh z, z = (m - 1) / (m
 * + 1); the series' truncation error is under 1e-20 of it. */
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

#endif
