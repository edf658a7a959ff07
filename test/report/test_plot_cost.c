/* test_plot_cost.c -- figures of the results of the command cost: which rows they draw, in which order and
 * under which names. */
#include "rig/check.h"
#include "report/plot.h"

static Arena *a;
static Error err;

static int open_arena(void **state)
{
    a = arena_open(0);
    return 0;
}

static int close_arena(void **state)
{
    arena_close(a);
    return 0;
}

enum { WORKERS = 0, TOTAL = 5, BYTES = 6, EVEN = 9, MEASURED = 12, PAYS = 13, NAME, COLUMNS };

static Status pick(const char *text, Value **rows, size_t *count)
{
    Csv csv;
    check_ok(csv_parse(&csv, "test", text, strlen(text), a, &err), &err);
    return plot_rows(&plot_iteration_time, &csv, rows, count, a, &err);
}

#define HEAD                                                                                                 \
    "compressor,workers,topology,link,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays," \
    "bytes_up\n"

static void check_row(const Value *row, const char *name, double workers, double total)
{
    assert_string_equal(row[NAME].text, name);
    check(row[WORKERS].real == workers && row[TOTAL].real == total);
}

static void compressors_stand_together_from_few_workers_to_many(void **state)
{
    Value *rows;
    size_t count;
    check_ok(pick(HEAD "none,4,ring,lan1g,1,2,3,4,10,,,400\n"
                       "\"qsgd:bits=1,bucket=8\",4,allgather,lan1g,1,1,1,1,4,0.5,below,40\n"
                       "none,2,ring,lan1g,1,2,3,4,11,,,400\n"
                       "topk,2,ring,lan1g,,,,,,,,40\n",
                  &rows, &count),
             &err);
    assert_int_equal(count, 3);
    check_row(rows, "none", 2, 11);
    check_row(rows + COLUMNS, "none", 4, 10);
    /* the comma is escaped, because gnuplot would end the name there */
    check_row(rows + 2 * COLUMNS, "qsgd:bits=1%2Cbucket=8", 4, 4);
    check(rows[2 * COLUMNS + EVEN].real == 0.5 && rows[2 * COLUMNS + BYTES].real == 40);
    assert_string_equal(rows[2 * COLUMNS + PAYS].text, "below");
    assert_string_equal(rows[PAYS].text, "");
}

static void names_tell_topologies_and_links_apart_where_there_are_several(void **state)
{
    Value *rows;
    size_t count;
    check_ok(pick(HEAD "none,4,ring,lan1g,1,2,3,4,10,,,1\n"
                       "none,4,ps,lan1g,1,2,3,4,12,,,1\n",
                  &rows, &count),
             &err);
    assert_int_equal(count, 2);
    check_row(rows, "none ring", 4, 10);
    check_row(rows + COLUMNS, "none ps", 4, 12);
    check_ok(pick(HEAD "none,4,ring,lan1g,1,2,3,4,10,,,1\n"
                       "none,4,ring,lan10g,1,2,3,4,12,,,1\n"
                       "topk,4,allgather,lan10g,1,2,3,4,13,,,1\n",
                  &rows, &count),
             &err);
    check_row(rows, "none lan1g", 4, 10);
    check_row(rows + 2 * COLUMNS, "topk lan10g", 4, 13);
}

static void what_is_no_cost_is_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"compressor,workers\nnone,1\n", "no column \"compute_ms\""},
        {"record,compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,bytes_up\nstep,none,2,1,1,1,1,4\n",
         "no column \"total_ms\""},
        {HEAD, "no row"},
        {HEAD "none,4,ring,lan1g,1,2,3,4,,,,1\n", "no row"},
        {HEAD "none,0,ring,lan1g,1,2,3,4,10,,,1\n", "no row"}};
    Value *rows;
    size_t count;
    for (size_t i = 0; i < countof(cases); i++) {
        check(pick(cases[i].text, &rows, &count) == ERR_CORRUPT);
        check(strstr(err.text, cases[i].why));
    }
}

/* Steps 1 to 3 of a run have the median 5; another run has no prediction, so its parts add up; a third one has rows of
 * cost, whose times stay. */
static void a_run_gives_its_median_step_or_its_time_to_the_rows_of_cost(void **state)
{
    Value *rows;
    size_t count;
    check_ok(
        pick("record,compressor,workers,compute_ms,encode_ms,link_ms,comm_ms,decode_ms,bytes_up,measured_ms,"
             "predicted_ms,total_ms\n"
             "step,none,2,1,1,1,9,1,400,5,4,\n"
             "step,none,2,2,1,1,9,1,400,4,5,\n"
             "step,none,2,9,1,7,9,1,400,90,18,\n"
             "summary,none,2,,,,,,,33,44,\n"
             "step,qsgd,2,1,2,,3,4,40,11,,\n"
             "step,qsgd,4,1,2,,3,4,40,,,\n"
             "step,sign,2,1,2,3,3,4,40,7,10,\n"
             ",sign,2,1,1,1,1,1,12,,,4\n"
             ",sign,4,1,1,1,1,1,12,,,6\n",
             &rows, &count),
        &err);
    assert_int_equal(count, 4);
    check_row(rows, "none", 2, 5);
    check(rows[1].real == 2 && rows[3].real == 1 && rows[BYTES].real == 400 && rows[MEASURED].real == 5);
    check_row(rows + COLUMNS, "qsgd", 2, 10);
    check(rows[COLUMNS + 3].real == 3 && rows[COLUMNS + MEASURED].real == 11);
    check_row(rows + 2 * COLUMNS, "sign", 2, 4);
    check(rows[2 * COLUMNS + BYTES].real == 12 && rows[2 * COLUMNS + MEASURED].real == 7);
    check_row(rows + 3 * COLUMNS, "sign", 4, 6);
    check(isnan(rows[3 * COLUMNS + MEASURED].real));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compressors_stand_together_from_few_workers_to_many),
        cmocka_unit_test(names_tell_topologies_and_links_apart_where_there_are_several),
        cmocka_unit_test(a_run_gives_its_median_step_or_its_time_to_the_rows_of_cost),
        cmocka_unit_test(what_is_no_cost_is_refused),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena) ? 1 : 0;
}
