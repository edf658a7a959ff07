/* stats.c -- see stats.h. */
#include "num/stats.h"

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

void moments_add(Moments *m, double v)
{
    const double step = v - m->mean;
    m->n++;
    m->mean += step / (double)m->n;
    m->m2 += step * (v - m->mean);
}

double moments_variance(const Moments *m)
{
    return m->n > 1 ? m->m2 / (double)(m->n - 1) : NAN;
}
