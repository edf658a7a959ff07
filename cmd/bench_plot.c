/* bench_plot.c -- plot KIND DATA -o FIGURE: figures of results through gnuplot. */
#include "bench.h"

#include "../lib/plot.h"

static Status run(const Common *common, const TextList *arguments, Arena *a, Error *err)
{
    if (!common->output) {
        FAIL(err, ERR_USAGE, "plot: the figure's name is missing");
        return error_hint(err, "add -o FIGURE.pdf (or .svg, .png, .tex)");
    }
    if (plot_draw(arguments->item[0], arguments->item[1], common->output, cli_stopped, a, err) != OK)
        return error_at(err, "plot");
    return OK;
}

int bench_plot(int argc, char **argv)
{
    Error err;
    TextList arguments;
    bool helped;
    Common common = {0};
    Arena *a = arena_open(0);
    const Command command = {
        .program = "atomo-bench",
        .command = "plot",
        .usage = "KIND DATA -o FIGURE",
        .brief = "draw a figure of results; needs gnuplot",
        .details =
            "kinds:\n"
            "  pareto     size in bits per element against relative error, from sweep's or compare's\n"
            "             CSV or JSON; with the fronts of unbiased and of biased codecs, and with what\n"
            "             b bits leave of the worst gradient: 4^-b, unbiased 1 / (4^b - 1)\n"
            "  spectrum   how singular values fall, from inspect --spectrum\n"
            "  histogram  how elements are distributed, from inspect --histogram; of many\n"
            "             tensors the median, the middle half and the two extremes\n"
            "  merge      how long aggregating takes, from merge's CSV or JSON: payloads merged and\n"
            "             decoded once, and every one decoded, against the number of workers\n"
            "\n"
            "FIGURE's ending says how it is drawn: .pdf, .svg, .png or .tex (pict2e). Beside it FIGURE's "
            "name with "
            ".plot.csv holds what was drawn.\n",
        .common = &common,
        .takes = TAKES_OUTPUT,
        .arguments_min = 2,
        .arguments_max = 2,
    };
    Status status = cli_parse(&command, argc, argv, &arguments, &helped, a, &err);
    if (status == OK && !helped)
        status = run(&common, &arguments, a, &err);
    arena_close(a);
    return status == OK ? 0 : cli_report("atomo-bench", &err);
}
