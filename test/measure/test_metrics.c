/* test_metrics.c -- compares every metric with the value computed by numpy and scipy (reference/metrics.py).
 * Also tests the cases in which a metric is null. */
#include "rig/metrics_rig.h"
#include "math/radix.h"
#include "reference/known.h"
#include "reference/vectors.h"

/* Returns the tally of x and its decoded vectors: the sums from which metrics are computed. `above` is the
 * 95th percentile of all magnitudes, if x is one of several vectors measured together. */
static Tally measure_at(Bench *b, const float *x, size_t n, size_t repeats, bool random, int threads,
                        double above)
{
    Tally t;
    MeasuredVector s = {.x = x,
                        .n = n,
                        .above = {n ? radix_magnitude_quantile(x, n, 0.95, 1) : NAN, above, above},
                        .threads = threads,
                        .scratch = b->a,
                        .err = &b->err};
    float *y = NEW(b->a, float, n + 1);
    if (random && repeats > 1) {
        s.half = NEW(b->a, float, n + 1);
        s.root = NEW(b->a, float, n + 1);
    }
    check_ok(tally_open(&t, LEVEL_VECTOR, repeats, random, b->a, &b->err), &b->err);
    check_ok(tally_gradient(&t, &s), &b->err);
    for (uint32_t r = 0; r < t.decoded; r++) {
        reference_decoded(x, y, n, r);
        check_ok(tally_repeat(&t, &s, r, y), &b->err);
        if (r == 0 && n)
            check_ok(
                radix_wasserstein(x, y, n, NEW(b->a, float, 2 * n), threads, &t.wasserstein, b->a, &b->err),
                &b->err);
    }
    check_ok(tally_spread(&t, &s), &b->err);
    return t;
}

static Tally measure(Bench *b, const float *x, size_t n, size_t repeats, bool random)
{
    return measure_at(b, x, n, repeats, random, 1, NAN);
}

/* Metrics that the reference computes; other tests check sizes and times. */
static const char *const errors[] = {
    "mse",         "variance",       "second_moment",    "bias_ratio",     "bias_z",
    "gain",        "gain_z",         "relative_error",   "rel_l2",         "rel_l1",
    "elem_error",  "elem_error_big", "elem_error_small", "elem_error_pos", "elem_error_neg",
    "wasserstein", "cosine",         "sign_agreement",   "max_abs_error",  "density",
};

/* Returns the relative tolerance of a metric. It is larger if rounding matters more: means over repeats are
 * stored as float32, and a z score is a difference of two nearly equal numbers. All other metrics are computed
 * in double. */
static double tolerance(const char *name)
{
    static const char *const held[] = {"variance", "bias_ratio", "gain", "gain_z"};
    for (size_t i = 0; i < countof(held); i++)
        if (!strcmp(name, held[i]))
            return 1e-7;
    return strcmp(name, "bias_z") ? 1e-11 : 1e-6;
}

static void check_known(const Tally *t, const char *group)
{
    for (size_t i = 0; i < countof(errors); i++) {
        const double expected = known(group, errors[i]), v = value(t, errors[i]);
        if (isnan(expected) != isnan(v))
            print_error("%s %s: %g, want %g\n", group, errors[i], v, expected);
        check(isnan(expected) == isnan(v));
        if (!isnan(v))
            check_rel_at(v, expected, tolerance(errors[i]), errors[i], __FILE__, __LINE__);
    }
}

BENCH_TEST(errors_are_numpys)
{
    Bench *b = *state;
    float x[1000];
    reference_gradient(x, 1000, 1);
    Tally t = measure(b, x, 1000, 7, true);
    check_known(&t, "small");
    t = measure(b, x, 1000, 1, true);
    check_known(&t, "single");
    t = measure(b, x, 1000, 7, false);
    check_known(&t, "fixed");
}

BENCH_TEST(errors_of_several_blocks_are_numpys)
{
    Bench *b = *state;
    float *x = NEW(b->a, float, 70003);
    reference_gradient(x, 70003, 2);
    const Tally t = measure(b, x, 70003, 3, true);
    check_known(&t, "large");
}

