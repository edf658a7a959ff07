/* test_stats.c -- quantiles, moments and the tail of F against scipy 1.10's numbers. */
#include "rig/check.h"
#include "base/rng.h"
#include "num/stats.h"
#include "measure/timing.h"

static void quantiles_are_numpys(void **state)
{
    (void)state;
    double v[] = {3, 1, 4, 1, 5, 9, 2, 6};
    check_rel(stats_median(v, 8), 3.5, 0);
    check_rel(stats_quantile(v, 8, 0), 1, 0);
    check_rel(stats_quantile(v, 8, 0.1), 1, 0);
    check_rel(stats_quantile(v, 8, 0.95), 7.95, 1e-15);
    check_rel(stats_quantile(v, 8, 1), 9, 0);
    check_rel(stats_quantile(v, 1, 0.95), 1, 0);
    check(isnan(stats_quantile(v, 0, 0.5)));
}

static void moments_survive_a_large_mean(void **state)
{
    (void)state;
    Moments m = {0};
    check(isnan(moments_variance(&m)));
    for (int i = 1; i <= 5; i++)
        moments_add(&m, 1e9 + i);
    check_rel(m.mean, 1e9 + 3, 1e-15);
    check_rel(moments_variance(&m), 2.5, 1e-12);
}

static void incomplete_beta_is_scipys(void **state)
{
    (void)state;
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

static void f_tails_are_scipys(void **state)
{
    (void)state;
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

/* Kolmogorov's distance of 2000 values f_tail(F) from uniform; 2.3 / sqrt(n) is exceeded 5 times in 10^5. */
static void f_tails_of_f_variables_are_uniform(void **state)
{
    (void)state;
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

static Status count_calls(void *arg)
{
    ++*(size_t *)arg;
    return OK;
}

static Status fail_third(void *arg)
{
    return ++*(size_t *)arg == 3 ? ERR_NUMERIC : OK;
}

static void a_sample_calls_until_its_time_is_up(void **state)
{
    (void)state;
    size_t calls = 0;
    double seconds;
    check(time_loop(count_calls, &calls, 0, &seconds) == OK);
    check(calls == 1 && seconds >= 0);
    check(time_loop(count_calls, &calls, 1e-4, &seconds) == OK);
    check(seconds * (double)(calls - 1) >= 0.999e-4);
    check(sample_least() >= 1e-3 && sample_least() >= 100e-9);
}

static void a_failing_call_ends_the_sample(void **state)
{
    (void)state;
    size_t calls = 0;
    double seconds = -1;
    check(time_loop(fail_third, &calls, 60, &seconds) == ERR_NUMERIC);
    check(calls == 3 && seconds < 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(quantiles_are_numpys),
    cmocka_unit_test(moments_survive_a_large_mean),
    cmocka_unit_test(incomplete_beta_is_scipys),
    cmocka_unit_test(f_tails_are_scipys),
    cmocka_unit_test(f_tails_of_f_variables_are_uniform),
    cmocka_unit_test(a_sample_calls_until_its_time_is_up),
    cmocka_unit_test(a_failing_call_ends_the_sample),
};

CHECK_MAIN(tests)
