/* variance_level.h -- the largest water level tau that meets a bound on the variance, computed from sorted
 * magnitudes. An element x is kept with probability min(1, |x| / tau). */
#ifndef ATOMO_VARIANCE_LEVEL_H
#define ATOMO_VARIANCE_LEVEL_H

#include "rig/check.h"
#include "compress/atoms/waterfill.h"

static Arena *scratch;

static const size_t sizes[] = {1, 2, 3, 7, 64, 1000, 65536, 65537, 200000};
static const double epsilons[] = {1e-12, 1e-6, 1e-3, 0.1, 1, 3, 100, 1e6};

static inline int larger_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Magnitudes in descending order, and the sums of them and of their squares from each one on, in long double and from
 * the smallest magnitude. */
typedef struct {
    const double *v;
    const long double *one, *two;
    size_t n;
} Sorted;

static inline Sorted sorted_of(const float *x, size_t n)
{
    double *v = NEW(scratch, double, n);
    long double *one = NEW_ZERO(scratch, long double, n + 1), *two = NEW_ZERO(scratch, long double, n + 1);
    for (size_t i = 0; i < n; i++)
        v[i] = fabs((double)x[i]);
    qsort(v, n, sizeof *v, larger_first);
    for (size_t i = n; i-- > 0;) {
        one[i] = one[i + 1] + v[i];
        two[i] = two[i + 1] + (long double)v[i] * v[i];
    }
    return (Sorted){v, one, two, n};
}

/* Returns the water level tau by its closed form. The variance must be at most eps sum v^2. Let k be the smallest index
 * with v_(k+1) sum_{i>k} v_i <= eps sum v^2 + sum_{i>k} v_i^2. Then tau = (eps sum v^2 + sum_{i>k} v_i^2) / sum_{i>k}
 * v_i. */
static inline double sorted_level(const Sorted *s, double eps)
{
    size_t k = 0;
    while (k < s->n && s->v[k] * s->one[k] > eps * s->two[0] + s->two[k])
        k++;
    return s->one[k] > 0 ? (double)((eps * s->two[0] + s->two[k]) / s->one[k]) : 0;
}

static inline double keep_chance(double tau, double x)
{
    return x == 0 ? 0 : fmin(1, fabs(x) / tau);
}

static inline double expected_atoms(const float *x, size_t n, double tau)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += keep_chance(tau, (double)x[i]);
    return (double)sum;
}

#endif
