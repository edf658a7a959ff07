/* best_levels.h -- the levels that stand for many numbers with the least error: of normal numbers, of clusters of
 * numbers, and of unbiased rounding. */
#ifndef ATOMO_BEST_LEVELS_H
#define ATOMO_BEST_LEVELS_H

#include "math/vec/kernels.h"
#include "base/arena.h"
#include "base/rng.h"

/* ---- standard normal numbers ---- */

/* The quantisation levels with the least mean squared error for standard normal numbers (Lloyd 1957,
 * Max 1960). */

enum { LLOYD_BITS_MAX = LEVEL_SCALE_BITS + 1 };

/* Returns the 2^(bits - 1) positive levels in rising order. The negative levels are their negatives. 1 <= bits
 * <= LLOYD_BITS_MAX. */
const float *lloyd_levels(int bits);

/* Returns a quantiser of normal numbers with standard deviation `unit`: its thresholds are scaled by `unit`,
 * its levels are not. */
LevelScale lloyd_scale(int bits, float unit);

/* ---- clusters ---- */

/* Clusters of scalars: k-means++ (Arthur and Vassilvitskii 2007), then Lloyd's iteration.
 *
 * The numbers are sorted. So each cluster is a range of them, and prefix sums give its mean, which makes
 * both algorithms fast. All decisions are computed with additions, multiplications and divisions only, so
 * every machine finds the same centres. */

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

/* ---- unbiased rounding ---- */

/* Finds the best levels for stochastic rounding of n numbers. Each number is rounded at random,
 * without bias, to one of its two neighbouring levels. The levels are chosen among the numbers themselves,
 * so that the variance of rounding is least.
 *
 * Rounding the numbers between two levels x_i < x_j has the variance V(i, j) = sum over x_i < x_t < x_j of
 * (x_j - x_t)(x_t - x_i). An optimal set of levels includes the smallest and the largest number. All its
 * levels are at numbers: as a level moves between two neighbouring numbers, the variance is a concave
 * function of its position. So an optimal set of m levels is a shortest path in m - 1 steps from the
 * smallest to the largest number, where a step from x_i to x_j costs V(i, j). The least cost of a path to
 * x_j in q steps is T(q, j) = min over i < j of T(q - 1, i) + V(i, j).
 *
 * To compute V quickly, let B(y) be the sum over t of max(y - x_t, 0), plus any linear function of y, and
 * let b_i = B(x_i). Then there are numbers f_i, one for each x_i, with
 *
 *     V(i, j) = b_i x_j - x_i b_j + f_j - f_i
 *
 * The terms f_j - f_i have the same sum along every path, so f is left out. V has the quadrangle inequality,
 * so the best i does not fall as j rises.
 *
 * x_i is stored minus the median, and the linear function in B is chosen so that b is 0 at the median. So x_i and
 * b_i are small where most numbers are, and their rounding errors are small too. Rounding errors may lead to
 * levels of more variance than the least. The excess is at most 2^-50 n (max - min)^2, where max and min are the
 * largest and the smallest number. Usually the excess is 2^-50 of the variance. */

enum { KNOTS_MOST = 256, KNOTS_OF = 1 << 16 }; /* KNOTS_MOST: the most levels; KNOTS_OF: the most numbers */

/* Memory for one search at a time, reused by the next search. */
typedef struct {
    size_t most, count;    /* `most`: capacity in numbers; `count`: number of levels */
    uint32_t *key, *spare; /* (most) */
    uint32_t *rank;        /* for each different number y: how many of the numbers are <= y */
    /* `x` and `b`: x_i and b_i of the comment above; `cost`: T(q - 1, j) and T(q, j). All arrays have an
     * entry for each different number. */
    double *x, *b, *cost[2];
    /* (count, most) the best previous level of each number, for each number of steps q */
    uint16_t *back;
} KnotsRoom;

/* Returns the bytes that `knots_open` takes from the arena. Needs 2 <= count <= KNOTS_MOST and n <=
 * KNOTS_OF. */
size_t knots_size(size_t n, size_t count);
bool knots_open(KnotsRoom *room, size_t n, size_t count, Arena *scratch); /* false: no memory */

/* Finds the levels with the least variance for x (n > 0 finite numbers), and writes them to level[] in rising order.
 * Returns the number of different levels: `count`, or fewer if x has fewer different numbers; then the last level is
 * repeated. -0 counts as +0. */
size_t knots_best(KnotsRoom *room, const float *x, size_t n, float *level);

/* Returns the variance of rounding the n numbers x at random, without bias, to `count` rising levels: the
 * sum over x_i of (up - x_i)(x_i - low), where `low` and `up` are the two levels around x_i. */
double knots_variance(const float *x, size_t n, const float *level, size_t count);

#endif
