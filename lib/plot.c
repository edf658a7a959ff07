/* plot.c -- the kinds of figures, and the way from data to figure. */
#include "plot.h"
#include "outfile.h"

#include <string.h>

const PlotKind *const plot_kinds[] = {&plot_pareto, &plot_spectrum, &plot_histogram, &plot_merge, NULL};

static const char *kind_name(const void *kinds, size_t i)
{
    const PlotKind *kind = ((const PlotKind *const *)kinds)[i];
    return kind ? kind->name : NULL;
}

static const PlotKind *find_kind(const char *name)
{
    const PlotKind *const *kind = plot_kinds;
    while (*kind && strcmp((*kind)->name, name) != 0)
        kind++;
    return *kind;
}

static Status refuse_kind(const char *name, Error *err)
{
    const char *near = text_nearest(name, kind_name, plot_kinds);
    FAIL(err, ERR_USAGE, "no figure is called \"%s\"%s%s%s", name, near ? " (did you mean " : "",
         near ? near : "", near ? "?)" : "");
    return error_hint(err, "atomo-bench plot --help lists the kinds");
}

size_t plot_columns(const PlotKind *kind)
{
    size_t count = 0;
    while (kind->columns[count].name)
        count++;
    return count;
}

Status plot_rows(const PlotKind *kind, const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    for (const char *const *need = kind->needs; *need; need++)
        if (!csv_has(data, *need)) {
            FAIL(err, ERR_CORRUPT, "it has no column \"%s\"", *need);
            return error_hint(err, "%s draws what %s", kind->name, kind->source);
        }
    return kind->pick(data, rows, count, a, err);
}

Status plot_text(const PlotKind *kind, const Csv *data, char **text, Arena *a, Error *err)
{
    Value *rows;
    size_t count;
    TRY(plot_rows(kind, data, &rows, &count, a, err));
    const ReportSpec spec = {
        .columns = kind->columns, .column_count = plot_columns(kind), .format = FORMAT_CSV};
    *text = report_text(&spec, rows, count, a);
    return *text ? OK : arena_fail(a, err);
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
    const PlotKind *k = find_kind(kind);
    Csv csv;
    char *text;
    Drawing drawn;
    if (!k)
        return refuse_kind(kind, err);
    TRY(check_ending(figure, err));
    TRY(plot_load(&csv, data, a, err));
    if (plot_text(k, &csv, &text, a, err) != OK)
        return error_at(err, "%s", data);
    TRY(write_beside(figure, text, a, err));
    TRY(gnuplot_draw(&drawn, k->name, text, figure + strlen(figure) - 4, stopped, a, err));
    return write_figure(figure, &drawn, a, err);
}

Status plot_svg(Drawing *out, const char *kind, const Csv *data, PlotStopped stopped, Arena *a, Error *err)
{
    const PlotKind *k = find_kind(kind);
    char *text;
    if (!k)
        return refuse_kind(kind, err);
    TRY(plot_text(k, data, &text, a, err));
    return gnuplot_draw(out, k->name, text, ".svg", stopped, a, err);
}
