/* plot.c -- the list of all kinds of figures, and drawing a figure from files of data. */
#include "report/plot_look.h"
#include "base/outfile.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

const PlotKind *const plot_kinds[] = {
    &plot_pareto,      &plot_errors,         &plot_spectrum, &plot_histogram,  &plot_merge,
    &plot_convergence, &plot_iteration_time, &plot_runtime,  &plot_break_even, NULL};

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
    text_unknown(err, name, kind_name, plot_kinds, "no figure is called \"%s\"", name);
    return error_hint(err, "atomo-bench plot --help lists the kinds");
}

static Status check_column(const PlotColumn *column, const Csv *data, Error *err)
{
    for (size_t row = 0; row < data->rows && column->use & PLOT_NUMBER; row++) {
        const char *cell = csv_cell(data, row, column->name);
        if (!*cell || isfinite(csv_real(data, row, column->name)))
            continue;
        FAIL(err, ERR_CORRUPT, "record %zu: %s is \"%.40s\": want a number", row + 1, column->name, cell);
        return error_hint(err, "leave the cell empty where there is no number");
    }
    return OK;
}

static Status check_data(const PlotKind *kind, const Csv *data, Error *err)
{
    for (const PlotColumn *c = kind->columns; c->name; c++)
        if (c->use & PLOT_NEEDED && data->columns && !csv_has(data, c->name)) {
            FAIL(err, ERR_CORRUPT, "it has no column \"%s\"", c->name);
            return error_hint(err, "%s draws what %s", kind->name, kind->source);
        }
    if (!data->rows)
        return FAIL(err, ERR_CORRUPT, "the result has no rows");
    for (const PlotColumn *c = kind->columns; c->name; c++)
        TRY(check_column(c, data, err));
    return OK;
}

/* Sets *joined to the data with what the kind joins, and checks it. */
static Status join_data(const PlotKind *kind, const Csv *data, Csv *joined, Arena *a, Error *err)
{
    *joined = *data;
    if (kind->join)
        TRY(kind->join(joined, a, err));
    return check_data(kind, joined, err);
}

Status plot_rows(const PlotKind *kind, const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    Csv joined;
    TRY(join_data(kind, data, &joined, a, err));
    return kind->pick(&joined, rows, count, a, err);
}

Status plot_text(const PlotKind *kind, const Csv *data, const TextList *labels, char **text, Arena *a,
                 Error *err)
{
    Value *rows;
    size_t count;
    TRY(plot_rows(kind, data, &rows, &count, a, err));
    const char *draws = plot_draws(kind, data, a);
    TRY(arena_check(draws, a, err));
    const size_t own = plot_columns(kind), all = own + (kind->named ? dress_columns(draws) : 0);
    if (kind->named)
        TRY(plot_dress(kind, labels, draws, &rows, count, a, err));
    Column *columns = NEW_ZERO(a, Column, all);
    TRY(arena_check(columns, a, err));
    for (size_t k = 0; k < all; k++)
        columns[k].name = k < own ? kind->columns[k].name : plot_dress_columns[k - own];
    const ReportSpec spec = {.columns = columns, .column_count = all, .format = FORMAT_CSV};
    *text = report_text(&spec, rows, count, a);
    return arena_check(*text, a, err);
}

static bool is_stdout(const char *figure)
{
    return !strcmp(figure, "-");
}

/* Returns the ending of the figure's name, with its dot; NULL: no figure can have this ending. */
static const char *ending_of(const char *figure)
{
    static const char *const endings[] = {".pdf", ".svg", ".png", ".tex"};
    const size_t length = strlen(figure);
    if (is_stdout(figure))
        return ".svg";
    for (size_t i = 0; i < countof(endings); i++)
        if (length > 4 && !strcmp(figure + length - 4, endings[i]))
            return endings[i];
    return NULL;
}

/* The figure's data go to a file beside it. */
static Status open_beside(OutFile *beside, const char *figure, const char *data, Arena *a, Error *err)
{
    const char *path = text_format(a, "%.*s.plot.csv", (int)strlen(figure) - 4, figure);
    TRY(arena_check(path, a, err));
    TRY(outfile_open(beside, path, a, err));
    outfile_bytes(beside, data, strlen(data));
    if (fflush(beside->to) && !beside->failed)
        beside->failed = errno;
    return OK;
}

/* Saves both files, or neither where one cannot be written: a figure must not stand beside the data of another one. Without
 * `drawn`, saves the data alone. */
static Status save(const char *figure, const Drawing *drawn, const char *data, Arena *a, Error *err)
{
    OutFile beside;
    if (is_stdout(figure))
        return drawn ? outfile_save(figure, drawn->data, drawn->size, a, err) : OK;
    TRY(open_beside(&beside, figure, data, a, err));
    const Status status =
        !drawn || beside.failed ? OK : outfile_save(figure, drawn->data, drawn->size, a, err);
    if (status == OK)
        return outfile_commit(&beside, err);
    outfile_abandon(&beside);
    return status;
}

