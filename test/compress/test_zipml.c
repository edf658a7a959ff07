/* test_zipml.c -- the codec zipml, which rounds at random to levels that a solver chooses for each bucket:
 * decoded elements, the levels in the payload, and the variance. */
#include "math/best_levels.h"
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

static size_t size_of_case(Case k, bool *raw)
{
    const size_t own = 2 + 4 * k.levels * ((k.n + k.bucket - 1) / k.bucket) +
                       planes_size(k.n, level_bits((uint32_t)k.levels - 1));
    *raw = own >= 4 * k.n + 1;
    return *raw ? 4 * k.n + 1 : own;
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

static void check_elements(const Try *t, Case k)
{
    float level[KNOTS_MOST];
    for (size_t i = 0; i < k.n; i++) {
        const RngKey key = rng_key(&t->call.rng, USE_COIN, i / BLOCK);
        if (i % k.bucket == 0)
            levels_at(t, k, i, level);
        const size_t up = above(level, t->x[i]);
        float want = level[up];
        if (level[up] != t->x[i]) {
            const Coin coin = coin_make((float)((double)level[up] - (double)level[up - 1]));
            want = level[up - !coin_keep(coin, t->x[i] - level[up - 1], &key, (uint32_t)(i % BLOCK))];
        }
        check(t->y[i] == want);
    }
}

static void every_size_bucket_and_level_comes_back_as_defined(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 7, 20, 64, 65, 511, 512, 513, 1000, 66000};
    static const size_t buckets[] = {1, 3, 64, 512, 1000, 65536};
    static const size_t levels[] = {16, 2, 3, 9, 64, 129, 256};
    size_t turn = 0;
    for (size_t a = 0; a < countof(sizes); a++)
        for (size_t b = 0; b < countof(buckets); b++) {
            const Case k = {sizes[a], buckets[b], levels[turn % countof(levels)]};
            bool raw;
            turn++;
            Try *t = open_case(k);
            try_normal(t, k.n + 1);
            for (size_t i = 0; i < k.n / 7; i++) /* zeros of both signs fill the first buckets */
                t->x[i] = i % 2 ? -0.0f : 0;
            try_both(t);
            const size_t most = size_of_case(k, &raw);
            check(t->out.size <= most && t->out.data[0] == !raw);
            if (raw)
                assert_memory_equal(t->x, t->y, k.n * sizeof(float));
            else
                check_elements(t, k);
            try_close(t);
        }
}

static void levels_are_never_rounded(void **state)
{
    (void)state;
    static const float values[] = {0, -0.0f, 1, -3e-20f, 0x1p-149f, 0x1.8p-140f, -0x1p-126f, 1e30f, FLT_MAX};
    for (size_t different = 1; different <= countof(values); different++) {
        Try *t = open_case((Case){300, 100, 8});
        for (size_t i = 0; i < 300; i++)
            t->x[i] = values[i % different];
        try_both(t);
        /* eight levels suffice for the first eight values */
        check(different > 8 || codec_variance(&t->call, t->x) == 0);
        for (size_t i = 0; i < 300; i++)
            check(t->y[i] == t->x[i] && float_bits(t->y[i]) != 0x80000000u);
        try_close(t);
    }
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

static void the_variance_told_is_that_of_both_neighbours(void **state)
{
    (void)state;
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_bucket_and_level_comes_back_as_defined),
    cmocka_unit_test(levels_are_never_rounded),
    cmocka_unit_test(the_variance_told_is_that_of_both_neighbours),
};

CHECK_MAIN(tests)
