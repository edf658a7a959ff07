/* kmeans.c -- k-means++ seeds and Lloyd's iteration; see best_levels.h. */
#include "math/best_levels.h"

size_t count_under(const float *x, size_t n, double value)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((double)x[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t count_upto(const float *x, size_t n, double value)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((double)x[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- seeds (the first centres): the first is a number of x drawn uniformly, each later one is drawn with a
 * probability proportional to its squared distance to the nearest seed so far ---- */

/* Updates square[i], the squared distance of x_i to its nearest seed, for a new seed. Returns the sum of
 * square[]. */
static double approach(const float *x, size_t n, double seed, double *square)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        const double gap = (double)x[i] - seed, own = gap * gap;
        square[i] = own < square[i] ? own : square[i];
        total += square[i];
    }
    return total;
}

/* Returns the index at which the running sum of square[] passes `target`. The result is never the index of a
 * seed, because a seed has square[i] = 0. */
static size_t draw(const double *square, size_t n, double target)
{
    size_t last = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (square[i] <= 0)
            continue;
        last = i;
        sum += square[i];
        if (sum > target)
            break;
    }
    return last;
}

static size_t choose_seeds(const float *x, size_t n, size_t k, const Rng *rng, double *seed, double *square)
{
    size_t chosen = 1;
    for (size_t i = 0; i < n; i++)
        square[i] = 0x1p1000;
    seed[0] = (double)x[(size_t)(rng_unit(rng, USE_ATOM, 0) * (double)n)];
    for (double left = approach(x, n, seed[0], square); chosen < k && left > 0; chosen++) {
        seed[chosen] = (double)x[draw(square, n, rng_unit(rng, USE_ATOM, chosen) * left)];
        left = approach(x, n, seed[chosen], square);
    }
    return chosen;
}

static void sort_few(double *value, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const double v = value[i];
        size_t at = i;
        for (; at && value[at - 1] > v; at--)
            value[at] = value[at - 1];
        value[at] = v;
    }
}

/* ---- Lloyd's iteration ---- */

/* Moves each centre to the mean of the numbers that are nearest to it. Returns false if no centre moved.
 * before[i] is the sum of the first i numbers. */
static bool move_centres(const float *x, size_t n, const double *before, double *centre, size_t k)
{
    bool moved = false;
    for (size_t j = 0, from = 0; j < k; j++) {
        const size_t to = j + 1 < k ? count_upto(x, n, centre[j] / 2 + centre[j + 1] / 2) : n;
        if (to > from) {
            const double mean = (before[to] - before[from]) / (double)(to - from);
            moved |= mean != centre[j];
            centre[j] = mean;
            from = to;
        }
    }
    return moved;
}

size_t kmeans_line(const float *x, size_t n, size_t k, const Rng *rng, double *centre, Arena *scratch)
{
    if (n == 0 || k == 0)
        return 0;
    const ArenaMark mark = arena_mark(scratch);
    double *before = NEW(scratch, double, n + 1), *square = NEW(scratch, double, n);
    if (!before || !square)
        return SIZE_MAX;
    before[0] = 0;
    for (size_t i = 0; i < n; i++)
        before[i + 1] = before[i] + (double)x[i];
    k = choose_seeds(x, n, k, rng, centre, square);
    sort_few(centre, k);
    for (int round = 0; round < KMEANS_ROUNDS && move_centres(x, n, before, centre, k); round++)
        ;
    arena_rewind(scratch, mark);
    return k;
}