/* Sets *out to the column on the x axis: `x`, or the kind's default if `x` is NULL. */
static Status choose_x(const PlotKind *kind, const char *x, const char **out, Error *err)
{
    *out = kind->against ? kind->against[0] : "";
    if (!x)
        return OK;
    if (!kind->against)
        return FAIL(err, ERR_USAGE, "--x %s: %s has one x axis only", x, kind->name);
    for (const char *const *known = kind->against; *known; known++)
        if (!strcmp(*known, x)) {
            *out = *known;
            return OK;
        }
    text_unknown(err, x, text_list_name, kind->against, "--x %s: %s is not drawn against that", x,
                 kind->name);
    return error_hint(err, "atomo-bench plot --help lists what it is drawn against");
}

/* Sets `*inches` to the number at the start of `width` ("3.25in" or "3.25"), or to "" without a width. */
static Status choose_width(const char *width, const char **inches, Arena *a, Error *err)
{
    const size_t length = width ? strlen(width) : 0,
                 unit = length > 2 && !strcmp(width + length - 2, "in") ? 2 : 0;
    double value;
    *inches = "";
    if (!width)
        return OK;
    *inches = text_slice(a, width, length - unit);
    TRY(arena_check(*inches, a, err));
    if (text_to_real(*inches, &value) && value >= 2 && value <= 20)
        return OK;
    FAIL(err, ERR_USAGE, "--width %s: want a width in inches, from 2in to 20in", width);
    return error_hint(err, "a column of a paper is 3.25in wide, a page 6.75in");
}

/* Hint for a file of gradients: the command that makes the figure's data from it. Keeps other hints. */
static Status hint_data(const PlotKind *kind, const char *path, Error *err)
{
    static const char gradients[] = "atomo-bench "; /* only a file of gradients has a hint that begins so */
    if (strncmp(err->hint, gradients, strlen(gradients)) != 0)
        return err->status;
    if (!kind->of_gradients)
        return error_hint(err, "%s draws what %s", kind->name, kind->source);
    return error_hint(err, "atomo-bench %s %.150s -o result.csv, then plot %s result.csv", kind->of_gradients,
                      strcmp(path, "-") ? path : "FILE", kind->name);
}

static Status load_all(Csv *all, const PlotKind *kind, const TextList *paths, Arena *a, Error *err)
{
    for (size_t i = 0; i < paths->count; i++) {
        Csv one, joined;
        if (plot_load(&one, paths->item[i], a, err) != OK)
            return hint_data(kind, paths->item[i], err);
        if (join_data(kind, &one, &joined, a, err) != OK)
            return error_at(err, "%s", paths->item[i]);
        if (i == 0)
            *all = one;
        else
            TRY(plot_append(all, &one, a, err));
    }
    return OK;
}

Status plot_draw(const PlotJob *job, Arena *a, Error *err)
{
    const PlotKind *kind = find_kind(job->kind);
    const char *x, *inches, *ending = ending_of(job->figure);
    Csv csv;
    char *text;
    Drawing drawn;
    if (!kind)
        return refuse_kind(job->kind, err);
    TRY(choose_x(kind, job->x, &x, err));
    TRY(choose_width(job->width, &inches, a, err));
    if (!kind->named && job->labels.count)
        return FAIL(err, ERR_USAGE, "--label %s: the lines of %s are tensors, which keep their names",
                    job->labels.item[0], kind->name);
    if (!ending)
        return FAIL(err, ERR_USAGE, "%s: want a figure whose name ends in .pdf, .svg, .png or .tex",
                    job->figure);
    TRY(load_all(&csv, kind, &job->data, a, err));
    if (plot_text(kind, &csv, &job->labels, &text, a, err) != OK)
        return error_at(err, "%s", job->data.item[0]);
    const ScriptArguments more = {x, inches, job->note ? job->note : ""};
    const Status status = gnuplot_draw(&drawn, kind->name, text, ending, &more, job->stopped, a, err);
    if (status != OK && (status == ERR_STOPPED || !access(job->figure, F_OK)))
        return status; /* an earlier figure keeps its own data */
    if (status == OK)
        return save(job->figure, &drawn, text, a, err);
    Error ignored;
    (void)save(job->figure, NULL, text, a, &ignored); /* the reason why there is no figure counts */
    return status;
}

Status plot_svg(Drawing *out, const char *kind, const Csv *data, PlotStopped stopped, Arena *a, Error *err)
{
    const PlotKind *k = find_kind(kind);
    char *text;
    if (!k)
        return refuse_kind(kind, err);
    TRY(plot_text(k, data, NULL, &text, a, err));
    const ScriptArguments more = {k->against ? k->against[0] : "", "", ""};
    return gnuplot_draw(out, k->name, text, ".svg", &more, stopped, a, err);
}
