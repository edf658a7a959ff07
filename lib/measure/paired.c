/* paired.c -- compares a metric of two codecs that drew the same random numbers in each repeat. */
#include "measure/paired.h"

#include "math/stats.h"

#include <assert.h>
#include <math.h>

/* A standard error of the difference up to this share of the largest value is rounding error and counts as
 * 0. */
#define SAME 1e-13

static double value_of(Draws d, size_t r)
{
    return d.value[d.random ? r : 0];
}

Paired paired_difference(Draws a, Draws b)
{
    const size_t count = a.count > b.count ? a.count : b.count;
    assert((!a.random || a.count == count) && (!b.random || b.count == count));
    Paired d = {.low = NAN, .high = NAN, .p = NAN, .exact = !a.random && !b.random};
    Moments m = {0};
    double largest = 0;
    for (size_t r = 0; r < count; r++) {
        const double x = value_of(a, r), y = value_of(b, r);
        if (isnan(x) || isnan(y))
            continue;
        moments_add(&m, x - y);
        largest = fmax(largest, fmax(fabs(x), fabs(y)));
    }
    d.pairs = m.n;
    d.difference = m.n ? m.mean : NAN;
    d.se = d.exact ? 0 : sqrt(moments_variance(&m) / (double)m.n);
    if (d.se <= SAME * largest)
        d.se = 0;
    if (!(d.se > 0))
        return d;
    const double freedom = (double)m.n - 1, half = d.se * t_quantile(0.05, freedom);
    d.low = d.difference - half;
    d.high = d.difference + half;
    d.p = t_tails(d.difference / d.se, freedom);
    return d;
}
