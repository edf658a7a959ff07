/* knots.h -- where the levels of a two-point quantiser belong: the level set, out of the numbers themselves, that leaves the
 * least variance when each number goes to one of its two neighbouring levels so that the mean is kept.
 *
 * Between the levels x_i < x_j the variance is V(i, j) = sum over x_i < x_t < x_j of (x_j - x_t)(x_t - x_i). An optimal
 * set has all levels at numbers (between two of them the variance is concave in a level), both extremes among them,
 * so that it is the cheapest way from the smallest to the largest in count - 1 steps: T(q, j) = min over i < j of
 * T(q - 1, i) + V(i, j). With b the sum of (y - x_t)+ at y = x_i, and any linear function of y added,
 *     V(i, j) = b_i x_j - x_i b_j + f_j - f_i
 * for an f that telescopes. V has the quadrangle inequality, so that the best i rises with j. x and b are taken
 * from the median on: where most numbers are, they are small, and so are the rounding errors of doubles. These
 * are all that is between the levels found and the best: 2^-50 n (max - min)^2 at most, 2^-50 V as a rule. */
#ifndef ATOMO_KNOTS_H
#define ATOMO_KNOTS_H

#include "base/arena.h"

enum { KNOTS_MOST = 256, KNOTS_OF = 1 << 16 }; /* levels, and numbers that they are for, at most */

/* Room for one search at a time. */
typedef struct {
    size_t most, count;      /* numbers, levels */
    uint32_t *key, *spare;   /* (most) */
    uint32_t *rank;          /* how many numbers are no larger than each different one */
    double *x, *b, *cost[2]; /* of the different numbers */
    uint16_t *back;          /* (count, most) the best step to each number; or the ends of intervals */
} KnotsRoom;

/* How many bytes knots_open takes. 2 <= count <= KNOTS_MOST, n <= KNOTS_OF. */
size_t knots_size(size_t n, size_t count);
bool knots_open(KnotsRoom *room, size_t n, size_t count, Arena *scratch); /* false: no memory */

/* Rising levels of x (n > 0 finite numbers): the best ones; or, by merging neighbours while that costs least (Acharya,
 * Diakonikolas, Hegde, Li, Schmidt 2015), some that are good: with t = floor((count - 2) / 2), they leave at most t / (t + 1 -
 * k) times the variance of the best k + 1 levels, for any 1 <= k <= t. Returns how many differ: `count`, or all numbers where these are
 * fewer; the last one fills up the rest. Zeros have no sign. */
size_t knots_best(KnotsRoom *room, const float *x, size_t n, float *level);
size_t knots_greedy(KnotsRoom *room, const float *x, size_t n, float *level);

/* Sum of (up - x)(x - low) over the neighbouring ones of `count` rising levels. */
double knots_variance(const float *x, size_t n, const float *level, size_t count);

#endif
