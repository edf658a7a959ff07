/* test_standard_errors.c -- tests standard errors of metrics and expected sizes against their definitions. The
 * standard error of a mean over repeats must agree with the standard deviation of repeats that are measured
 * singly. Also tests degrees of freedom. */
#include "rig/metrics_rig.h"
#include "compress/compressor.h"
#include "measure/compare_parts.h"
#include "math/radix.h"
#include "math/stats.h"
#include "reference/vectors.h"

/* ---- sizes and times ---- */

BENCH_TEST(sizes_and_their_errors_follow_their_definitions)
{
    static const struct {
        const char *name;
        double value;
    } want[] = {{"bytes_expected", 240},
                {"bits_per_element_expected", 8 * 480. / 2000},
                {"bytes_expected_se", 0.6},
                {"bits_per_element_expected_se", 8 * 1.2 / 2000},
                {"ratio_expected", 8000 / 480.},
                {"ratio_expected_se", 8000 / 480. * 1.2 / 480},
                {"bytes_se", 1},
                {"bits_per_element_se", 8 * 2. / 2000},
                {"ratio_se", 16 * 2 / 500.},
                {"encode_ms_se", 0.01},
                {"decode_ms_se", 0.025},
                {"second_moment_expected", 13}};
    double none[1][E_SUMS] = {{0}};
    Tally t = {.repeats = 25,
               .decoded = 1,
               .n = 2000,
               .cells = 2,
               .bytes = 500,
               .size = 480,
               .size_spread = 36,
               .sizes = 100,
               .encode_spread = 4e-10,
               .decode_spread = 25e-10,
               .expected = 4,
               .unbiased = true,
               .spread_known = true,
               .gradient[G_SQUARES] = 9,
               .error = none};
    for (size_t i = 0; i < countof(want); i++)
        check_rel_at(value(&t, want[i].name), want[i].value, 1e-12, want[i].name, __FILE__, __LINE__);
    t.unbiased = false;
    check(isnan(value(&t, "second_moment_expected")));
    t.expected = 0;
    check(value(&t, "second_moment_expected") == 9);
}

/* ---- means over repeats ---- */

enum { N = 1000, R = 7 };

static Tally measure(Bench *b, const float *x, size_t first, size_t repeats)
{
    Tally t;
    MeasuredVector s = {
        .x = x, .n = N, .above = {radix_magnitude_quantile(x, N, 0.95, 1)}, .scratch = b->a, .err = &b->err};
    float *y = NEW(b->a, float, N);
    s.threads = 1;
    s.half = repeats > 1 ? NEW(b->a, float, N) : NULL;
    s.root = repeats > 1 ? NEW(b->a, float, N) : NULL;
    check_ok(tally_open(&t, LEVEL_VECTOR, repeats, repeats > 1, b->a, &b->err), &b->err);
    check_ok(tally_gradient(&t, &s), &b->err);
    for (size_t r = 0; r < repeats; r++) {
        double distance;
        reference_decoded(x, y, N, (uint32_t)(first + r));
        check_ok(tally_repeat(&t, &s, r, y), &b->err);
        check_ok(radix_wasserstein(x, y, N, NEW(b->a, float, 2 * N), 1, &distance, b->a, &b->err), &b->err);
        moments_add(&t.distances, distance);
    }
    check_ok(tally_spread(&t, &s), &b->err);
    t.expected = NAN;
    t.along_known = t.signs_known = false;
    return t;
}

/* Returns the standard deviation of a metric over repeats. If `widened`, it is multiplied by 1 + 2 G^2 / R for
 * the skewness G. */
static double deviation(Bench *b, const float *x, const char *metric, bool widened)
{
    double v[R], mean = 0, squares = 0, cubes = 0;
    for (size_t r = 0; r < R; r++) {
        const Tally one = measure(b, x, r, 1);
        v[r] = value(&one, metric);
        mean += v[r] / R;
    }
    for (size_t r = 0; r < R; r++)
        squares += (v[r] - mean) * (v[r] - mean);
    for (size_t r = 0; r < R; r++)
        cubes += pow(v[r] - mean, 3);
    const double sd = sqrt(squares / (R - 1)), skewness = R * cubes / ((R - 1) * (R - 2) * pow(sd, 3));
    return sd * (widened ? 1 + 2 * skewness * skewness / R : 1);
}

