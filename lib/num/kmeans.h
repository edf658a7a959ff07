/* kmeans.h -- clusters of scalars: k-means++ (Arthur and Vassilvitskii 2007), then Lloyd's iteration.
 *
 * The numbers are sorted, which makes k-means++ and Lloyd's iteration cheap: a cluster is a range of the sorted
 * numbers, and two prefix sums give its mean. Every decision uses additions, multiplications and divisions alone, so
 * that every machine finds the same centres. */
#ifndef ATOMO_KMEANS_H
#define ATOMO_KMEANS_H

#include "base/arena.h"
#include "base/rng.h"

/* the most rounds of Lloyd's iteration; the centres usually stop moving after a few tens */
enum { KMEANS_ROUNDS = 100 };

/* Return how many numbers of the sorted x (n) are < value (count_under), or <= value (count_upto). */
size_t count_under(const float *x, size_t n, double value);
size_t count_upto(const float *x, size_t n, double value);

/* Finds up to k rising centres of x (n), which is sorted and not negative; when x has fewer than k different values,
 * one centre for each value. A number belongs to the nearest centre; of two centres at the same distance, to the
 * lower one. Each centre is the mean of its numbers, unless the iteration ended after KMEANS_ROUNDS. Returns the
 * number of centres, or SIZE_MAX when scratch has no memory. */
size_t kmeans_line(const float *x, size_t n, size_t k, const Rng *rng, double *centre, Arena *scratch);

#endif
