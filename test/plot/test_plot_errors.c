/* test_plot_errors.c -- the figure of element errors: which rows of a comparison it draws, and their columns. */
#include "rig/plot_rig.h"

#define HEAD                                                                                                 \
    "step,tensor,compressor,elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg\n"
#define PICKED "elem_error,elem_error_big,elem_error_small,elem_error_pos,elem_error_neg,compressor\n"

static void the_whole_selection_is_drawn_in_order_without_failures(void **state)
{
    (void)state;
    assert_string_equal(picked(&plot_errors, HEAD "1,w,b,9,9,9,9,9\n"
                                                  "1,*,b,8,8,8,8,8\n"
                                                  "*,*,b,1,2,3,4,5\n"
                                                  "*,*,failed,,,,,\n"
                                                  "*,*,a,0,0,0,,\n"),
                        PICKED "1,2,3,4,5,b\n0,0,0,,,a\n");
    check_refused(&plot_errors, HEAD "*,*,failed,,,,,\n", "no row");
}

static void an_error_of_zero_is_said_on_a_logarithmic_axis_only(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    check_has(drawn("errors", HEAD "*,*,none,0,0,0,,\n*,*,a,1,2,100,4,5\n", "f.svg"), "<text>none, error 0");
    check(!strstr(drawn("errors", HEAD "*,*,none,0,0,0,,\n*,*,a,1,2,3,4,5\n", "f.svg"), "error 0"));
    drawn("errors", HEAD "*,*,none,0,0,0,,\n", "f.svg");
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(the_whole_selection_is_drawn_in_order_without_failures),
    IN_FOLDER(an_error_of_zero_is_said_on_a_logarithmic_axis_only),
};
CHECK_MAIN(tests)
