/* test_zipml.c -- the codec zipml, which rounds at random to levels that a solver chooses for each bucket:
 * the variance. */
#include "compress/levels/zipml.c"
#include "coder/planes.h"
#include "rig/try.h"

#include <float.h>

typedef struct {
    size_t n, bucket, levels;
} Case;

static Try *open_case(Case k)
{
    char spec[96];
    snprintf(spec, sizeof spec, "zipml:levels=%zu,bucket=%zu", k.levels, k.bucket);
    return try_open(spec, k.n);
}

/* Reads the levels of the bucket that begins at element `start` from the payload, and compares them with the
 * solver. Returns the number of distinct levels. */
static size_t levels_at(const Try *t, Case k, size_t start, float level[KNOTS_MOST])
{
    KnotsRoom room;
    float own[KNOTS_MOST];
    const size_t size = k.n - start < k.bucket ? k.n - start : k.bucket;
    Arena *arena = arena_open(0);
    check(knots_open(&room, size, k.levels, arena));
    const size_t differ = knots_best(&room, t->x + start, size, own);
    arena_close(arena);
    for (size_t i = 0; i < k.levels; i++) {
        level[i] = load_f32(t->out.data + 1 + 4 * (k.levels * (start / k.bucket) + i));
        check(float_bits(level[i]) == float_bits(own[i]));
    }
    return differ;
}

static size_t above(const float *level, float x)
{
    size_t up = 0;
    while (level[up] < x)
        up++;
    return up;
}

/* ---- variance ---- */

static double variance_ref(const Try *t, Case k)
{
    float level[KNOTS_MOST];
    double sum = 0;
    for (size_t i = 0; i < k.n; i++) {
        if (i % k.bucket == 0)
            levels_at(t, k, i, level);
        const size_t up = above(level, t->x[i]);
        const double x = (double)t->x[i], high = (double)level[up] - x;
        sum += high == 0 ? 0 : high * (x - (double)level[up - 1]);
    }
    return sum;
}

TEST(the_variance_told_is_that_of_both_neighbours)
{
    static const Case cases[] = {{2000, 512, 16},
                                 {2000, 512, 16},
                                 {2000, 100, 2},
                                 {2000, 2000, 3},
                                 {2000, 700, 5}};
    for (size_t c = 0; c < countof(cases); c++)
        for (int laplace = 0; laplace < 2; laplace++) {
            Try *t = open_case(cases[c]);
            (laplace ? try_laplace : try_normal)(t, 80 + c);
            try_both(t);
            check_rel(codec_variance(&t->call, t->x), variance_ref(t, cases[c]), 1e-9);
            try_close(t);
        }
}

CHECK_ALL(NULL, NULL)
