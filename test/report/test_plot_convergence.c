/* test_plot_convergence.c -- figures of the test accuracy of training runs over time, steps or bytes (kind
 * convergence): which rows are drawn, and the mean of several runs. */
#include "rig/plot_rig.h"

#define HEAD                                                                                                 \
    "record,compressor,step,test_accuracy,bytes_up,sim_seconds,wall_seconds,steps_to_0.9,sim_seconds_to_0."  \
    "9\n"
#define PICKED                                                                                               \
    "step,sim_seconds,wall_seconds,bytes_sent,test_accuracy,low,high,runs,test_accuracy_se,compressor\n"

static void bytes_add_up_between_tests_and_summaries_are_left_out(void **state)
{
    assert_string_equal(picked(&plot_convergence, HEAD "step,a,1,,100,1,2,,\n"
                                                       "step,a,2,0.5,120,2,4,,\n"
                                                       "step,a,3,,100,3,6,,\n"
                                                       "step,a,4,0.75,100,4,8,,\n"
                                                       "summary,a,4,0.75,420,4,8,,\n"
                                                       "step,b,1,,10,1,2,,\n"
                                                       "step,b,2,0.25,10,2,4,,\n"
                                                       "summary,b,2,0.25,20,2,4,,\n"),
                        PICKED "2,2,4,220,0.5,0.5,0.5,1,,a\n"
                               "4,4,8,420,0.75,0.75,0.75,1,,a\n"
                               "2,2,4,20,0.25,0.25,0.25,1,,b\n"
                               ",,,,0.9,,,,,\n");
}

/* Compressor a has three runs, and one of them is shorter. The mean at a step must be over the runs that
 * reach this step. */
static void runs_of_one_compressor_are_one_line_between_least_and_most(void **state)
{
    assert_string_equal(picked(&plot_convergence, "compressor,step,test_accuracy,bytes_up,sim_seconds\n"
                                                  "a,2,0.25,100,1\na,4,0.5,100,3\n"
                                                  "a,2,0.75,300,3\na,4,1,100,5\n"
                                                  "b,2,0.125,7,1\n"
                                                  "a,2,0.125,500,5\n"),
                        PICKED "2,3,,300,0.375,0.125,0.75,3,0.19094065395649334,a\n"
                               "4,4,,300,0.75,0.5,1,2,0.25,a\n"
                               "2,1,,7,0.125,0.125,0.125,1,,b\n");
}

static void a_figures_own_data_join_runs_by_how_many_they_were(void **state)
{
    assert_string_equal(picked(&plot_convergence, PICKED "2,7,6,700,1,1,1,1,,a\n"
                                                         "2,3,6,300,0.5,0.25,0.75,3,0.125,a\n"
                                                         ",,,,0.9,,,,,\n"),
                        PICKED "2,4,6,400,0.625,0.25,1,4,0.15309310892394862,a\n"
                               ",,,,0.9,,,,,\n");
}

/* At step 1 all runs are equal, so there is no bar of uncertainty. At step 2 there are two runs, which are too
 * few for a bar, or three runs (0.5, 0.7 and 0.6), which have one. */
static void the_last_mean_of_three_runs_has_a_bar(void **state)
{
    static const char head[] = "compressor,step,test_accuracy,sim_seconds\na,1,0.1,1\na,1,0.1,1\na,1,0.1,1\n";
    if (no_gnuplot())
        return;
    const char *two = drawn("convergence", text_format(a, "%sa,2,0.5,2\na,2,0.7,2\n", head), "f.svg");
    check(!strstr(two, "intervals"));
    const char *three =
        drawn("convergence", text_format(a, "%sa,2,0.5,2\na,2,0.7,2\na,2,0.6,2\n", head), "f.svg");
    check_has(three, "intervals"); /* only one word is searched: the heading may break between words */
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(the_last_mean_of_three_runs_has_a_bar),
    IN_FOLDER(bytes_add_up_between_tests_and_summaries_are_left_out),
    IN_FOLDER(runs_of_one_compressor_are_one_line_between_least_and_most),
    IN_FOLDER(a_figures_own_data_join_runs_by_how_many_they_were),
};
CHECK_MAIN(tests)
