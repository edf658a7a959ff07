/* test_knots.c -- choosing quantisation levels for sorted numbers. Optimal levels (knots_best) are compared
 * with all possible sets of levels and with a plain dynamic program. */
#include "compress/levels/zipml.c"
#include "rig/knot_laws.h"

#include <float.h>

enum { N = 700 };

/* ---- helpers that run knots_best and compute the variance of rounding to the levels ---- */

static double variance(const float *x, size_t n, const float *level, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k < count; k++)
            if (level[k - 1] < x[i] && x[i] < level[k])
                sum += ((double)level[k] - (double)x[i]) * ((double)x[i] - (double)level[k - 1]);
    return sum;
}

static size_t solve(const float *x, size_t n, size_t count, float *level)
{
    Arena *arena = arena_open(0);
    KnotsRoom room;
    check(knots_open(&room, n, count, arena));
    float own[KNOTS_MOST + 1] = {0};
    own[count] = NAN; /* detects a solver that writes more than `count` levels */
    const size_t differ = knots_best(&room, x, n, own);
    check(isnan(own[count]));
    memcpy(level, own, count * sizeof *level);
    arena_close(arena);
    check(differ <= count);
    for (size_t k = 1; k < count; k++)
        check(k < differ ? level[k] > level[k - 1] : level[k] == level[differ - 1]);
    return differ;
}

static double variance_of(const float *x, size_t n, size_t count)
{
    float level[KNOTS_MOST];
    const size_t differ = solve(x, n, count, level);
    const double left = knots_variance(x, n, level, differ);
    check_rel(left, variance(x, n, level, differ), 1e-12);
    for (size_t i = 0; i < n; i++) /* every number lies between the lowest and the highest level */
        check(x[i] >= level[0] && x[i] <= level[differ - 1]);
    return left;
}

/* ---- optimal levels (knots_best) ---- */

/* Returns the least rounding variance over all sets of `count` levels. The levels are numbers of the input,
 * and include the smallest and the largest. */
static double best_of_all(const float *sorted, size_t n, size_t count)
{
    double best = INFINITY;
    for (unsigned set = 0; set < 1u << n; set++) {
        float level[16];
        size_t size = 0;
        for (size_t i = 0; i < n; i++)
            if (set >> i & 1)
                level[size++] = sorted[i];
        if (size <= count && (set & 1) && set >> (n - 1))
            best = fmin(best, variance(sorted, n, level, size));
    }
    return best;
}

TEST(the_best_levels_are_those_of_all_choices)
{
    for (uint64_t seed = 0; seed < 6; seed++)
        for (int law = 0; law < LAWS; law++)
            for (size_t n = 1; n <= 11; n += 2)
                for (size_t count = 2; count <= 6; count++) {
                    float x[16], sorted[16];
                    fill(x, n, law, seed + 10 * count);
                    memcpy(sorted, x, sizeof sorted);
                    qsort(sorted, n, sizeof *sorted, by_value);
                    check_near(variance_of(x, n, count), best_of_all(sorted, n, count),
                               1e-9 * best_of_all(sorted, n, count) + 1e-30);
                }
}

/* Returns the variance of rounding to `count` optimal levels, by the plain dynamic program in long double.
 * t[q % 2][j] is the least variance for the numbers 0 .. j, if number j is a level and there are at most q
 * intervals between levels up to j. */
static double plain_program(const float *sorted, size_t n, size_t count)
{
    static long double t[2][N], s1[N + 1], s2[N + 1];
    for (size_t i = 0; i < n; i++) {
        s1[i + 1] = s1[i] + (long double)sorted[i];
        s2[i + 1] = s2[i] + (long double)sorted[i] * (long double)sorted[i];
        t[0][i] = i ? INFINITY : 0;
    }
    for (size_t q = 1; q < count; q++)
        for (size_t j = 0; j < n; j++) {
            long double least = t[(q + 1) % 2][j];
            for (size_t i = 0; i < j; i++) {
                const long double low = sorted[i], up = sorted[j];
                const long double v =
                    (low + up) * (s1[j] - s1[i]) - (long double)(j - i) * low * up - (s2[j] - s2[i]);
                least = fminl(least, t[(q + 1) % 2][i] + v);
            }
            t[q % 2][j] = least;
        }
    return (double)t[(count - 1) % 2][n - 1];
}

