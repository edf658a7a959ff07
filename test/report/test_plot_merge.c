/* test_plot_merge.c -- tests the figure of the command merge: which rows of the results it draws, and in which
 * order. */
#include "rig/plot_rig.h"

#define HEAD "step,tensor,compressor,workers,merge_ms,decode_ms,decode_each_ms\n"

static void check_row(const Value *row, const char *compressor, double workers, double each)
{
    assert_string_equal(row[7].text, compressor);
    check(row[0].real == workers && row[3].real == each);
}

static void the_whole_selection_is_drawn_by_number_of_workers(void **state)
{
    Value *rows;
    assert_int_equal(rows_of(&plot_merge,
                             HEAD "1,w,b,4,1,1,1\n"
                                  "1,*,b,8,1,1,2\n"
                                  "*,*,b,8,5,1,3\n"
                                  "*,*,b,2,4,1,4\n"
                                  "*,*,a,4,,,5\n"
                                  "*,*,b,4,6,1,6\n"
                                  "*,*,a,2,,,7\n",
                             &rows),
                     5);
    check_row(rows, "b", 2, 4);
    check_row(rows + 8, "b", 4, 6);
    check_row(rows + 2 * 8, "b", 8, 3);
    check_row(rows + 3 * 8, "a", 2, 7);
    check_row(rows + 4 * 8, "a", 4, 5);
    check(rows[1].real == 4 && isnan(rows[3 * 8 + 1].real));
}

/* On a logarithmic axis, the error bar of a time t +- h has the length log((t + h) / (t - h)). */
static void standard_errors_are_bars_of_their_length(void **state)
{
    static const char head[] =
        "compressor,workers,merge_ms,decode_ms,decode_each_ms,merge_ms_se,decode_ms_se,decode_each_ms_se\n";
    if (no_gnuplot())
        return;
    check(longest_bar(drawn("merge", text_format(a, "%sb,4,,,10,,,\nb,8,,,100,,,\n", head), "f.svg")) == 0);
    const double one = longest_bar(
                     drawn("merge", text_format(a, "%sb,4,,,10,,,1\nb,8,,,100,,,\n", head), "f.svg")),
                 both = longest_bar(
                     drawn("merge", text_format(a, "%sb,4,8,8,10,3,4,\nb,8,80,20,100,,,\n", head), "f.svg"));
    check_has(contents("f.svg"), "bars: 95 % intervals");
    check(one > 0 && fabs(both / one - log(25.8 / 6.2) / log(11.96 / 8.04)) < 0.03 * both / one);
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(standard_errors_are_bars_of_their_length),
    IN_FOLDER(the_whole_selection_is_drawn_by_number_of_workers),
};
CHECK_MAIN(tests)