BENCH_TEST(standard_errors_are_deviations_of_single_repeats_over_root_r)
{
    Bench *b = *state;
    static const struct {
        const char *name;
        bool widened;
    } cases[] = {{"mse", true},
                 {"relative_error", true},
                 {"gain", false},
                 {"gain_l1", false},
                 {"wasserstein_mean", true},
                 {"cosine", true},
                 {"second_moment", true},
                 {"rel_l1", true},
                 {"elem_error", true},
                 {"elem_error_big", true},
                 {"elem_error_pos", true},
                 {"elem_error_neg", true},
                 {"sign_agreement", true},
                 {"density", true},
                 {"elem_error_small", true}};
    float x[N];
    reference_gradient(x, N, 1);
    Tally t = measure(b, x, 0, R);
    for (size_t i = 0; i < countof(cases); i++) {
        char name[40];
        snprintf(name, sizeof name, "%s_se", cases[i].name);
        check_rel_at(value(&t, name), deviation(b, x, cases[i].name, cases[i].widened) / sqrt(R), 1e-8, name,
                     __FILE__, __LINE__);
    }
    /* by the delta method, as rel_l2 is the root of relative_error */
    check_rel(value(&t, "rel_l2_se"), value(&t, "relative_error_se") / (2 * value(&t, "rel_l2")), 1e-12);
    t.signs_known = true; /* the elements' errors are independent, so `squares` is the trace of C^2 */
    const double mse_se = deviation(b, x, "mse", true) / sqrt(R);
    check_rel(value(&t, "variance_se"), sqrt(mse_se * mse_se + 2 * t.squares / (R * (R - 1.0))), 1e-8);
}

static double too_low(const Tally *t, size_t r)
{
    return t->error[r][E_UNDERS] > 0 ? t->error[r][E_UNDER] / t->error[r][E_UNDERS] : NAN;
}

/* Two of five estimates of an element are too low, by a half and by a quarter, and only these two have a value
 * of elem_error_pos. For two values, Student's t has one degree of freedom and the quantile 12.706. The
 * standard error is widened by this quantile over 2.776, the quantile for five repeats. */
BENCH_TEST(a_class_that_is_empty_in_some_repeats_has_a_wider_interval)
{
    Bench *b = *state;
    static const float x = 1, y[5] = {0.5f, 2, 0.75f, 2, 2};
    float half, root;
    Tally t;
    const MeasuredVector s = {
        .x = &x, .n = 1, .half = &half, .root = &root, .threads = 1, .scratch = b->a, .err = &b->err};
    check_ok(tally_open(&t, LEVEL_VECTOR, 5, true, b->a, &b->err), &b->err);
    check_ok(tally_gradient(&t, &s), &b->err);
    for (size_t r = 0; r < 5; r++)
        check_ok(tally_repeat(&t, &s, r, &y[r]), &b->err);
    check_ok(tally_spread(&t, &s), &b->err);
    const double se = fabs(0.5 - 0.25) / 2; /* half the difference of the two values */
    check_rel(values_se(&t, too_low), se * 12.706204736174694 / 2.7764451051977996, 1e-8);
}

/* The products <h, g> of estimate and gradient vary over the repeats with the variance 1/3. If the closed form
 * of this variance is three times as large, the interval of the cosine is wider by the factor sqrt(3). If it is
 * a hundred times as large, the factor is only 2. If it is half as large, the interval does not change. */
BENCH_TEST(an_unseen_variance_along_the_gradient_widens_the_cosine)
{
    static double error[4][E_SUMS];
    static const struct {
        double weighted, factor;
    } cases[] = {{0, 1}, {0.5 / 3, 1}, {1, 1.7320508075688772}, {100. / 3, 2}};
    for (int r = 0; r < 4; r++) {
        error[r][E_DOT] = 1 + r % 2;
        error[r][E_NORM] = 1 + r;
    }
    Tally t = {.repeats = 4,
               .decoded = 4,
               .cells = 1,
               .n = 1,
               .spread_known = true,
               .gradient[G_SQUARES] = 9,
               .error = error};
    const double plain = value(&t, "cosine_se");
    check(plain > 0);
    for (size_t i = 0; i < countof(cases); i++) {
        t.weighted = cases[i].weighted;
        check_rel(value(&t, "cosine_se"), cases[i].factor * plain, 1e-12);
    }
}

/* Where a codec's variance in closed form is four times that of the repeats, its rare draws are missing from them: the
 * error of the gain along the signs doubles. A closed form below the measured variance changes nothing. */
