/* test_plot_pareto.c -- the figure of size against error: its rows, its Pareto front, and errors of 0 on a
 * logarithmic axis. */
#include "rig/plot_rig.h"

static const char usual[] =
    "step,tensor,compressor,bits_per_element,relative_error\n"
    "1,conv1,none,32,0\n1,*,none,32,0\n1,*,svd:rank=2,1.8,1.2\n1,*,svd:rank=1,0.9,2.6\n"
    "1,*,ef:decay=0.5+svd:rank=1,0.95,1.1\n1,*,broken,,\n";

static void the_whole_selection_is_drawn_sorted_with_its_front(void **state)
{
    (void)state;
    assert_string_equal(picked(&plot_pareto, usual),
                        "series,bits_per_element,relative_error,unbiased,pareto,compressor\n"
                        "none,32,0,true,true,none\n"
                        "svd,0.9,2.6,true,true,svd:rank=1\n"
                        "svd,1.8,1.2,true,true,svd:rank=2\n"
                        "ef:decay=0.5+svd,0.95,1.1,false,true,ef:decay=0.5+svd:rank=1\n");
}

static void dominated_points_are_off_the_front(void **state)
{
    (void)state;
    Value *rows;
    static const bool front[] = {true, true, false, false, true, true};
    const size_t count =
        rows_of(&plot_pareto,
                "compressor,bits_per_element,relative_error,unbiased\n"
                "a,1,1,true\nb,2,0.5,true\nc,2,0.6,true\nd,3,0.5,true\ne,1,1,true\nf,0.1,0.1,false\n",
                &rows);
    assert_int_equal(count, countof(front));
    for (size_t i = 0; i < count; i++)
        check(rows[i * 6 + 4].on == front[i]);
}

static void rows_without_a_size_or_an_error_are_refused(void **state)
{
    (void)state;
    check_refused(&plot_pareto, "compressor,bits_per_element,relative_error\n", "no row");
    check_refused(&plot_pareto, "compressor,bits_per_element,relative_error\nx,,1\ny,0,1\nz,1,-1\n",
                  "no row");
}

static void a_zero_error_is_drawn_and_said_on_a_logarithmic_axis(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    check_has(
        drawn("pareto", "compressor,bits_per_element,relative_error\nnone,32,0\nx,1,1\ny,4,0.001\n", "f.svg"),
        "<text>none, error 0");
}

static void one_point_and_no_error_at_all_are_figures_too(void **state)
{
    (void)state;
    if (no_gnuplot())
        return;
    drawn("pareto", "compressor,bits_per_element,relative_error\nnone,32,0\n", "f.svg");
    drawn("pareto", "compressor,bits_per_element,relative_error\nx,1,0.5\n", "f.svg");
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(the_whole_selection_is_drawn_sorted_with_its_front),
    IN_FOLDER(dominated_points_are_off_the_front),
    IN_FOLDER(rows_without_a_size_or_an_error_are_refused),
    IN_FOLDER(a_zero_error_is_drawn_and_said_on_a_logarithmic_axis),
    IN_FOLDER(one_point_and_no_error_at_all_are_figures_too),
};
CHECK_MAIN(tests)