/* The mean of P workers' estimates keeps the bias and, of the variance, one P-th where draws are the workers' own. */
BENCH_TEST(the_error_of_a_mean_of_workers_keeps_bias_and_shared_draws)
{
    Bench *b = *state;
    float x[1000];
    reference_gradient(x, 1000, 1);
    Tally t = measure(b, x, 1000, 7, true);
    t.spread[S_M2] /= 2; /* as if half of the error were bias */
    const double error = value(&t, "mse"), norm2 = error / value(&t, "relative_error"), v = value(&t, "variance");
    t.unbiased = false;
    check_rel(value(&t, "mean_error_4"), (error - v + v / 4) / norm2, 1e-12);
    check_rel(value(&t, "mean_error_16"), (error - v + v / 16) / norm2, 1e-12);
    t.own_draws = 0;
    check_rel(value(&t, "mean_error_16"), error / norm2, 1e-12);
    t.unbiased = true;
    t.own_draws = 1;
    t.expected = 3;
    check_rel(value(&t, "mean_error_16"), 3. / 16 / norm2, 1e-12);
}

BENCH_TEST(special_vectors_have_values_or_none)
{
    Bench *b = *state;
    float zeros[40] = {0}, constant[100];
    const float one[1] = {-0.2f};
    for (int i = 0; i < 100; i++)
        constant[i] = 0.3f;
    Tally t = measure(b, zeros, 40, 3, true);
    check_known(&t, "zeros");
    t = measure(b, constant, 100, 5, true);
    check_known(&t, "constant");
    t = measure(b, one, 1, 5, true);
    check_known(&t, "one");
    t = measure(b, one, 0, 5, true);
    for (size_t i = 0; i < countof(errors); i++) {
        const double v = value(&t, errors[i]);
        check(isnan(v) || v == 0);
    }
    check(isnan(value(&t, "density")) && isnan(value(&t, "max_abs_error")) &&
          isnan(value(&t, "bits_per_element")));
}

BENCH_TEST(deterministic_codecs_have_no_variance)
{
    Bench *b = *state;
    const float x[3] = {1, -2, 0.3f};
    Tally t = measure(b, x, 3, 1, false);
    check(value(&t, "variance") == 0 && isnan(value(&t, "bias_ratio")) && isnan(value(&t, "gain_z")));
    t = measure(b, x, 3, 1, true);
    check(isnan(value(&t, "variance")) && isnan(value(&t, "bias_z")));
}

/* The tallies of three vectors, one of them zero, are added together. The metrics must equal those that the
 * reference gives for one vector made of all three. */
BENCH_TEST(appended_tallies_are_those_of_the_long_vector)
{
    Bench *b = *state;
    enum { A = 1000, C = 20, Z = 40, N = A + C + Z, R = 4 };
    float x[N] = {0}, y[N];
    reference_gradient(x, A, 1);
    for (int i = A; i < A + C; i++)
        x[i] = 0.3f;
    static const size_t begin[] = {0, A, A + C, N};
    Tally total;
    check_ok(tally_open(&total, LEVEL_CELL, R, true, b->a, &b->err), &b->err);
    for (int v = 0; v < 3; v++) {
        const size_t n = begin[v + 1] - begin[v];
        const Tally t = measure_at(b, x + begin[v], n, R, true, 1, radix_magnitude_quantile(x, N, 0.95, 1));
        tally_append(&total, &t);
        reference_decoded(x + begin[v], y + begin[v], n, 0);
    }
    check_ok(radix_wasserstein(x, y, N, NEW(b->a, float, 2 * N), 1, &total.wasserstein, b->a, &b->err),
             &b->err);
    check_known(&total, "pooled");
}