BENCH_TEST(a_variance_that_the_repeats_lack_widens_the_gain)
{
    static double error[4][E_SUMS];
    for (int r = 0; r < 4; r++) {
        error[r][E_SIGNED] = 1 + r % 2;
        error[r][E_SQUARES] = 1 + r;
    }
    Tally t = {.repeats = 4,
               .decoded = 4,
               .cells = 1,
               .n = 1,
               .spread_known = true,
               .expected = NAN,
               .spread[S_M2] = 6,
               .gradient[G_MAGNITUDES] = 3,
               .error = error};
    const double plain = value(&t, "gain_l1_se"), p = value(&t, "gain_l1_p");
    check_rel(plain, sqrt(1 / 3. / 4) / 3, 1e-12);
    t.expected = 0.5 * 6 / 3;
    check(value(&t, "gain_l1_se") == plain && value(&t, "gain_l1_p") == p);
    t.expected = 4 * 6 / 3;
    check_rel(value(&t, "gain_l1_se"), 2 * plain, 1e-12);
    check(value(&t, "gain_l1_p") > p);
}

/* Where a codec knows that half of its draws are all zeros and the others equal each other, the standard error of a mean is
 * the difference of its two values times a factor that is the same for every metric. */
BENCH_TEST(draws_of_all_or_nothing_have_one_factor)
{
    Bench *b = *state;
    static const char *const names[] = {"second_moment",    "rel_l1",         "elem_error",     "elem_error_big",
                                        "elem_error_small", "sign_agreement", "relative_error", "density"};
    float x[N], y[N], half[N], root[N], zeros[N] = {0};
    Tally t, all[2];
    MeasuredVector s = {.x = x, .n = N, .threads = 1, .scratch = b->a, .err = &b->err};
    reference_gradient(x, N, 1);
    reference_decoded(x, y, N, 0);
    s.above[LEVEL_VECTOR] = radix_magnitude_quantile(x, N, 0.95, 1);
    for (size_t k = 0; k < 2; k++) {
        check_ok(tally_open(&all[k], LEVEL_VECTOR, 1, false, b->a, &b->err), &b->err);
        check_ok(tally_gradient(&all[k], &s), &b->err);
        check_ok(tally_repeat(&all[k], &s, 0, k ? y : zeros), &b->err);
    }
    s.half = half;
    s.root = root;
    check_ok(tally_open(&t, LEVEL_VECTOR, 4, true, b->a, &b->err), &b->err);
    check_ok(tally_gradient(&t, &s), &b->err);
    for (size_t r = 0; r < 4; r++)
        check_ok(tally_repeat(&t, &s, r, r % 2 ? y : zeros), &b->err);
    check_ok(tally_spread(&t, &s), &b->err);
    t.none = 0.5;
    double factor = NAN;
    for (size_t i = 0; i < countof(names); i++) {
        char se[40];
        snprintf(se, sizeof se, "%s_se", names[i]);
        const double now = value(&t, se) / fabs(value(&all[1], names[i]) - value(&all[0], names[i]));
        check(now > 0);
        if (i)
            check_rel_at(now, factor, 1e-9, names[i], __FILE__, __LINE__);
        factor = now;
    }
}

/* A payload whose entropy is always the same share of its bytes has no uncertain efficiency, however its size varies. */
BENCH_TEST(a_constant_share_of_entropy_is_certain)
{
    double varied[2][E_SUMS] = {{[E_SQUARES] = 1}, {[E_SQUARES] = 2}};
    Tally t = {.repeats = 25,
               .decoded = 2,
               .n = 2000,
               .cells = 1,
               .bytes = 500,
               .entropy = 3000,
               .sizes = 100,
               .entropies = 36 * 100,
               .entropy_sizes = 6 * 100,
               .expected = NAN,
               .spread_known = true,
               .error = varied};
    check(value(&t, "coding_efficiency") == 0.75 && !(value(&t, "coding_efficiency_se") > 0));
    t.entropy_sizes = 0; /* independent: the relative errors add in squares */
    check_rel(value(&t, "coding_efficiency_se"), 0.75 * hypot(60. / 3000, 10. / 500) / 5, 1e-12);
}

/* All repeats of an unbiased codec with rare atoms may be all zeros. Then they do not show how its results
 * vary. */
