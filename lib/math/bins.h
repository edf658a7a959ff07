/* bins.h -- bins of equal width that divide six standard deviations around the mean; the outer bins have all values beyond. */
#ifndef ATOMO_BINS_H
#define ATOMO_BINS_H

#include "base/base.h"

#include <math.h>

enum { BINS_MOST = 256 };

typedef struct {
    size_t count;
    double centre, width;                        /* mean of the values, width of a bin */
    double total[BINS_MOST], members[BINS_MOST]; /* of each bin: sum and number of its values */
} Bins;

static inline size_t bins_find(const Bins *b, float v)
{
    const double bin = b->width > 0 ? rint(((double)v - b->centre) / b->width + (double)b->count / 2) : 0;
    return (size_t)fmin(fmax(bin, 0), (double)(b->count - 1));
}

/* Makes `count` bins of x (n > 0). */
static inline void bins_open(Bins *b, const float *x, size_t n, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i];
    const double centre = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((double)x[i] - centre) * ((double)x[i] - centre);
    *b = (Bins){.count = count, .centre = centre, .width = n > 1 ? 6 * sqrt(squares / (double)(n - 1)) / (double)count : 0};
    for (size_t i = 0; i < n; i++) {
        const size_t k = bins_find(b, x[i]);
        b->total[k] += (double)x[i];
        b->members[k]++;
    }
}

#endif
