/* log_series.h -- logarithms that are the same on every machine: sums, products and one division of doubles, where
 * the C library's log may round as it likes. */
#ifndef ATOMO_LOG_SERIES_H
#define ATOMO_LOG_SERIES_H

#include <math.h>

/* ln m, and e, for v = m 2^e with m within 1/sqrt(2) .. sqrt(2); v > 0. ln m = 2 atanh z, z = (m - 1) / (m + 1); what
 * the series leaves out is under 1e-20 of it. */
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
