/* test_stats.c -- compares with published numbers: quantiles, moments, tails of the F and t distributions,
 * p-values of multiple tests, and summaries of measured times. */
#include "rig/check.h"
#include "base/rng.h"
#include "math/stats.c"
#include "measure/timing.h"

TEST(quantiles_are_numpys)
{
    double v[] = {3, 1, 4, 1, 5, 9, 2, 6};
    check_rel(stats_median(v, 8), 3.5, 0);
    check_rel(stats_quantile(v, 8, 0), 1, 0);
    check_rel(stats_quantile(v, 8, 0.1), 1, 0);
    check_rel(stats_quantile(v, 8, 0.95), 7.95, 1e-15);
    check_rel(stats_quantile(v, 8, 1), 9, 0);
    check_rel(stats_quantile(v, 1, 0.95), 1, 0);
    check(isnan(stats_quantile(v, 0, 0.5)));
}

TEST(moments_survive_a_large_mean)
{
    Moments m = {0};
    check(isnan(moments_variance(&m)));
    for (int i = 1; i <= 5; i++)
        moments_add(&m, 1e9 + i);
    check_rel(m.mean, 1e9 + 3, 1e-15);
    check_rel(moments_variance(&m), 2.5, 1e-12);
}

/* scipy.stats.skew(v, bias=False) of the squares of 1 .. 9 and of 400 */
TEST(skewness_is_scipys)
{
    Moments m = {0};
    moments_add(&m, 1);
    moments_add(&m, 4);
    check(moments_skewness(&m) == 0);
    for (int i = 3; i <= 10; i++)
        moments_add(&m, i < 10 ? i * i : 400);
    check_rel(moments_skewness(&m), 2.882952053074641, 1e-13);
}

TEST(equal_values_are_not_skewed)
{
    Moments m = {0};
    for (int i = 0; i < 5; i++)
        moments_add(&m, 0.1);
    check(moments_skewness(&m) == 0);
}

TEST(incomplete_beta_is_scipys)
{
    static const struct {
        double a, b, x, value, tol;
    } known[] = {
        {0.5, 0.5, 0.3, 0.3690101195655454, 1e-13},   {2, 3, 0.4, 0.5248, 1e-13},
        {1e-3, 5, 0.1, 0.999409219310295, 1e-13},     {300, 20, 0.95, 0.8211940072460778, 1e-12},
        {1e5, 1e5, 0.5005, 0.6726394153507925, 1e-9},
    };
    for (size_t i = 0; i < countof(known); i++)
        check_rel(beta_inc(known[i].a, known[i].b, known[i].x), known[i].value, known[i].tol);
    check_rel(beta_inc(2, 3, 0), 0, 0);
    check_rel(beta_inc(2, 3, 1), 1, 0);
}

TEST(f_tails_are_scipys)
{
    static const struct {
        double f, d1, d2, tail, tol;
    } known[] = {
        {1.2, 3, 7, 0.3774349251172281, 1e-12},        {1.01, 50000, 450000, 0.06728691021425379, 1e-8},
        {3.5, 2.5, 10.25, 0.06211308534036298, 1e-12}, {0.3, 120, 1080, 0.9999999999999755, 1e-13},
        {1.0008, 1e7, 9e7, 0.04487817102979347, 1e-6},
    };
    for (size_t i = 0; i < countof(known); i++)
        check_rel(f_tail(known[i].f, known[i].d1, known[i].d2), known[i].tail, known[i].tol);
}

/* For F-distributed values, f_tail is uniform on [0, 1]. The test computes the Kolmogorov distance between n
 * = 2000 values of f_tail and the uniform distribution. It exceeds 2.3 / sqrt(n) with probability 5e-5. */
TEST(f_tails_of_f_variables_are_uniform)
{
    enum { N = 2000 };
    static double tail[N];
    const Rng rng = rng_open(3, 0, 0, 0, rng_hash("f"));
    for (uint64_t i = 0; i < N; i++) {
        double top = 0, bottom = 0;
        for (uint64_t k = 0; k < 5; k++)
            top += pow(rng_normal(&rng, USE_TEST, 20 * i + k), 2);
        for (uint64_t k = 5; k < 20; k++)
            bottom += pow(rng_normal(&rng, USE_TEST, 20 * i + k), 2);
        tail[i] = f_tail(top / 5 / (bottom / 15), 5, 15);
    }
    stats_sort(tail, N);
    for (int i = 0; i < N; i++)
        check_near(tail[i], (i + 0.5) / N, 2.3 / sqrt(N));
}

