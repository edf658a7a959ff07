/* test_spread.c -- the mean and deviation of each element over repeats, computed by a recurrence in float32.
 * They are compared with the same recurrence in double. */
#include "rig/metrics_rig.h"

typedef void Draw(const Rng *rng, const float *x, size_t n, float *y);

static void draw_ternary(const Rng *rng, const float *x, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = rng_unit(rng, USE_COIN, i) < fabs((double)x[i]) ? copysignf(1, x[i]) : 0;
}

static void draw_rarely(const Rng *rng, const float *x, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = rng_unit(rng, USE_COIN, i) < 0.01 ? 100 * x[i] : 0;
}

static void draw_closely(const Rng *rng, const float *x, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)((double)x[i] * (1 + 1e-5 * (rng_unit(rng, USE_COIN, i) - 0.5)));
}

/* Draws an estimate y of x whose bias is about 700 times its standard deviation. */
static void draw_biased(const Rng *rng, const float *x, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)((double)x[i] * (0.8 + 1e-3 * (rng_unit(rng, USE_COIN, i) - 0.5)));
}

/* Does in double what spread_add does in float32: updates the mean of y - x, and m2, the sum of squared
 * deviations from the mean. */
static void spread_in_double(const float *x, const float *y, size_t n, double count, double *mean, double *m2)
{
    for (size_t i = 0; i < n; i++) {
        const double d = (double)y[i] - (double)x[i], step = d - mean[i];
        mean[i] += step / count;
        m2[i] += step * (d - mean[i]);
    }
}

static void sums_in_double(const float *x, size_t n, const double *mean, const double *m2, double sum[S_SUMS])
{
    memset(sum, 0, S_SUMS * sizeof *sum);
    for (size_t i = 0; i < n; i++) {
        sum[S_M2] += m2[i];
        sum[S_M2_WEIGHTED] += m2[i] * (double)x[i] * (double)x[i];
        sum[S_M2_SQUARES] += m2[i] * m2[i];
        sum[S_M2_WEIGHTED_SQUARES] += pow(m2[i] * (double)x[i] * (double)x[i], 2);
        sum[S_BIAS] += mean[i] * mean[i];
        sum[S_BIAS_DOT] += mean[i] * (double)x[i];
    }
}

static void check_spread(Bench *b, Draw *draw, size_t repeats)
{
    enum { N = 10000 };
    const ArenaMark mark = arena_mark(b->a);
    float *x = NEW(b->a, float, N), *y = NEW(b->a, float, N);
    double *mean = NEW_ZERO(b->a, double, N), *m2 = NEW_ZERO(b->a, double, N);
    MeasuredVector s = {.x = x, .n = N, .threads = 1, .scratch = b->a, .err = &b->err};
    s.half = NEW(b->a, float, N);
    s.root = NEW(b->a, float, N);
    Rng rng = rng_open(5, 0, 0, 0, 0);
    for (size_t i = 0; i < N; i++)
        x[i] = (float)(2 * rng_unit(&rng, USE_ATOM, i) - 1);
    Tally t, exact;
    check_ok(tally_open(&t, LEVEL_VECTOR, repeats, true, b->a, &b->err), &b->err);
    check_ok(tally_gradient(&t, &s), &b->err);
    for (size_t r = 0; r < repeats; r++) {
        rng = rng_open(5, r + 1, 0, 0, 0);
        draw(&rng, x, N, y);
        check_ok(tally_repeat(&t, &s, r, y), &b->err);
        spread_in_double(x, y, N, (double)r + 1, mean, m2);
    }
    check_ok(tally_spread(&t, &s), &b->err);
    exact = t;
    sums_in_double(x, N, mean, m2, exact.spread);
    check_rel(value(&t, "variance"), value(&exact, "variance"), 1e-6);
    check_rel(value(&t, "bias_ratio"), value(&exact, "bias_ratio"), 1e-6);
    check_rel(value(&t, "gain"), value(&exact, "gain"), 1e-7);
    check_rel(t.spread[S_M2_SQUARES], exact.spread[S_M2_SQUARES], 1e-6);
    check_rel(t.spread[S_M2_WEIGHTED_SQUARES], exact.spread[S_M2_WEIGHTED_SQUARES], 1e-6);
    /* bias_z and gain_z are differences that may be near 0, so tolerances are relative to the terms of these
     * differences */
    check(fabs(value(&t, "bias_z") - value(&exact, "bias_z")) <=
          1e-6 * (100 + fabs(value(&exact, "bias_z"))));
    check(fabs(value(&t, "gain_z") - value(&exact, "gain_z")) <= 1e-6 * (1 + fabs(value(&exact, "gain_z"))));
    arena_rewind(b->a, mark);
}

BENCH_TEST(float32_holds_mean_and_spread)
{
    static Draw *const draws[] = {draw_ternary, draw_rarely, draw_closely, draw_biased};
    static const size_t repeats[] = {2, 10, 1000};
    for (size_t d = 0; d < countof(draws); d++)
        for (size_t r = 0; r < countof(repeats); r++)
            check_spread(*state, draws[d], repeats[r]);
}

/* If the estimate y is the same in all repeats, the variance must be 0, even if y - x is not a float32 number.
 * The bias must be finite, even if y - x is beyond float32's range. */
BENCH_TEST(what_never_varies_has_no_variance)
{
    Bench *b = *state;
    static const float pairs[][2] = {{1e30f, 65504}, {0x1.fffffep0f, -0x1p-24f}, {3e38f, -3e38f}};
    for (size_t i = 0; i < countof(pairs); i++) {
        float half, root;
        Tally t;
        MeasuredVector s = {.x = pairs[i], .n = 1, .threads = 1, .scratch = b->a, .err = &b->err};
        s.half = &half;
        s.root = &root;
        check_ok(tally_open(&t, LEVEL_VECTOR, 9, true, b->a, &b->err), &b->err);
        check_ok(tally_gradient(&t, &s), &b->err);
        for (size_t r = 0; r < 9; r++)
            check_ok(tally_repeat(&t, &s, r, &pairs[i][1]), &b->err);
        check_ok(tally_spread(&t, &s), &b->err);
        const double d = (double)pairs[i][1] - (double)pairs[i][0];
        check(value(&t, "variance") == 0);
        check_rel(t.spread[S_BIAS], d * d, 1e-6);
    }
}

CHECK_ALL(NULL, NULL)
