/* bench_plot.c -- plot KIND DATA -o FIGURE: draws results through gnuplot. */
#include "bench_commands.h"

#include "plot/plot.h"

static Status run(const Common *common, const TextList *arguments, const char *x, Arena *a, Error *err)
{
    if (!common->output) {
        FAIL(err, ERR_USAGE, "plot: the figure's name is missing");
        return error_hint(err, "add -o FIGURE.pdf (or .svg, .png, .tex)");
    }
    const PlotJob job = {.kind = arguments->item[0],
                         .data = {arguments->item + 1, arguments->count - 1},
                         .figure = common->output,
                         .x = x,
                         .stopped = cli_stopped};
    return plot_draw(&job, a, err) == OK ? OK : error_at(err, "plot");
}

/* The list of kinds for --help: each name, then its description, indented. */
static const char *details(Arena *a)
{
    TextBuf out = {.arena = a};
    text_add(&out, "kinds:\n");
    for (const PlotKind *const *kind = plot_kinds; *kind; kind++) {
        text_addf(&out, "  %-14s  ", (*kind)->name);
        for (const char *c = (*kind)->brief; *c; c++)
            if (*c == '\n')
                text_addf(&out, "\n%18s", "");
            else
                text_add_bytes(&out, c, 1);
        text_add(&out, "\n");
    }
    text_add(
        &out,
        "\nThe ending of FIGURE sets its format: .pdf, .svg, .png or .tex. A .tex figure is for LaTeX documents that load "
        "pict2e, xcolor, graphicx and amssymb. The numbers of the figure are written beside it; their file has .plot.csv "
        "in place of that ending.\n");
    return text_done(&out);
}

int bench_plot(int argc, char **argv)
{
    Error err;
    TextList arguments;
    bool helped;
    Common common = {0};
    Arena *a = arena_open(0);
    const char *x = NULL;
    const Option options[] = {
        OPTION(0, "x", "WHAT", &x, "x axis of convergence: time, step, bytes or wall"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "plot",
        .usage = "KIND DATA... -o FIGURE",
        .brief = "draw a figure from results; needs gnuplot",
        .details = details(a),
        .options = options,
        .common = &common,
        .takes = TAKES_OUTPUT,
        .arguments_min = 2,
        .arguments_max = -1,
    };
    Status status = cli_parse(&command, argc, argv, &arguments, &helped, a, &err);
    if (status == OK && !helped)
        status = run(&common, &arguments, x, a, &err);
    arena_close(a);
    return status == OK ? 0 : cli_report("atomo-bench", &err);
}
