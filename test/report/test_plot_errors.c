/* test_plot_errors.c -- the figure of element errors: which rows of a comparison it draws, and with which
 * columns. */
#include "rig/plot_rig.h"

#define HEAD                                                                                                 \
    "step,tensor,compressor,elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg\n"
#define PICKED                                                                                               \
    "elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg,elem_error_se,"                \
    "elem_error_big_se,elem_error_small_se,elem_error_pos_se,elem_error_neg_se,compressor\n"

static void the_whole_selection_is_drawn_in_order_without_failures(void **state)
{
    assert_string_equal(picked(&plot_errors, HEAD "1,w,b,9,9,9,9,9\n"
                                                  "1,*,b,8,8,8,8,8\n"
                                                  "*,*,b,1,2,3,4,5\n"
                                                  "*,*,failed,,,,,\n"
                                                  "*,*,a,0,0,0,,\n"),
                        PICKED "1,2,3,4,5,,,,,,b\n0,0,0,,,,,,,,a\n");
    check_refused(&plot_errors, HEAD "*,*,failed,,,,,\n", "no row");
}

static void an_error_of_zero_is_said_on_a_logarithmic_axis_only(void **state)
{
    if (no_gnuplot())
        return;
    const char *svg = drawn("errors", HEAD "*,*,none,0,0,0,,\n*,*,a,1,2,100,4,5\n", "f.svg");
    check_has(svg, "<text>none</text>");
    check_has(svg, "<text>error 0</text>");
    check(!strstr(drawn("errors", HEAD "*,*,none,0,0,0,,\n*,*,a,1,2,3,4,5\n", "f.svg"), "error 0"));
    drawn("errors", HEAD "*,*,none,0,0,0,,\n", "f.svg");
}

static void standard_errors_are_bars_of_their_length(void **state)
{
    static const char head[] =
        "compressor,elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg,"
        "elem_error_se\n";
    if (no_gnuplot())
        return;
    const char *none = drawn("errors", text_format(a, "%sa,1,2,3,4,5,\n", head), "f.svg"),
               *sure = drawn("errors", text_format(a, "%sa,1,2,3,4,5,0\n", head), "f.svg"),
               *narrow = drawn("errors", text_format(a, "%sa,1,2,3,4,5,0.1\n", head), "f.svg"),
               *twice = drawn("errors", text_format(a, "%sa,1,2,3,4,5,0.2\n", head), "f.svg");
    check(!strstr(none, "95 % intervals") && !strstr(sure, "95 % intervals"));
    check_has(narrow, "bars: 95 % intervals");
    check(longest_bar(narrow) > 0);
    check(fabs(longest_bar(twice) / longest_bar(narrow) - 2) < 0.01);
    check(longest_bar(none) == 0 && longest_bar(sure) == 0);
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(standard_errors_are_bars_of_their_length),
    IN_FOLDER(the_whole_selection_is_drawn_in_order_without_failures),
    IN_FOLDER(an_error_of_zero_is_said_on_a_logarithmic_axis_only),
};
CHECK_MAIN(tests)
