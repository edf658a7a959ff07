/* knots.h -- the best levels for stochastic rounding: the set of levels, chosen among the numbers themselves, with
 * the least variance when each number is rounded at random, without bias, to one of its two neighbouring levels.
 *
 * Between the levels x_i < x_j the variance is V(i, j) = sum over x_i < x_t < x_j of (x_j - x_t)(x_t - x_i). An
 * optimal set has all levels at numbers (between two numbers the variance is concave in a level), both extremes
 * included, so that it is the cheapest path from the smallest to the largest number in count - 1 steps: T(q, j) = min
 * over i < j of T(q - 1, i) + V(i, j). With b the sum of (y - x_t)+ at y = x_i, and any linear function of y added,
 *     V(i, j) = b_i x_j - x_i b_j + f_j - f_i
 * for an f that telescopes. V has the quadrangle inequality, so that the best i rises with j. x and b are relative to
 * the median: they are small where most numbers are, and so are their rounding errors. Through rounding the levels
 * found may leave more variance than the best: 2^-50 n (max - min)^2 at most, usually 2^-50 V. */
#ifndef ATOMO_KNOTS_H
#define ATOMO_KNOTS_H

#include "base/arena.h"

enum { KNOTS_MOST = 256, KNOTS_OF = 1 << 16 }; /* the most levels, and the most numbers */

/* Memory for one search at a time. */
typedef struct {
    size_t most, count;      /* numbers, levels */
    uint32_t *key, *spare;   /* (most) */
    uint32_t *rank;          /* how many numbers are no larger than each different one */
    double *x, *b, *cost[2]; /* x, b and T of each different number */
    /* (count, most) the best predecessor of each number; knots_greedy: the ends of intervals */
    uint16_t *back;
} KnotsRoom;

/* Returns how many bytes knots_open takes. 2 <= count <= KNOTS_MOST, n <= KNOTS_OF. */
size_t knots_size(size_t n, size_t count);
bool knots_open(KnotsRoom *room, size_t n, size_t count, Arena *scratch); /* false: no memory */

/* Find rising levels for x (n > 0 finite numbers). knots_best finds the best levels. knots_greedy merges the
 * neighbouring intervals that cost least (Acharya, Diakonikolas, Hegde, Li, Schmidt 2015): with t = floor((count - 2)
 * / 2), its levels leave at most t / (t + 1 - k) times the variance of the best k + 1 levels, for any 1 <= k <= t.
 * Return how many levels differ: `count`, or the number of different numbers where that is less; the last level fills
 * up the rest. Zeros have no sign. */
size_t knots_best(KnotsRoom *room, const float *x, size_t n, float *level);
size_t knots_greedy(KnotsRoom *room, const float *x, size_t n, float *level);

/* Returns the sum over x of (up - x)(x - low), where low and up are the neighbours of x among `count` rising
 * levels. */
double knots_variance(const float *x, size_t n, const float *level, size_t count);

#endif
