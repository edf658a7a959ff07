/* bench_plot.c -- plot KIND DATA -o FIGURE: draws results through gnuplot. */
#include "bench_commands.h"

#include "base/file.h"
#include "base/text.h"
#include "report/plot.h"

#include <string.h>

typedef struct {
    Common common;
    const char *x, *width, *note;
    TextList labels;
    Arena *a;
    Error *err;
} Options;

static const char *kind_name(const void *data, size_t i)
{
    (void)data;
    return plot_kinds[i] ? plot_kinds[i]->name : NULL;
}

/* Refuses a figure whose file of numbers would replace its own data. */
static Status keep_data(const Options *o, const TextList *arguments)
{
    const char *figure = o->common.output;
    const size_t length = strlen(figure);
    const char *numbers = length > 4 ? text_format(o->a, "%.*s.plot.csv", (int)length - 4, figure) : NULL;
    for (size_t i = 1; numbers && i < arguments->count; i++)
        if (file_same(arguments->item[i], numbers))
            return FAIL(o->err, ERR_USAGE, "plot: -o %s: its numbers would replace %s, want another file", figure,
                        arguments->item[i]);
    return OK;
}

static Status run(void *options, const TextList *arguments)
{
    const Options *o = options;
    char kinds[200];
    if (arguments->count < 2) {
        FAIL(o->err, ERR_USAGE, "plot: an argument is missing: want KIND DATA... -o FIGURE");
        return error_hint(o->err, "KIND is one of %s", text_names(kinds, sizeof kinds, kind_name, NULL));
    }
    if (!o->common.output) {
        FAIL(o->err, ERR_USAGE, "plot: the figure's name is missing");
        return error_hint(o->err, "add -o FIGURE.pdf (or .svg, .png, .tex)");
    }
    TRY(keep_data(o, arguments));
    const PlotJob job = {.kind = arguments->item[0],
                         .data = {arguments->item + 1, arguments->count - 1},
                         .figure = o->common.output,
                         .x = o->x,
                         .width = o->width,
                         .note = o->note,
                         .labels = o->labels,
                         .stopped = cli_stopped};
    const Status status = plot_draw(&job, o->a, o->err);
    return status == OK ? OK : error_at(o->err, "plot");
}

static const char *details(Arena *a)
{
    TextBuf out = {.arena = a};
    text_add(&out, "kinds:\n");
    for (const PlotKind *const *kind = plot_kinds; *kind; kind++)
        text_addf(&out, "  %-14s  %s\n", (*kind)->name, (*kind)->brief);
    text_add(
        &out,
        "\nThe ending of FIGURE sets its format: .pdf, .svg, .png or .tex. A .tex figure is for LaTeX documents that load "
        "pict2e, xcolor, graphicx and amssymb. The numbers of the figure are written beside it; their file has .plot.csv "
        "in place of that ending. -o - writes SVG to standard output, without that file; DATA may be -, standard input.\n");
    return text_done(&out);
}

int bench_plot(int argc, char **argv)
{
    Error err;
    Options o = {.a = arena_open(0), .err = &err};
    const Option options[] = {
        OPTION(0, "x", "WHAT", &o.x,
               "x axis: of convergence time, step, bytes or wall, of pareto bits or time"),
        OPTION(
            0, "width", "INCHES", &o.width,
            "3.25in, a column (default), 6.75in, a page (default of pareto with over 12 lines), or another width"),
        OPTION(0, "label", "SPEC=TEXT", &o.labels, "the text for a line in the key; repeatable"),
        OPTION(0, "note", "TEXT", &o.note, "a line of text above the key, as \"preliminary\""),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "plot",
        .usage = "KIND DATA... -o FIGURE",
        .brief = "draw a figure from results; needs gnuplot",
        .examples = "pareto sweep.csv -o pareto.pdf\n"
                    "convergence run.csv --x time --width 6.75in -o run.pdf\n"
                    "pareto sweep.csv --label 'svd=ATOMO, SVD' -o pareto.svg\n",
        .names = kind_name,
        .details = details(o.a),
        .options = options,
        .common = &o.common,
        .takes = TAKES_OUTPUT,
        .arguments_min = 1,
        .arguments_max = -1,
    };
    return cli_run(&command, argc, argv, run, &o, o.a, &err);
}
