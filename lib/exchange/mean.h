/* mean.h -- the mean of several vectors, element by element.
 *
 * Sums are in double, in the order in which the vectors are added; so a mean is the same for any number of threads. */
#ifndef ATOMO_MEAN_H
#define ATOMO_MEAN_H

#include <stddef.h>

/* sum += x, of n elements each. */
void mean_add(double *sum, const float *x, size_t n, int threads);

/* mean = sum / count, rounded to float. */
void mean_of_sum(float *mean, const double *sum, size_t n, double count, int threads);

/* x /= count, divided in double. */
void mean_scale(float *x, size_t n, double count, int threads);

#endif
