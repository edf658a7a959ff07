/* test_view.c -- a View is the choice of metrics to print. Tests that compare refuses unknown metrics, and
 * that it measures times only if a chosen metric needs them. */
#include "rig/check.h"
#include "report/report_compare.h"

static bool timed(const char *list, const char *sort)
{
    const View v = {.metrics = list, .sort = sort};
    Error err;
    check_ok(view_check(&v, sweep_fields, &err), &err);
    return view_times(&v, sweep_fields);
}

static void a_clock_runs_where_a_time_is_shown_or_sorted_by(void **state)
{
    (void)state;
    check(timed(NULL, NULL));
    check(timed(NULL, "bytes"));
    check(timed("encode_ms", NULL));
    check(timed("bytes,decode_gbps,mse", NULL));
    check(timed("mse,bytes,decode_ms_min", "mse"));
    check(timed("bytes", "encode_ms"));
    check(timed("bytes", "decode_ms:desc"));
}

static void it_rests_where_none_is(void **state)
{
    (void)state;
    check(!timed("bytes", NULL));
    check(!timed("bytes,mse,rate,compressor", "rel_l2:desc"));
    check(!timed("gain", "gain_z"));
}

static void times_of_the_commands_own_want_it_too(void **state)
{
    (void)state;
    const View v = {.metrics = "bytes"};
    check(view_times(&v, merge_fields) && !view_times(&v, target_fields) && !view_times(&v, (OwnFields){0}));
}

static void names_of_no_metric_are_refused(void **state)
{
    (void)state;
    static const struct {
        View v;
        const char *why;
    } rows[] = {{{.metrics = "bytez"}, "(did you mean bytes?)"},
                {{.metrics = "bytes,"}, "no metric is called \"\""},
                {{.metrics = "bytes", .sort = "pareto:up"}, "want FIELD or FIELD:desc"},
                {{.sort = "compressor"}, "--sort: no metric is called \"compressor\""},
                {{.metrics = "workers"}, "no metric is called \"workers\""}};
    Error err;
    for (size_t i = 0; i < countof(rows); i++)
        check(view_check(&rows[i].v, sweep_fields, &err) == ERR_USAGE && strstr(err.text, rows[i].why));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_clock_runs_where_a_time_is_shown_or_sorted_by),
    cmocka_unit_test(it_rests_where_none_is),
    cmocka_unit_test(times_of_the_commands_own_want_it_too),
    cmocka_unit_test(names_of_no_metric_are_refused),
};

CHECK_MAIN(tests)