/* Each member of an appended tally that is not a sum over elements: what two tallies make of it. */
BENCH_TEST(members_of_appended_tallies_add_but_for_chances_and_extremes)
{
    Bench *b = *state;
    enum { SUM, PRODUCT, MOST };
    static const struct {
        size_t at;
        int how;
    } members[] = {{offsetof(Tally, n), SUM},             {offsetof(Tally, bytes), SUM},
                   {offsetof(Tally, bytes_min), SUM},     {offsetof(Tally, bytes_max), SUM},
                   {offsetof(Tally, encode), SUM},        {offsetof(Tally, encode_min), SUM},
                   {offsetof(Tally, decode), SUM},        {offsetof(Tally, decode_min), SUM},
                   {offsetof(Tally, encode_spread), SUM}, {offsetof(Tally, decode_spread), SUM},
                   {offsetof(Tally, entropy), SUM},       {offsetof(Tally, entropies), SUM},
                   {offsetof(Tally, entropy_sizes), SUM}, {offsetof(Tally, raw), SUM},
                   {offsetof(Tally, expected), SUM},      {offsetof(Tally, size), SUM},
                   {offsetof(Tally, size_spread), SUM},   {offsetof(Tally, squares), SUM},
                   {offsetof(Tally, weighted), SUM},      {offsetof(Tally, sizes), SUM},
                   {offsetof(Tally, residual2), SUM},     {offsetof(Tally, merge), SUM},
                   {offsetof(Tally, each), SUM},          {offsetof(Tally, merge_spread), SUM},
                   {offsetof(Tally, each_spread), SUM},   {offsetof(Tally, merged), SUM},
                   {offsetof(Tally, merged_spread), SUM}, {offsetof(Tally, early), SUM},
                   {offsetof(Tally, none), PRODUCT},      {offsetof(Tally, own_draws), PRODUCT},
                   {offsetof(Tally, scratch), MOST},      {offsetof(Tally, largest), MOST}};
    Tally total, part[2];
    check_ok(tally_open(&total, LEVEL_RUN, 1, false, b->a, &b->err), &b->err);
    for (size_t k = 0; k < 2; k++) {
        check_ok(tally_open(&part[k], LEVEL_VECTOR, 1, false, b->a, &b->err), &b->err);
        for (size_t i = 0; i < countof(members); i++)
            *(double *)((char *)&part[k] + members[i].at) = k ? 0.75 / (double)(i + 1) : 0.5 * (double)(i + 1);
        tally_append(&total, &part[k]);
    }
    for (size_t i = 0; i < countof(members); i++) {
        const double x = 0.5 * (double)(i + 1), y = 0.75 / (double)(i + 1),
                     v = *(const double *)((const char *)&total + members[i].at);
        check_rel(v, members[i].how == SUM ? x + y : members[i].how == PRODUCT ? x * y : fmax(x, y), 1e-15);
    }
}

/* A vector sent raw is decoded once, but a vector sent by a random codec once per repeat. The tallies of two
 * such vectors can still be added together. */
BENCH_TEST(a_fixed_vector_may_stand_among_random_ones)
{
    Bench *b = *state;
    float x[1000];
    reference_gradient(x, 1000, 1);
    Tally total;
    check_ok(tally_open(&total, LEVEL_CELL, 5, true, b->a, &b->err), &b->err);
    Tally random = measure_at(b, x, 600, 5, true, 1, 0.1);
    random.largest = 2;
    const Tally fixed = measure_at(b, x + 600, 400, 5, false, 1, 0.1);
    tally_append(&total, &random);
    tally_append(&total, &fixed);
    check_rel(value(&total, "mse"), value(&random, "mse") + value(&fixed, "mse"), 1e-14);
    check_rel(value(&total, "variance"), value(&random, "variance"), 1e-14);
    check(value(&total, "max_abs_error") == 2);
    check_rel(value(&total, "density"), 0.6 * value(&random, "density") + 0.4 * value(&fixed, "density"),
              1e-14);
}

BENCH_TEST(thread_counts_do_not_matter)
{
    Bench *b = *state;
    enum { N = 200011 };
    float *x = NEW(b->a, float, N);
    reference_gradient(x, N, 3);
    const Tally one = measure_at(b, x, N, 3, true, 1, 0.1);
    static const int threads[] = {2, 8};
    for (size_t i = 0; i < countof(threads); i++) {
        const Tally many = measure_at(b, x, N, 3, true, threads[i], 0.1);
        for (const Metric *m = metrics; m->name; m++) {
            const double v = metric_value(m, &many), w = metric_value(m, &one);
            check(v == w || (isnan(v) && isnan(w)));
        }
    }
}

static void check_tables(Bench *b, const Kernels *k, const Kernels *base, size_t n)
{
    const double above[THRESHOLDS] = {0.05, 0, NAN};
    float *x = NEW(b->a, float, n), *y = NEW(b->a, float, n);
    float *half = NEW(b->a, float, n), *root = NEW(b->a, float, n), *half_ref = NEW(b->a, float, n),
          *root_ref = NEW(b->a, float, n);
    double sum[E_SUMS], sum_ref[E_SUMS], most, most_ref;
    reference_gradient(x, n, 4);
    for (uint32_t r = 0; r < 3; r++) {
        reference_decoded(x, y, n, r);
        k->spread_add(x, y, n, r + 1, half, root, sum);
        base->spread_add(x, y, n, r + 1, half_ref, root_ref, sum_ref);
        assert_memory_equal(sum, sum_ref, S_STEPS * sizeof *sum);
    }
    assert_memory_equal(half, half_ref, n * sizeof *half);
    assert_memory_equal(root, root_ref, n * sizeof *root);
    k->error_sums(x, y, n, above, sum, &most);
    base->error_sums(x, y, n, above, sum_ref, &most_ref);
    assert_memory_equal(sum, sum_ref, sizeof sum);
    check(most == most_ref);
    k->gradient_sums(x, n, above, sum);
    base->gradient_sums(x, n, above, sum_ref);
    assert_memory_equal(sum, sum_ref, G_SUMS * sizeof *sum);
    k->spread_sums(x, half, root, n, sum);
    base->spread_sums(x, half, root, n, sum_ref);
    assert_memory_equal(sum, sum_ref, S_SUMS * sizeof *sum);
    check(k->sum_gaps(x, y, n) == base->sum_gaps(x, y, n));
}