BENCH_TEST(equal_repeats_of_a_codec_with_variance_have_no_standard_error)
{
    static double error[3][E_SUMS] = {{[E_SQUARES] = 4}, {[E_SQUARES] = 4}, {[E_SQUARES] = 4}};
    static const char *const names[] = {"bytes_se", "bytes_expected_se", "relative_error_se", "density_se"};
    Tally t = {.repeats = 3,
               .decoded = 3,
               .cells = 1,
               .n = 1,
               .bytes = 3,
               .size = 3,
               .spread_known = true,
               .expected = 9,
               .gradient[G_SQUARES] = 4,
               .error = error};
    for (size_t i = 0; i < countof(names); i++)
        check(isnan(value(&t, names[i])));
    t.expected = 0;
    t.fixed_size = t.size_known = true;
    for (size_t i = 0; i < countof(names); i++)
        check(value(&t, names[i]) == 0);
}

/* ---- degrees of freedom ---- */

/* Nine gains of 1 and one of 2 have the excess kurtosis 10 * 0.657 / 0.81 - 3. So their variance has 2.727
 * degrees of freedom, not 9. The test statistic t is 1, and its p-value was computed by SciPy. */
BENCH_TEST(long_tails_leave_few_degrees_of_freedom)
{
    static double error[10][E_SUMS];
    Tally t = {.repeats = 10,
               .decoded = 10,
               .cells = 1,
               .n = 1,
               .spread_known = true,
               .expected = NAN,
               .spread[S_M2] = 0.9,
               .gradient[G_SQUARES] = 1,
               .error = error};
    for (int r = 0; r < 10; r++)
        error[r][E_DOT] = 1 + (error[r][E_SQUARES] = r == 0);
    check_rel(value(&t, "gain_p"), 0.3975997354901494, 1e-6);
}

/* Each of 100,000 elements has a variance v. Four repeats of normal numbers give an estimate of the sum of
 * v^2. It must be right within 4 %, which is seven standard deviations. */
BENCH_TEST(the_sum_of_squared_variances_is_unbiased)
{
    Bench *b = *state;
    enum { MANY = 100000 };
    float *x = NEW_ZERO(b->a, float, MANY), *y = NEW(b->a, float, MANY);
    MeasuredVector s = {.x = x, .n = MANY, .threads = 1, .scratch = b->a, .err = &b->err};
    s.half = NEW(b->a, float, MANY);
    s.root = NEW(b->a, float, MANY);
    Tally t;
    check_ok(tally_open(&t, LEVEL_VECTOR, 4, true, b->a, &b->err), &b->err);
    check_ok(tally_gradient(&t, &s), &b->err);
    for (size_t r = 0; r < 4; r++) {
        const Rng rng = rng_open(3, r, 0, 0, 0);
        rng_normals(&rng, USE_TEST, 0, MANY, 2, y);
        check_ok(tally_repeat(&t, &s, r, y), &b->err);
    }
    check_ok(tally_spread(&t, &s), &b->err);
    check_rel(t.squares, 16. * MANY, 0.04);
}

static ErrorLaw two_atoms(const Call *c, const float *x, AtomMoments *m)
{
    (void)c;
    (void)x;
    *m = (AtomMoments){.squares = 5, .weighted = 9}; /* variances 1 and 2, of atoms of magnitudes 1 and 2 */
    return ATOMWISE;
}

/* bias_ratio has the F distribution with nu and nu (R - 1) degrees of freedom. If v are the variances of the
 * atoms, nu = (sum v)^2 / sum v^2. */
BENCH_TEST(atoms_give_the_bias_its_degrees_of_freedom)
{
    Bench *b = *state;
    const Compressor ops = {.name = "atoms", .moments = two_atoms};
    const Codec codec = {.ops = &ops};
    const Shape shape = shape_vector(3);
    const Call call = {.self = &codec, .shape = &shape, .scratch = b->a, .err = &b->err};
    const float x[3] = {2, 0, 0};
    Tally t = {.repeats = R,
               .decoded = R,
               .cells = 1,
               .n = 3,
               .spread_known = true,
               .expected = 3,
               .gradient[G_SQUARES] = 4,
               .spread[S_M2] = 3 * (R - 1),
               .spread[S_BIAS] = 1,
               .spread[S_BIAS_DOT] = 0.6};
    trial_moments(&call, x, true, &t);
    const double nu = 9 / 5.;
    check_rel(value(&t, "bias_z"), (R * 1 / 3. - 1) / sqrt(2 * R / ((R - 1) * nu)), 1e-12);
    /* the gain's variance is 9 / 16 in one repeat */
    check_rel(value(&t, "gain_z"), 0.15 / sqrt(9 / 16. / R), 1e-12);
}

CHECK_ALL(NULL, NULL)
