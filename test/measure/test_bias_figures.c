/* test_bias_figures.c -- p-values and standard errors of the measured bias. They are computed from a Tally
 * (sums over repeats) that is filled by hand. The test compares them with their definitions, statistical
 * tables and SciPy. */
#include "math/stats.h"
#include "rig/metrics_rig.h"

#include <math.h>

enum { R = 10 };

static double error[R][E_SUMS];

/* Returns a tally of ten repeats with the squared errors 1 .. 10. */
static Tally tally(void)
{
    Tally t = {.repeats = R, .decoded = R, .cells = 1, .n = 100, .spread_known = true, .expected = NAN};
    for (int r = 0; r < R; r++)
        error[r][E_SQUARES] = r + 1;
    t.error = error;
    t.gradient[G_SQUARES] = 50;
    return t;
}

TEST(a_standard_error_is_the_deviation_over_root_r)
{
    const Tally t = tally();
    /* 82.5 is the sum of squared deviations of 1 .. 10, so the standard error is sqrt(82.5 / 9 / 10) */
    check_rel(sum_se(&t, E_SQUARES), 0.9574271077563381, 1e-12);
}

/* Stands for a metric that is not a sum over elements. For an estimate of all zeros it is 0. */
static double value_of(const Tally *t, size_t r)
{
    return t->error[r][E_DOT];
}

static void set_skewed(void)
{
    for (int r = 0; r < R; r++) {
        error[r][E_DOT] = r + 1 < R ? (r + 1) * (r + 1) : 400;
        error[r][E_NORM] = 1;
    }
}

TEST(skewed_values_have_a_wider_error)
{
    const Tally t = tally();
    set_skewed();
    /* scipy.stats: skew(v, bias=False) = 2.88295, deviation / sqrt(10) (1 + 2 2.88295^2 / 10) */
    check_rel(values_se(&t, value_of), 100.56182643135352, 1e-9);
    for (int r = 0; r < R; r++)
        error[r][E_DOT] = r + 1;
    check_rel(values_se(&t, value_of), 0.9574271077563381, 1e-12); /* not skewed: the deviation / sqrt(10) */
}

/* The first three of ten estimates are all zeros, and 0.3 is the codec's probability of such an estimate. */
TEST(draws_of_zeros_count_as_often_as_the_codec_knows)
{
    Tally t = tally();
    set_skewed();
    for (int r = 0; r < 3; r++)
        error[r][E_DOT] = error[r][E_NORM] = 0;
    t.none = 0.3;
    check_rel(values_se(&t, value_of), 108.99265222155715, 1e-9);
    for (int r = 0; r < R; r++) /* no estimate is all zeros, but 30 % should be: so the mean is uncertain */
        error[r][E_DOT] = error[r][E_NORM] = 1;
    check_rel(values_se(&t, value_of), sqrt(0.7 * 0.3 / 10) * 1.959963984540054 / t_quantile(0.05, 9), 1e-9);
}

/* A few draws may all miss the same rare atoms; only a variance that is known to be 0 is certain. */
TEST(equal_errors_of_all_repeats_may_be_chance)
{
    Tally t = tally();
    for (int r = 0; r < R; r++)
        error[r][E_SQUARES] = 3;
    check(!errors_known(&t));
    t.expected = 0;
    check(errors_known(&t));
    t.expected = NAN;
    error[R - 1][E_SQUARES] = 4;
    check(errors_known(&t));
}

TEST(bias_p_is_the_tail_of_f)
{
    Tally t = tally();
    t.spread[S_M2] = 18; /* variance 2 */
    t.squares = 0.5;     /* nu = variance^2 / squares = 4 / 0.5 = 8 */
    /* F = repeats * bias^2 / variance = 10 * 0.5 / 2 = 2.5, with 8 and 72 degrees of freedom */
    t.spread[S_BIAS] = 0.5;
    check_rel(value(&t, "bias_p"), f_tail(2.5, 8, 72), 1e-12);
    check_rel(value(&t, "bias_p"), 0.018677005281967134, 1e-9); /* scipy.stats.f.sf */
}

/* A factor 1 + b divides b by 1 + b in units of the measured standard error, which it multiplies. A known one stays. */
TEST(what_would_show_adds_both_quantiles)
{
    /* Student's t with nine degrees of freedom: two tails of 1 % together begin at 3.2498, one tail of 10 %
     * at 1.3830. */
    const double b = 0.1 * (3.249836 + 1.383029), more = 0.1 * (3.249836 + 1.383029 * (1 + 1 / sqrt(18)));
    check_rel(bias_detectable(0.1, R - 1, false, 0.01), more / (1 - more), 1e-6);
    check_rel(bias_detectable(0.1, R - 1, true, 0.01), b / (1 - 0.1383029), 1e-6);
    check(isnan(bias_detectable(0.3, R - 1, false, 0.01)) && isnan(bias_detectable(0.1, 5, false, 0.01)));
    /* Known standard error: a tail of 0.5 % of chi-squared with 800 degrees of freedom begins at 2.669655 standard
     * deviations (scipy.stats.chi2), one of 10 % of the normal distribution at 1.281552. */
    check_rel(bias_detectable(0.1, NAN, true, 0.01), 0.1 * (2.669655 + 1.281552) / (1 - 0.1281552), 1e-5);
}

/* Three estimates of two elements: the gradient is (1, 0), the errors are (0, 0), (2, 0) and (1, 3). */
TEST(pairs_of_repeats_show_how_the_variance_varies)
{
    /* the growths of the sum of squared deviations: 1/2 |e2 - e1|^2, 2/3 |e3 - (e1 + e2) / 2|^2 */
    double sums[3][E_SUMS] = {{[E_SQUARES] = 0}, {[E_SQUARES] = 4}, {[E_SQUARES] = 10}}, grown[3] = {0, 2, 6};
    const Tally t = {.repeats = 3, .decoded = 3, .cells = 1, .n = 2, .spread_known = true, .unbiased = true,
                     .expected = NAN, .squares = NAN, .error = sums, .grown = grown, .gradient[G_SQUARES] = 1};
    /* <e2, e1> = 0 and <e3, e1 + e2> = 2 estimate tr C^2 as (0 + 4 / 2) / 2 = 1 */
    check_rel(bias2_se(&t), sqrt(2 * 1 / 6.), 1e-12);
    check_rel(spread_se(&t, 5), sqrt(25 + 2 * 1 / 6.), 1e-12);
}

CHECK_ALL(NULL, NULL)
