/* knots.h -- the best levels for stochastic rounding: the set of levels, chosen among the numbers themselves, with
 * the least variance when each number is rounded at random, without bias, to one of its two neighbouring levels.
 *
 * The numbers between the levels x_i < x_j have the variance V(i, j) = sum over x_i < x_t < x_j of (x_j - x_t)(x_t -
 * x_i). An optimal set has all levels at numbers (between two numbers the variance is concave in a level) and
 * includes the smallest and the largest number. So it is the cheapest path from the smallest to the largest number in
 * count - 1 steps, where a step from x_i to x_j costs V(i, j). The least cost of a path to x_j in q steps is T(q, j)
 * = min over i < j of T(q - 1, i) + V(i, j). Let b_i be the value at y = x_i of the sum over t of max(y - x_t, 0),
 * plus any linear function of y. Then
 *     V(i, j) = b_i x_j - x_i b_j + f_j - f_i
 * where the sum of f_j - f_i over all steps is the same for every path, so that f can be left out. V has the
 * quadrangle inequality, so the best i does not fall as j rises. x and b are measured from the median: they are small
 * where most numbers are, and so are their rounding errors. Because of rounding errors the levels that are found may
 * have more variance than the best levels: 2^-50 n (max - min)^2 more at most, usually 2^-50 V. */
#ifndef ATOMO_KNOTS_H
#define ATOMO_KNOTS_H

#include "base/arena.h"

enum { KNOTS_MOST = 256, KNOTS_OF = 1 << 16 }; /* KNOTS_MOST: the most levels; KNOTS_OF: the most numbers */

/* Memory for one search at a time, reused by the next search. */
typedef struct {
    size_t most, count;      /* most: capacity in numbers; count: number of levels */
    uint32_t *key, *spare;   /* (most) */
    uint32_t *rank;          /* for each different number: how many of the numbers are <= that number */
    double *x, *b, *cost[2]; /* x, b and two layers of T (see above) for each different number */
    /* (count, most). knots_best: in layer q, the best previous level for each number; knots_greedy: the ends of
     * intervals */
    uint16_t *back;
} KnotsRoom;

/* Returns how many bytes of the arena knots_open takes. 2 <= count <= KNOTS_MOST, n <= KNOTS_OF. */
size_t knots_size(size_t n, size_t count);
bool knots_open(KnotsRoom *room, size_t n, size_t count, Arena *scratch); /* false: no memory */

/* Find rising levels for x (n > 0 finite numbers). knots_best finds the levels with the least variance. knots_greedy
 * merges neighbouring intervals where this adds the least variance (Acharya, Diakonikolas, Hegde, Li, Schmidt 2015):
 * with t = floor((count - 2) / 2), the variance of its levels is at most t / (t + 1 - k) times that of the best k + 1
 * levels, for any 1 <= k <= t. Each function returns the number of different levels: `count`, or the number of
 * different numbers in x if that is smaller; the rest of level[] then repeats the last level. -0 counts as +0. */
size_t knots_best(KnotsRoom *room, const float *x, size_t n, float *level);
size_t knots_greedy(KnotsRoom *room, const float *x, size_t n, float *level);

/* Returns the variance of rounding x (n) at random, without bias, to `count` rising levels: the sum over x_i of (up -
 * x_i)(x_i - low), where low and up are the two levels next to x_i. */
double knots_variance(const float *x, size_t n, const float *level, size_t count);

#endif
