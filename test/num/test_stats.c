/* test_stats.c -- quantiles and moments against numpy's numbers; samples of time. */
#include "rig/check.h"
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
    cmocka_unit_test(a_sample_calls_until_its_time_is_up),
    cmocka_unit_test(a_failing_call_ends_the_sample),
};

CHECK_MAIN(tests)
