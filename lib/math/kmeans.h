/* kmeans.h -- clusters of scalars: k-means++ (Arthur and Vassilvitskii 2007), then Lloyd's iteration.
 *
 * The numbers are sorted. So each cluster is a range of them, and prefix sums give its mean, which makes
 * both algorithms fast. All decisions are computed with additions, multiplications and divisions only, so
 * every machine finds the same centres. */
#ifndef ATOMO_KMEANS_H
#define ATOMO_KMEANS_H

#include "base/arena.h"
#include "base/rng.h"

/* most rounds of Lloyd's iteration; the centres usually stop moving after a few tens of rounds */
enum { KMEANS_ROUNDS = 100 };

/* Returns how many of the n sorted numbers x are less than `value`. */
size_t count_under(const float *x, size_t n, double value);
/* Returns how many of the n sorted numbers x are less than or equal to `value`. */
size_t count_upto(const float *x, size_t n, double value);

/* Finds up to k centres of the n numbers x, in rising order. x must be sorted and not negative. If x has
 * fewer than k different values, each of them is a centre. A number belongs to the nearest centre, or to the
 * lower of two equally near ones. Each centre is the mean of its numbers, unless the iteration stopped after
 * KMEANS_ROUNDS. Returns the number of centres; SIZE_MAX: out of memory. */
size_t kmeans_line(const float *x, size_t n, size_t k, const Rng *rng, double *centre, Arena *scratch);

#endif
