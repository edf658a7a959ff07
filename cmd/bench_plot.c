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

/* The kinds with what each draws, its lines indented behind the name. */
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
    text_add(&out,
             "\nFIGURE's ending says how it is drawn: .pdf, .svg, .png or .tex (pict2e). Beside it FIGURE's "
             "name with .plot.csv holds what was drawn.\n");
    return text_done(&out);
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
        .details = details(a),
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
