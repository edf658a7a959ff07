/* bench_plot.c -- plot KIND DATA -o FIGURE: draws results through gnuplot. */
#include "bench_commands.h"

#include "base/file.h"
#include "base/text.h"
#include "report/plot.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    Common common;
    PlotOptions look;
    Arena *a;
    Error *err;
} Options;

static const char *const keys[] = {"auto", "ends", "inside", "right", "below", "none", NULL}; /* KeyPlace */
static const char *const fonts[] = {"sans", "serif", NULL}, *const facets[] = {"auto", "family", "none", NULL};
static const char *const themes[] = {"light", "dark", NULL};

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
        return error_hint(o->err, "KIND is one of %s", text_names(kinds, sizeof kinds, plot_kind_name, NULL));
    }
    if (!o->common.output) {
        FAIL(o->err, ERR_USAGE, "plot: the figure's name is missing");
        return error_hint(o->err, "add -o FIGURE.pdf (or .svg, .png, .tex)");
    }
    if (o->look.data)
        TRY(keep_data(o, arguments));
    const PlotJob job = {.kind = arguments->item[0],
                         .data = {arguments->item + 1, arguments->count - 1},
                         .figure = o->common.output,
                         .look = o->look,
                         .stopped = cli_stopped};
    PlotSaid said;
    if (plot_draw(&job, &said, o->a, o->err) != OK)
        return error_at(o->err, "plot");
    if (!o->common.quiet && strcmp(job.figure, "-") != 0)
        fprintf(stderr, "%s: %s of %zu record%s\n%s\n", job.figure, job.kind, said.records, text_s(said.records), said.caption);
    return OK;
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
        "pict2e, xcolor, graphicx and amssymb. The caption of the figure goes to standard error and into the file's description. "
        "-o - writes SVG to standard output; DATA may be -, standard input. SPEC is that of a line; LIST has blanks or commas "
        "between names, GLOB has * and ?.\n");
    return text_done(&out);
}

int bench_plot(int argc, char **argv)
{
    Error err;
    Options o = {.a = arena_open(0), .err = &err};
    const Option options[] = {
        OPTION(0, "x", "WHAT", &o.look.x, "x axis: of convergence time, step, bytes or wall, of pareto bits, time, encode_ms or decode_ms"),
        OPTION(0, "y", "WHAT", &o.look.y,
               "y axis: of convergence and budget accuracy, error or loss, of merge time, error or bytes, of heat error or bits"),
        OPTION(0, "width", "INCHES", &o.look.width, "3.25in, a column (default), 5.5in, 6.75in, or another width"),
        OPTION(0, "height", "INCHES", &o.look.height, "the height (default: the width / 1.5, or what rows and names need)"),
        OPTION(0, "font", "FONT", &o.look.font, "letters: sans or serif", .choices = fonts),
        OPTION(0, "key", "PLACE", &o.look.key, "where names stand", .choices = keys),
        OPTION(0, "facet", "HOW", &o.look.facet, "small panels, one for each family (default with over 10 lines)", .choices = facets),
        OPTION(0, "theme", "THEME", &o.look.theme, "colours for light or dark pages", .choices = themes),
        OPTION(0, "color", "SPEC=#RRGGBB", &o.look.colours, "the colour of a line; repeatable"),
        OPTION(0, "label", "SPEC=TEXT", &o.look.labels, "the name of a line, with $mathematics$ in .tex; repeatable"),
        OPTION(0, "highlight", "SPEC", &o.look.highlight, "draw this line thick, and the others in grey"),
        OPTION(0, "only", "GLOB", &o.look.only, "only lines with such names; repeatable"),
        OPTION(0, "order", "LIST", &o.look.order, "names in the order of the key"),
        OPTION(0, "title", "TEXT", &o.look.title, "a title above the figure"),
        OPTION(0, "xlim", "A:B", &o.look.xlim, "the range of the x axis; each end may be missing"),
        OPTION(0, "ylim", "A:B", &o.look.ylim, "the range of the y axis"),
        OPTION(0, "logx", NULL, &o.look.logx, "a logarithmic x axis"),
        OPTION(0, "logy", NULL, &o.look.logy, "a logarithmic y axis"),
        OPTION(0, "linear", NULL, &o.look.linear, "linear axes"),
        OPTION(0, "last", "SHARE", &o.look.last, "show this last share of the x axis, as 0.25", .low = 0, .high = 1),
        OPTION(0, "rates", NULL, &o.look.rates, "pareto: write each point's rate beside it, as k=3"),
        OPTION(0, "front", NULL, &o.look.front, "pareto: the fronts of unbiased and of biased codecs; merge --y error: 1/P and 1/P^2"),
        OPTION(0, "gaussian", NULL, &o.look.gaussian, "pareto: the least error at b bits on Gaussian data"),
        OPTION(0, "grid", NULL, &o.look.grid, "lines at the numbers of the axes"),
        OPTION(0, "data", NULL, &o.look.data, "also write the drawn points to FIGURE.plot.csv"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "plot",
        .usage = "KIND DATA... -o FIGURE",
        .brief = "draw a figure from results; needs gnuplot",
        .examples = "pareto sweep.csv -o pareto.pdf\n"
                    "pareto sweep.csv --rates --front --gaussian --width 6.75in -o full.pdf\n"
                    "convergence run.csv --y error --x bytes --last 0.25 -o end.pdf\n"
                    "pareto sweep.csv --label 'svd=ATOMO, SVD' -o pareto.svg\n",
        .names = plot_kind_name,
        .details = details(o.a),
        .options = options,
        .common = &o.common,
        .takes = TAKES_OUTPUT,
        .arguments_min = 1,
        .arguments_max = -1,
    };
    return cli_run(&command, argc, argv, run, &o, o.a, &err);
}
