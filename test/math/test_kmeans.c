/* test_kmeans.c -- one-dimensional k-means against the optimal clusters, found by dynamic programming. */
#include "rig/check.h"

#include "compress/sketch/clusters.c"

enum { MOST = 400 };

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Fills x with n sorted magnitudes. They are those of normal numbers if groups = 0; else they lie in `groups`
 * narrow intervals far apart. */
static void fill(float *x, size_t n, uint64_t seed, size_t groups)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(fabs(rng_normal(&rng, USE_TEST, i)) * (groups ? 0.01 : 1) +
                       (groups ? 100 * (double)(i % groups) : 0));
    qsort(x, n, sizeof *x, by_value);
}

static double cost_of(const float *x, size_t from, size_t to)
{
    double sum = 0, squares = 0;
    for (size_t i = from; i < to; i++)
        sum += (double)x[i];
    for (size_t i = from; i < to; i++)
        squares += pow((double)x[i] - sum / (double)(to - from), 2);
    return squares;
}

static double best_cost(const float *x, size_t n, size_t k)
{
    static double cost[MOST + 1][MOST + 1], best[17][MOST + 1];
    for (size_t i = 0; i <= n; i++)
        for (size_t j = i; j <= n; j++)
            cost[i][j] = j > i ? cost_of(x, i, j) : 0;
    for (size_t j = 0; j <= n; j++)
        best[0][j] = j ? INFINITY : 0;
    for (size_t c = 1; c <= k; c++)
        for (size_t j = 0; j <= n; j++) {
            best[c][j] = best[c - 1][j];
            for (size_t i = 0; i < j; i++)
                best[c][j] = fmin(best[c][j], best[c - 1][i] + cost[i][j]);
        }
    return best[k][n];
}

static size_t nearest(const double *centre, size_t k, double value)
{
    size_t at = 0;
    for (size_t j = 1; j < k; j++)
        if (fabs(centre[j] - value) < fabs(centre[at] - value))
            at = j;
    return at;
}

static double cost_to(const float *x, size_t n, const double *centre, size_t k)
{
    double cost = 0;
    for (size_t i = 0; i < n; i++)
        cost += pow((double)x[i] - centre[nearest(centre, k, (double)x[i])], 2);
    return cost;
}

/* Lloyd's iteration ends in a local optimum. For each of forty seeds, its cost must be below 1.5 times that of
 * the best clusters. */
TEST(cost_is_near_the_best_there_is)
{
    Arena *a = arena_open(0);
    float x[150];
    double centre[16], worst = 0, mean = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        const size_t k = 2 + seed % 5;
        const Rng rng = rng_open(seed, 0, 0, 0, 1);
        fill(x, countof(x), seed, 0);
        check(kmeans_line(x, countof(x), k, &rng, centre, a) == k);
        const double ratio = cost_to(x, countof(x), centre, k) / best_cost(x, countof(x), k);
        check(ratio >= 1 - 1e-9);
        worst = fmax(worst, ratio);
        mean += ratio / 40;
    }
    check(worst < 1.5);
    check(mean < 1.06);
    arena_close(a);
}

TEST(each_centre_is_the_mean_of_what_is_nearest)
{
    Arena *a = arena_open(0);
    float x[MOST];
    double centre[16], sum[16], count[16];
    for (uint64_t seed = 0; seed < 20; seed++) {
        const Rng rng = rng_open(seed, 0, 0, 0, 1);
        fill(x, MOST, seed, 0);
        const size_t k = kmeans_line(x, MOST, 1 + seed % 12, &rng, centre, a);
        memset(sum, 0, sizeof sum);
        memset(count, 0, sizeof count);
        for (size_t i = 0; i < MOST; i++) {
            const size_t at = nearest(centre, k, (double)x[i]);
            sum[at] += (double)x[i];
            count[at]++;
        }
        for (size_t j = 0; j < k; j++) {
            check(count[j] > 0 && (j == 0 || centre[j] > centre[j - 1]));
            check_rel(centre[j], sum[j] / count[j], 1e-12);
        }
    }
    arena_close(a);
}

TEST(logarithms_are_right)
{
    for (uint64_t v = 1; v < 3000; v++)
        check_near(log2_whole(v), log2((double)v), 4e-15);
    for (int e = 0; e < 63; e++)
        check(log2_whole(UINT64_C(1) << e) == e);
    check_near(log2_whole(UINT64_C(12345678901234567)), log2(12345678901234567.0), 2e-14);
}

CHECK_ALL(NULL, NULL)
