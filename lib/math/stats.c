/* stats.c -- computes quantiles, moments and tails of distributions; see stats.h. */
#include "math/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *v, size_t n)
{
    if (n)
        qsort(v, n, sizeof *v, ascending);
}

double stats_quantile(const double *sorted, size_t n, double q)
{
    assert(q >= 0 && q <= 1);
    if (n == 0)
        return NAN;
    const double at = q * (double)(n - 1);
    const size_t low = (size_t)at;
    if (low + 1 >= n)
        return sorted[n - 1];
    return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

double stats_median(double *v, size_t n)
{
    stats_sort(v, n);
    return stats_quantile(v, n, 0.5);
}

double stats_median_variance(const double *sorted, size_t n)
{
    const double iqr = stats_quantile(sorted, n, 0.75) - stats_quantile(sorted, n, 0.25);
    const double deviation = iqr / 1.3489795003921634;
    return n > 1 ? M_PI / 2 * deviation * deviation / (double)n : NAN;
}

void moments_add(Moments *m, double v)
{
    const double step = v - m->mean, n = (double)++m->n, part = step / n;
    m->m3 += part * (step * part * (n - 1) * (n - 2) - 3 * m->m2);
    m->mean += part;
    m->m2 += step * (v - m->mean);
}

double moments_variance(const Moments *m)
{
    return m->n > 1 ? m->m2 / (double)(m->n - 1) : NAN;
}

double moments_skewness(const Moments *m)
{
    const double n = (double)m->n;
    return n > 2 && m->m2 > 0 ? n / (n - 2) * sqrt((n - 1) / m->m2) * m->m3 / m->m2 : 0;
}

/* ---- the incomplete beta function ---- */

/* Returns the continued fraction of the incomplete beta function I_x(a, b), by the modified Lentz method. It
 * takes about sqrt(max(a, b)) terms if x < (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x)
{
    enum { TERMS = 200000 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int k = 1; k <= TERMS; k++) {
        const double m = k;
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        h *= d * (fabs(c) < tiny ? tiny : c);
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        const double step = d * (fabs(c) < tiny ? tiny : c);
        h *= step;
        if (fabs(step - 1) < 1e-15)
            break;
    }
    return h;
}

/* Returns the regularised incomplete beta function I_x(a, b); a, b > 0. */
static double beta_inc(double a, double b, double x)
{
    assert(a > 0 && b > 0);
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* ---- the F distribution ---- */

double f_tail(double f, double d1, double d2)
{
    return f <= 0 ? 1 : beta_inc(d2 / 2, d1 / 2, d2 / (d2 + d1 * f));
}

/* ---- Student's t distribution ---- */

double t_tails(double t, double d)
{
    return beta_inc(d / 2, 0.5, d / (d + t * t));
}

double t_quantile(double p, double d)
{
    assert(p > 0 && p <= 1);
    double low = 0, high = 1;
    while (t_tails(high, d) > p && high < 0x1p500)
        high *= 2;
    for (int step = 0; step < 100 && high - low > 1e-10 * high; step++) {
        const double middle = low + (high - low) / 2;
        if (t_tails(middle, d) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- p-values adjusted for many tests ---- */

double stats_holm(const double *sorted, size_t m, double p)
{
    double adjusted = 0;
    for (size_t k = 0; k < m && sorted[k] <= p; k++)
        adjusted = fmax(adjusted, (double)(m - k) * sorted[k]);
    return fmin(adjusted, 1);
}

void bins_open(EqualBins *b, const float *x, size_t n, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i];
    const double centre = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((double)x[i] - centre) * ((double)x[i] - centre);
    *b = (EqualBins){.count = count, .centre = centre, .width = n > 1 ? 6 * sqrt(squares / (double)(n - 1)) / (double)count : 0};
    for (size_t i = 0; i < n; i++) {
        const size_t k = bins_find(b, x[i]);
        b->total[k] += (double)x[i];
        b->members[k]++;
    }
}

/* ---- pairs of draws ---- */

/* Compares a metric of two codecs that drew the same random numbers in each repeat. */

/* A standard error of the difference up to this share of the largest value is rounding error and counts as
 * 0. */
#define SAME 1e-13

static double value_of(PairedDraws d, size_t r)
{
    return d.value[d.random ? r : 0];
}

Paired paired_difference(PairedDraws a, PairedDraws b)
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
