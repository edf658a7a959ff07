/* plot.c -- the kinds of figures, and the way from data to figure. */
#include "plot.h"
#include "outfile.h"

#include <string.h>

typedef struct {
    const char *name;
    const Column *columns;
    size_t column_count;
    Status (*pick)(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);
} Figure;

static const Figure figures[] = {
    {"pareto", pareto_columns, PARETO_COLUMNS, pareto_rows},
    {"spectrum", spectrum_columns, SPECTRUM_COLUMNS, spectrum_rows},
    {"histogram", histogram_columns, HISTOGRAM_COLUMNS, histogram_rows},
    {"merge", merge_plot_columns, MERGE_PLOT_COLUMNS, merge_plot_rows},
};
const char *const plot_kinds[] = {"pareto", "spectrum", "histogram", "merge", NULL};

static const Figure *find_figure(const char *name)
{
    for (size_t i = 0; i < countof(figures); i++)
        if (!strcmp(figures[i].name, name))
            return &figures[i];
    return NULL;
}

static const char *find_script(const char *name)
{
    const PlotScript *s = plot_scripts;
    while (s->name && strcmp(s->name, name) != 0)
        s++;
    return s->text;
}

static Status check_ending(const char *figure, Error *err)
{
    static const char *const endings[] = {".pdf", ".svg", ".png", ".tex"};
    const size_t length = strlen(figure);
    for (size_t i = 0; i < countof(endings); i++)
        if (length > 4 && !strcmp(figure + length - 4, endings[i]))
            return OK;
    return FAIL(err, ERR_USAGE, "%s: want a figure whose name ends in .pdf, .svg, .png or .tex", figure);
}

static Status write_beside(const char *figure, const char *data, Arena *a, Error *err)
{
    OutFile out;
    const char *path = text_format(a, "%.*s.plot.csv", (int)strlen(figure) - 4, figure);
    if (!path)
        return arena_fail(a, err);
    TRY(outfile_open(&out, path, a, err));
    fputs(data, out.to);
    return outfile_commit(&out, err);
}

/* What the figure shows, as the CSV that its script reads. */
static Status pick_text(const Figure *k, const Csv *data, char **text, Arena *a, Error *err)
{
    Value *rows;
    size_t count;
    TRY(k->pick(data, &rows, &count, a, err));
    const ReportSpec spec = {.columns = k->columns, .column_count = k->column_count, .format = FORMAT_CSV};
    *text = report_text(&spec, rows, count, a);
    return *text ? OK : arena_fail(a, err);
}

static Status no_such(const char *kind, Error *err)
{
    const char *near = text_nearest(kind, text_list_name, plot_kinds);
    FAIL(err, ERR_USAGE, "no figure is called \"%s\"%s%s%s", kind, near ? " (did you mean " : "",
         near ? near : "", near ? "?)" : "");
    return error_hint(err, "atomo-bench plot --help lists the kinds");
}

static Status write_figure(const char *path, const Drawing *d, Arena *a, Error *err)
{
    OutFile out;
    TRY(outfile_open(&out, path, a, err));
    fwrite(d->data, 1, d->size, out.to);
    return outfile_commit(&out, err);
}

Status plot_draw(const char *kind, const char *data, const char *figure, PlotStopped stopped, Arena *a,
                 Error *err)
{
    const Figure *k = find_figure(kind);
    if (!k)
        return no_such(kind, err);
    TRY(check_ending(figure, err));
    Csv csv;
    char *text;
    Drawing drawn;
    TRY(plot_load(&csv, data, a, err));
    if (pick_text(k, &csv, &text, a, err) != OK)
        return error_at(err, "%s", data);
    TRY(write_beside(figure, text, a, err));
    TRY(gnuplot_draw(&drawn, find_script(kind), text, figure + strlen(figure) - 4, stopped, a, err));
    return write_figure(figure, &drawn, a, err);
}

Status plot_svg(Drawing *out, const char *kind, const Csv *data, PlotStopped stopped, Arena *a, Error *err)
{
    const Figure *k = find_figure(kind);
    char *text;
    if (!k)
        return no_such(kind, err);
    TRY(pick_text(k, data, &text, a, err));
    return gnuplot_draw(out, find_script(kind), text, ".svg", stopped, a, err);
}