BENCH_TEST(instruction_sets_add_the_same_sums)
{
    Bench *b = *state;
    static const size_t sizes[] = {0, 1, 15, 16, 17, 4099};
    for (int isa = ISA_BASE + 1; isa < ISA_COUNT; isa++)
        for (size_t s = 0; kernels_of((Isa)isa) && s < countof(sizes); s++)
            check_tables(b, kernels_of((Isa)isa), kernels_of(ISA_BASE), sizes[s]);
}

BENCH_TEST(sizes_and_times_follow_their_definitions)
{
    Tally t = {.level = LEVEL_RUN,
               .repeats = 10,
               .decoded = 1,
               .n = 2000,
               .cells = 2,
               .bytes = 500,
               .bytes_min = 400,
               .bytes_max = 600,
               .encode = 4e-3,
               .encode_min = 2e-3,
               .decode = 1e-3,
               .decode_min = 1e-4,
               .entropy = 3600,
               .raw = 4,
               .residual2 = 9,
               .scratch = 640,
               .expected = NAN};
    double none[1][E_SUMS] = {{0}};
    t.error = none;
    static const struct {
        const char *name;
        double value;
    } expected[] = {
        {"raw_bytes", 4000},     {"bytes", 250},          {"bytes_min", 200},
        {"bytes_max", 300},      {"ratio", 16},           {"ratio16", 8},
        {"bits_per_element", 2}, {"encode_ms", 2},        {"encode_ms_min", 1},
        {"decode_ms", 0.5},      {"decode_ms_min", 0.05}, {"encode_gbps", 2e-3},
        {"decode_gbps", 8e-3},   {"entropy_bits", 1800},  {"coding_efficiency", 0.9},
        {"raw_fallbacks", 2},    {"residual_norm", 3},    {"peak_scratch_bytes", 640},
    };
    for (size_t i = 0; i < countof(expected); i++)
        check_rel_at(value(&t, expected[i].name), expected[i].value, 1e-14, expected[i].name, __FILE__,
                     __LINE__);
    check(isnan(value(&t, "variance_expected")));
    t.n = 8, t.cells = 49, t.bytes = 1;
    check(value(&t, "bits_per_element") == 1); /* 1 / 49 * 49 is not 1 */
    t.bytes = 0;
    check(isnan(value(&t, "ratio")) && isnan(value(&t, "coding_efficiency")));
    check(metric_find("no such metric") == NULL);
}

/* The squares of the largest and of the smallest float32 numbers do not fit in float32, but they fit in
 * double. */
BENCH_TEST(extremes_neither_overflow_nor_vanish)
{
    Bench *b = *state;
    float x[64], y[64];
    static const float scales[] = {3e38f, 1e-45f};
    for (size_t i = 0; i < countof(scales); i++) {
        for (int j = 0; j < 64; j++) {
            x[j] = j % 2 ? scales[i] : -scales[i];
            y[j] = j % 4 ? x[j] : 0;
        }
        Tally t;
        const MeasuredVector s = {
            .x = x, .n = 64, .above = {0}, .threads = 1, .scratch = b->a, .err = &b->err};
        check_ok(tally_open(&t, LEVEL_VECTOR, 1, false, b->a, &b->err), &b->err);
        check_ok(tally_gradient(&t, &s), &b->err);
        check_ok(tally_repeat(&t, &s, 0, y), &b->err);
        check_ok(tally_spread(&t, &s), &b->err);
        check_rel(value(&t, "relative_error"), 0.25, 1e-13);
        check_rel(value(&t, "cosine"), sqrt(0.75), 1e-13);
        check_rel(value(&t, "gain"), 0.75, 1e-13);
        check_rel(value(&t, "sign_agreement"), 0.75, 1e-13);
    }
}

CHECK_ALL(NULL, NULL)
