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

TEST(a_clock_runs_where_a_time_is_shown_or_sorted_by)
{
    check(timed(NULL, NULL));
    check(timed(NULL, "bytes"));
    check(timed("encode_ms", NULL));
    check(timed("bytes,decode_gbps,mse", NULL));
    check(timed("mse,bytes,decode_ms_min", "mse"));
    check(timed("bytes", "encode_ms"));
    check(timed("bytes", "decode_ms:desc"));
}

TEST(it_rests_where_none_is)
{
    check(!timed("bytes", NULL));
    check(!timed("bytes,mse,rate,compressor", "rel_l2:desc"));
    check(!timed("gain", "gain_z"));
}

TEST(times_of_the_commands_own_want_it_too)
{
    const View v = {.metrics = "bytes"};
    check(view_times(&v, merge_fields) && !view_times(&v, target_fields) && !view_times(&v, (OwnFields){0}));
}

/* The tally has the sums of two cells; times are printed in milliseconds. */
TEST(a_merge_has_the_means_of_its_cells)
{
    static const char *const name[] = {"qsgd"};
    static const struct {
        const char *field;
        double value;
    } rows[] = {{"merge_ms", 1.5}, {"decode_each_ms", 2.5}, {"merge_ms_se", 1}, {"decode_each_ms_se", 1.5}, {"bytes_up", 300},
                {"bytes_merged", 100}, {"workers", 8}, {"synthetic", 7}};
    Vector v = {.name = "x", .shape = {1, {8}, 8}};
    const VectorList list = {.item = &v, .count = 1, .elements = 8, .largest = 8};
    Record record = {.vector = &v, .vectors = 1};
    Results r;
    Error err;
    Arena *a = arena_open(0);
    check_ok(results_open(&r, &list, name, 1, 1, 1, merge_fields, a, &err), &err);
    check_ok(tally_open(&record.tally, LEVEL_VECTOR, 1, true, a, &err), &err);
    record.tally.cells = 2;
    record.tally.merge = 3e-3, record.tally.each = 5e-3;
    record.tally.merge_spread = 4e-6, record.tally.each_spread = 9e-6;
    record.tally.bytes = 600, record.tally.merged = 200;
    merge_fill(&r, &record, 8, "allgather", 7, false);
    for (size_t i = 0; i < countof(rows); i++)
        check_rel(results_number(&r, 0, 0, rows[i].field), rows[i].value, 1e-12);
    arena_close(a);
}

TEST(names_of_no_metric_are_refused)
{
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

CHECK_ALL(NULL, NULL)