/* Compares the two-sided tails of Student's t distribution with closed forms for 1, 2 and 3 degrees of
 * freedom. Also compares them with the F distribution: the square of t with d degrees of freedom has the
 * distribution F(1, d). */
TEST(t_tails_are_their_closed_forms)
{
    static const double t[] = {0.01, 0.5, 1, 2.5, 12, 300};
    for (size_t i = 0; i < countof(t); i++) {
        const double u = t[i] / sqrt(3);
        check_rel(t_tails(t[i], 1), 2 / M_PI * atan(1 / t[i]), 1e-12);
        check_rel(t_tails(t[i], 2), 2 / (2 + t[i] * t[i] + t[i] * sqrt(2 + t[i] * t[i])), 1e-12);
        check_near(t_tails(t[i], 3), 1 - 2 / M_PI * (atan(u) + u / (1 + u * u)), 1e-14);
        check_rel(t_tails(-t[i], 9.5), f_tail(t[i] * t[i], 1, 9.5), 1e-12);
        check_rel(t_quantile(t_tails(t[i], 4.5), 4.5), t[i], 1e-7);
    }
    check_rel(t_quantile(0.05, 9), 2.262157162740992, 1e-9); /* from printed tables */
    check_rel(t_quantile(0.01, 99), 2.626405457, 1e-8);
}

/* Compares Holm's adjusted p-values with R's p.adjust, also for equal p-values, and if an adjusted value is
 * cut to 1. */
TEST(holms_values_are_those_of_r)
{
    static const double p[] = {0.005, 0.01, 0.03, 0.04}, adjusted[] = {0.02, 0.03, 0.06, 0.06};
    static const double ties[] = {0.3, 0.3, 0.9}, large[] = {0.6, 0.7, 0.8};
    for (size_t i = 0; i < 4; i++)
        check_rel(stats_holm(p, 4, p[i]), adjusted[i], 1e-15);
    check_rel(stats_holm(ties, 3, 0.3), 0.9, 1e-15);
    check_rel(stats_holm(ties, 3, 0.9), 0.9, 1e-15);
    check(stats_holm(large, 3, 0.6) == 1 && stats_holm(large, 3, 0.8) == 1);
}

/* The median of 25 normal numbers has a variance about 2 % below pi / 2 / 25. `stats_median_variance` estimates
 * this variance from 25 numbers. The mean of 4000 such estimates must be within 15 % of the variance of the
 * 4000 medians. */
TEST(the_variance_of_a_median_is_the_normal_laws)
{
    enum { N = 25, TRIES = 4000 };
    const Rng rng = rng_open(4, 0, 0, 0, rng_hash("median"));
    Moments medians = {0}, estimates = {0};
    for (uint64_t k = 0; k < TRIES; k++) {
        double v[N];
        for (uint64_t i = 0; i < N; i++)
            v[i] = rng_normal(&rng, USE_TEST, N * k + i);
        moments_add(&medians, stats_median(v, N));
        moments_add(&estimates, stats_median_variance(v, N));
    }
    check_rel(moments_variance(&medians), M_PI / 2 / N, 0.15);
    check_rel(estimates.mean, moments_variance(&medians), 0.15);
}

static Status count_calls(void *arg)
{
    ++*(size_t *)arg;
    return OK;
}

static Status fail_third(void *arg)
{
    return ++*(size_t *)arg == 3 ? ERR_NUMERIC : OK;
}

TEST(a_sample_calls_until_its_time_is_up)
{
    size_t calls = 0;
    double seconds;
    check(time_loop(count_calls, &calls, 0, &seconds) == OK);
    check(calls == 1 && seconds >= 0);
    check(time_loop(count_calls, &calls, 1e-4, &seconds) == OK);
    check(seconds * (double)(calls - 1) >= 0.999e-4);
}

TEST(a_failing_call_ends_the_sample)
{
    size_t calls = 0;
    double seconds = -1;
    check(time_loop(fail_third, &calls, 60, &seconds) == ERR_NUMERIC);
    check(calls == 3 && seconds < 0);
}

CHECK_ALL(NULL, NULL)