TEST(the_best_levels_are_those_of_a_plain_program)
{
    static const size_t counts[] = {2, 3, 5, 16, 40};
    float x[N], sorted[N];
    for (int law = 0; law < LAWS; law++)
        for (size_t c = 0; c < countof(counts); c++) {
            const size_t n = c % 2 ? 401 : 320;
            fill(x, n, law, 4);
            memcpy(sorted, x, sizeof sorted);
            qsort(sorted, n, sizeof *sorted, by_value);
            const double want = plain_program(sorted, n, counts[c]),
                         range = (double)sorted[n - 1] - (double)sorted[0];
            check_near(variance_of(x, n, counts[c]), want,
                       1e-9 * want + 0x1p-50 * (double)n * range * range);
        }
}

/* There are almost as many levels as numbers. knots_best starts from an approximate solution, which is far
 * from the optimum here. So it must search a wide range for each level. */
TEST(the_best_levels_are_found_from_any_way_under_a_toll)
{
    enum { FEW = 60 };
    float x[FEW], sorted[FEW];
    for (uint64_t seed = 0; seed < 4; seed++)
        for (int law = 0; law < LAWS; law++)
            for (size_t count = 2; count < FEW; count += 1 + count / 8) {
                fill(x, FEW, law, 40 + seed);
                memcpy(sorted, x, sizeof sorted);
                qsort(sorted, FEW, sizeof *sorted, by_value);
                const double want = plain_program(sorted, FEW, count),
                             range = (double)sorted[FEW - 1] - (double)sorted[0];
                check_near(variance_of(x, FEW, count), want,
                           1e-9 * want + 0x1p-50 * FEW * range * range);
            }
}

TEST(far_numbers_do_not_spoil_the_levels_of_the_rest)
{
    float x[512];
    fill(x, 512, NORMAL, 5);
    const double alone = variance_of(x, 509, 13);
    x[509] = 1e7f, x[510] = 1.5e7f, x[511] = -2e7f;
    check(variance_of(x, 512, 16) <= alone * (1 + 1e-6));
}

/* ---- memory, extreme numbers and other corner cases ---- */

/* knots_open must take exactly knots_size() bytes from the arena, in eight arrays, and fail if the arena has one byte less. n
 * is a multiple of 16, so each array fills whole cache lines and the arena adds no padding. */
TEST(the_room_is_as_large_as_said_and_no_less_will_do)
{
    Arena *one = arena_open(0);
    check(NEW(one, uint8_t, 64) != NULL);
    const size_t zone = arena_used(one) - 64; /* that the address sanitizer has behind an array */
    arena_close(one);
    for (size_t n = 16; n <= 3000; n += 480)
        for (size_t count = 2; count <= KNOTS_MOST; count += 127) {
            const size_t size = knots_size(n, count) + 8 * zone;
            KnotsRoom room;
            Arena *a = arena_open(0);
            check(knots_open(&room, n, count, a) && room.most == n && room.count == count);
            assert_int_equal(arena_used(a), size);
            arena_close(a);
            for (size_t limit = size - 1; limit > 0; limit -= limit > size / 12 ? size / 12 : limit) {
                a = arena_open(limit);
                check(!knots_open(&room, n, count, a));
                arena_close(a);
            }
        }
}

TEST(few_different_numbers_are_their_own_levels)
{
    static const float values[] = {0, -0.0f, 1, -3e-20f, 0x1p-149f, -0x1p-126f, 1e30f, FLT_MAX, -FLT_MAX};
    float x[300], level[KNOTS_MOST];
    for (size_t different = 1; different <= countof(values); different++)
        for (size_t count = 8; count <= 64; count *= 8) {
            for (size_t i = 0; i < 300; i++)
                x[i] = values[i % different];
            const size_t differ = solve(x, 300, count, level), want = different - (different > 1);
            check(differ == want && knots_variance(x, 300, level, differ) == 0);
            for (size_t k = 0; k < count; k++)
                check(level[k] != 0 || !signbit(level[k]));
        }
}

CHECK_ALL(NULL, NULL)
