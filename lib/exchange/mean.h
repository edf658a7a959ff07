/* mean.h -- the mean of several vectors, element by element.
 *
 * Sums are doubles, added in the order of the calls; so the mean does not depend on the number of threads. */
#ifndef ATOMO_MEAN_H
#define ATOMO_MEAN_H

#include <stddef.h>
#include <stdint.h>

/* Adds x (n) to sum (n). */
void mean_add(double *sum, const float *x, size_t n, int threads);

/* Sets mean (n) to sum / count, rounded to float. */
void mean_of_sum(float *mean, const double *sum, size_t n, double count, int threads);

/* Adds 1 to count[i] for each x[i] (n) that is not 0. */
void mean_count(uint32_t *count, const float *x, size_t n, int threads);

/* Sets mean[i] (n) to sum[i] / count[i], rounded to float; to 0 where count[i] is 0. */
void mean_of_senders(float *mean, const double *sum, const uint32_t *count, size_t n, int threads);

/* Divides x (n) by count, in double precision. */
void mean_scale(float *x, size_t n, double count, int threads);

#endif
