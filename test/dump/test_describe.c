/* test_describe.c -- compares statistics of tensors with numpy's.
 *
 * The 35 numbers are x[i] = ((37 i mod 23) - 11) / 8, except x[5] = 0, as float32. The expected statistics were
 * computed by numpy 1.24 in float64: x.min(), .max(), .mean(), .std(), abs(x).sum(), np.linalg.norm(x) and
 * np.histogram(x, bins)[0]; and, with s = np.linalg.svd(x.reshape(7, 5), compute_uv=False), (s**2).sum() /
 * s[0]**2 and s.sum(). */
#include "cmd/bench_inspect.c"
#include "rig/scratch_dir.h"

enum { N = 35 };

static void fill(float x[N])
{
    for (int i = 0; i < N; i++)
        x[i] = (float)(i * 37 % 23 - 11) / 8;
    x[5] = 0;
}

TEST(moments_and_norms_are_numpys)
{
    float x[N];
    fill(x);
    const Description d = describe(x, N);
    check(d.n == N && d.zeros == 3 && d.nonfinite == 0);
    check(d.min == -1.375 && d.max == 1.375 && d.linf == 1.375);
    check_rel(d.mean, -0.010714285714285714, 1e-15);
    check_rel(d.std, 0.81029724956528215, 1e-15);
    check_rel(d.l1, 24.125, 1e-15);
    check_rel(d.l2, 4.7942022276912768, 1e-15);
    check_rel(d.qsgd_budget, 24.125 / 4.7942022276912768, 1e-15);
    check_rel(d.terngrad_budget, 24.125 / 1.375, 1e-15);
}

TEST(spectra_are_numpys)
{
    const double want[] = {3.4193927708404175, 3.2112262502782656, 0.84312736724518211, 0.51893187496075932,
                           0};
    const Shape shape = {2, {7, 5}, N};
    float x[N];
    Arena *a = arena_open(0);
    Error err;
    Spectrum s;
    fill(x);
    const Description d = describe(x, N);
    check_ok(spectrum_take(&s, x, &shape, RESHAPE_PAPER, &d, a, &err), &err);
    check(s.rows == 7 && s.cols == 5 && s.k == 5);
    for (size_t i = 0; i < 5; i++)
        check_near(s.value[i], want[i], 4e-15);
    check_rel(s.stable_rank, 1.9657791316548967, 1e-14);
    check_rel(s.nuclear_norm, 7.9926782633246241, 1e-14);
    check_rel(s.theorem6_left, 766.59486985226317, 1e-14);
    check_rel(s.theorem6_right, 582.015625, 1e-14);
    arena_close(a);
}

/* The singular values of a permuted diagonal matrix are its entries: 2^-i for the first 8, and 1e-3. */
TEST(large_spectra_have_their_leading_values)
{
    enum { SIDE = 1025, FIRST = 8 };
    const Shape shape = {2, {SIDE, SIDE}, SIDE * SIDE};
    Arena *a = arena_open(0);
    Error err;
    Spectrum s;
    float *x = NEW_ZERO(a, float, shape.n);
    for (size_t i = 0; i < SIDE; i++)
        x[i * SIDE + i * 7 % SIDE] = i < FIRST ? ldexpf(1, -(int)i) : 1e-3f;
    const Description d = describe(x, shape.n);
    check_ok(spectrum_take(&s, x, &shape, RESHAPE_PAPER, &d, a, &err), &err);
    check(s.k == SPECTRUM_LEADING && isnan(s.nuclear_norm) && isnan(s.theorem6_left));
    for (size_t i = 0; i < s.k; i++)
        check_rel(s.value[i], i < FIRST ? ldexp(1, -(int)i) : 1e-3, i < FIRST ? 1e-6 : 0.2);
    check_rel(s.stable_rank, d.l2 * d.l2, 1e-9);
    arena_close(a);
}

TEST(histograms_are_numpys)
{
    const uint64_t six[] = {6, 6, 4, 7, 6, 6}, seven[] = {6, 5, 3, 6, 5, 4, 6},
                   ten[] = {5, 2, 4, 2, 3, 5, 4, 3, 3, 4}, tenths[] = {1, 1, 1, 1, 1, 1, 2, 0, 2, 1};
    /* numbers on the edges of the histogram's bins, up to float32 rounding */
    const float edges[] = {.1F, .2F, .3F, .4F, .5F, .6F, .7F, .8F, .9F, 1, 0};
    float x[N];
    uint64_t count[10];
    Histogram h = {.bins = 6, .count = count};
    fill(x);
    histogram_fill(&h, x, N);
    assert_memory_equal(count, six, sizeof six);
    check(histogram_edge(&h, 0) == -1.375 && histogram_edge(&h, 6) == 1.375);
    h.bins = 7;
    histogram_fill(&h, x, N);
    assert_memory_equal(count, seven, sizeof seven);
    h.bins = 10;
    histogram_fill(&h, x, N);
    assert_memory_equal(count, ten, sizeof ten);
    histogram_fill(&h, edges, countof(edges));
    assert_memory_equal(count, tenths, sizeof tenths);
}

TEST(nan_and_infinity_are_counted_and_left_out)
{
    const float x[] = {1, NAN, -3, INFINITY, 0, -INFINITY};
    const Shape shape = shape_vector(countof(x));
    Arena *a = arena_open(0);
    Error err;
    Spectrum s;
    uint64_t count[4];
    Histogram h = {.bins = 4, .count = count};
    const Description d = describe(x, countof(x));
    check(d.nonfinite == 3 && d.zeros == 1 && d.min == -3 && d.max == 1 && d.l1 == 4 && d.linf == 3);
    check_rel(d.mean, -2.0 / 3, 1e-15);
    check(isnan(d.qsgd_budget) && isnan(d.terngrad_budget));
    check_ok(spectrum_take(&s, x, &shape, RESHAPE_PAPER, &d, a, &err), &err);
    check(!s.value && isnan(s.nuclear_norm) && isnan(s.stable_rank) && isnan(s.theorem6_left));
    histogram_fill(&h, x, countof(x));
    check(h.bins == 4 && count[0] == 1 && count[1] == 0 && count[2] == 0 && count[3] == 2);
    arena_close(a);
}

TEST(empty_zero_and_constant_tensors_have_no_wrong_numbers)
{
    const float zeros[4] = {0}, same[3] = {2, 2, 2};
    uint64_t count[5];
    Histogram h = {.bins = 5, .count = count};
    const Description none = describe(zeros, 0), zero = describe(zeros, 4), constant = describe(same, 3);
    check(isnan(none.min) && isnan(none.mean) && isnan(none.std) && none.l2 == 0 && none.linf == 0);
    check(zero.zeros == 4 && zero.l2 == 0 && zero.std == 0 && isnan(zero.qsgd_budget));
    check(constant.std == 0 && constant.mean == 2 && constant.terngrad_budget == 3);
    histogram_fill(&h, zeros, 0);
    check(h.bins == 0);
    h.bins = 5;
    histogram_fill(&h, same, 3);
    check(h.bins == 1 && count[0] == 3 && histogram_edge(&h, 0) == 2 && histogram_edge(&h, 1) == 2);
}

CHECK_ALL(scratch_open, scratch_close)
