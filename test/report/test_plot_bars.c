/* test_plot_bars.c -- tests the error bars in figures of cost, and the numbers of repeats and seeds in a
 * figure's heading. */
#include "rig/plot_rig.h"

#define HEAD                                                                                                 \
    "compressor,workers,compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays,bytes_up,"      \
    "total_ms_se,break_even_gbps_se\n"

static double bar_of(const char *kind, const char *se)
{
    return longest_bar(drawn(
        kind, text_format(a, HEAD "none,4,1,0,3,0,4,,,400,%s,\nq,4,1,1,2,1,5,0.5,below,40,,%s\n", se, se),
        "f.svg"));
}

static void standard_errors_of_totals_are_bars_of_their_length(void **state)
{
    static const char *const kinds[] = {"iteration-time", "runtime"};
    if (no_gnuplot())
        return;
    for (size_t i = 0; i < countof(kinds); i++) {
        check(bar_of(kinds[i], "") == 0 && bar_of(kinds[i], "0") == 0);
        const double one = bar_of(kinds[i], "0.1");
        check_has(contents("f.svg"), "95 % intervals");
        check(one > 0 && fabs(bar_of(kinds[i], "0.2") / one - 2) < 0.02);
    }
}

static void break_even_bandwidths_have_bars(void **state)
{
    if (no_gnuplot())
        return;
    check(bar_of("break-even", "") == 0);
    const double one = bar_of("break-even", "0.05"), twice = bar_of("break-even", "0.1");
    check_has(contents("f.svg"), "bars: 95 % intervals");
    check(fabs(twice / one - log(0.696 / 0.304) / log(0.598 / 0.402)) < 0.03 * twice / one);
}

static void a_heading_names_repeats_and_seeds(void **state)
{
    static const char head[] = "compressor,bits_per_element,relative_error,repeats,seed\n";
    if (no_gnuplot())
        return;
    check_has(drawn("pareto", text_format(a, "%sqsgd,2,0.3,10,7\n", head), "f.svg"), "R = 10; seed 7");
    check_has(contents("f.plot.csv"), "R = 10; seed 7");
    check_has(drawn("pareto", text_format(a, "%sqsgd,2,0.3,5,1\nterngrad,2,0.3,10,3\n", head), "f.svg"),
              "R = 5 to 10; seeds 1 to 3");
    check(!strstr(drawn("pareto", "compressor,bits_per_element,relative_error\nqsgd,2,0.3\n", "f.svg"),
                  "seed"));
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(standard_errors_of_totals_are_bars_of_their_length),
    IN_FOLDER(break_even_bandwidths_have_bars),
    IN_FOLDER(a_heading_names_repeats_and_seeds),
};
CHECK_MAIN(tests)
