/* plot_cost.c -- the figures of cost: bars of times, and break-even bandwidths. */
#include "report/plot_figure.h"

#include <math.h>
#include <string.h>

/* ---- bars ---- */

static const char *const columns[] = {"workers", "compute_ms", "encode_ms", "comm_ms", "decode_ms",
    "total_ms", "bytes_up", "compressor", NULL};
static const char *const limit_columns[] = {"workers", "break_even_gbps", "pays", "compressor", NULL};

/* True if two rows have equal compressors, numbers of workers and links, whatever they have in `column`. */
static bool alike(const Csv *data, size_t i, size_t j, const char *column)
{
    static const char *const same[] = {"compressor", "workers", "link"};
    for (size_t k = 0; k < countof(same); k++)
        if (strcmp(same[k], column) != 0 && strcmp(csv_cell(data, i, same[k]), csv_cell(data, j, same[k])) != 0)
            return false;
    return true;
}

/* True if rows that are alike differ in `column`, which may be the link. */
static bool several(const Csv *data, const char *column)
{
    for (size_t i = 0; i < data->rows; i++)
        for (size_t j = 0; j < i; j++)
            if (alike(data, i, j, column) && strcmp(csv_cell(data, i, column), csv_cell(data, j, column)) != 0)
                return true;
    return false;
}

static const char *name_of(const Csv *data, size_t row, bool topologies, bool link, Arena *a)
{
    const char *name = text_format(a, "%s%s%s%s%s", csv_cell(data, row, "compressor"), topologies ? " " : "",
                                   topologies ? csv_cell(data, row, "topology") : "", link ? " " : "",
                                   link ? csv_cell(data, row, "link") : "");
    return name ? text_printable(a, name) : NULL;
}

/* Adds a bar, in units of `unit` ms. With overlap, communicating adds less than its own time to the total. */
static Status add_bar(PlotFigure *f, const Csv *data, size_t row, double unit, const char *name, Arena *a, Error *err)
{
    const double compute = plot_real(data, row, "compute_ms") / unit, encode = plot_real(data, row, "encode_ms") / unit;
    const double decode = plot_real(data, row, "decode_ms") / unit, total = plot_real(data, row, "total_ms") / unit;
    const double part[BAR_PARTS + 1] = {compute, encode, fmax(0, total - compute - encode - decode), decode, plot_real(data, row, "bytes_up")};
    PlotPoint p = point_with(plot_real(data, row, "workers"), total, plot_real(data, row, "total_ms_se") / unit);
    double *copy = NEW(a, double, countof(part));
    PlotLine *l = name ? figure_line(f, name, a) : NULL;
    TRY(arena_check(copy && l, a, err));
    p.part = memcpy(copy, part, sizeof part);
    return arena_check(line_add(l, p, a), a, err);
}

/* The bars of each codec, those of few workers first; the codec with the shortest last bar is at the top. `runtime`: the most
 * workers only. */
static Status make_bars(PlotFigure *f, const Csv *data, bool runtime, Arena *a, Error *err)
{
    const bool topologies = several(data, "topology"), link = several(data, "link");
    double most = 0, longest = 0;
    f->shape = SHAPE_BARS;
    f->payloads = runtime;
    f->y = (PlotAxis){.title = ""};
    for (size_t i = 0; i < data->rows; i++) {
        const double total = plot_real(data, i, "total_ms");
        longest = fmax(longest, total);
        most = total > 0 ? fmax(most, plot_real(data, i, "workers")) : most;
    }
    const double unit = time_unit(&f->x, longest, "time", a);
    for (size_t i = 0; i < data->rows; i++) {
        const double p = plot_real(data, i, "workers");
        if (p > 0 && plot_real(data, i, "total_ms") > 0 && !(runtime && p < most))
            TRY(add_bar(f, data, i, unit, name_of(data, i, topologies, link, a), a, err));
    }
    double *last = NEW(a, double, f->count + 1);
    TRY(arena_check(last, a, err));
    figure_sort(f);
    for (size_t k = 0; k < f->count; k++)
        last[k] = f->line[k].point[f->line[k].count - 1].y;
    figure_order(f, last);
    text_addf(&f->caption, "Time of an iteration in its parts%s%s", runtime ? ", and the payload of a worker" : ", for each number of workers",
              figure_bars(f) ? "; lines at the ends: 95 % intervals" : "");
    return f->count ? OK : FAIL(err, ERR_CORRUPT, "no row has both workers and total_ms");
}

static Status iteration_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    return make_bars(f, data, false, a, err);
}

static Status runtime_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    return make_bars(f, data, true, a, err);
}

/* ---- break-even ---- */

/* Says of a codec that always or never pays with which numbers of workers, at the first of its rows. */
static void say_pays(PlotFigure *f, const Csv *data, size_t row, const char *name)
{
    for (size_t i = 0; i < data->rows; i++) {
        if (!alike(data, i, row, "workers") || strcmp(csv_cell(data, i, "pays"), csv_cell(data, row, "pays")) != 0)
            continue;
        if (i < row)
            return;
        if (i == row)
            text_addf(&f->caption, "; %s %s pays on ", name, csv_cell(data, i, "pays"));
        text_addf(&f->caption, "%s%s", i > row ? ", " : "", csv_cell(data, i, "workers"));
    }
}

/* One number of workers: a row for each codec; several: a line. A codec that always or never pays has no point. */
static Status even_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    const bool topologies = several(data, "topology"), link = several(data, "link");
    bool any = false;
    double first = NAN;
    size_t rows = 0, counts = 0;
    text_add(&f->caption, "Bandwidth below which compressing pays; open marks: above which");
    f->y = (PlotAxis){.title = "break-even, GB/s", .log = true};
    f->x = (PlotAxis){.title = "workers", .log = true};
    for (size_t i = 0; i < data->rows; i++) {
        const double p = plot_real(data, i, "workers"), even = plot_real(data, i, "break_even_gbps");
        const char *pays = csv_cell(data, i, "pays"), *name = name_of(data, i, topologies, link, a);
        TRY(arena_check(name, a, err));
        if (!(p > 0) || !*pays)
            continue;
        any = true;
        counts += p != first;
        first = isnan(first) ? p : first;
        if (!(even > 0)) {
            say_pays(f, data, i, name);
            continue;
        }
        PlotLine *l = figure_line(f, name, a);
        TRY(arena_check(l && line_add(l, point_with(p, even, plot_real(data, i, "break_even_gbps_se")), a), a, err));
        l->open = !strcmp(pays, "above");
        rows++;
    }
    if (!any || !rows)
        return FAIL(err, ERR_CORRUPT, any ? "no codec has a break-even bandwidth" : "no row says whether it pays");
    if (counts == 1) {
        f->shape = SHAPE_ROWS;
        f->x = f->y;
        f->y = (PlotAxis){.title = ""};
    }
    figure_sort(f);
    if (counts > 1)
        axis_numbers_at(&f->x, data, "workers");
    if (figure_bars(f))
        text_add(&f->caption, "; bars: 95 % intervals");
    return OK;
}

const PlotKind plot_costs[] = {
    {
        .name = "iteration-time",
        .brief = "what an iteration takes, from cost's CSV or JSON: compute, encode, "
                 "communicate and decode as stacked bars, for each number of workers",
        .source = "atomo-bench cost writes with -o FILE.csv",
        .columns = columns,
        .make = iteration_make,
    },
    {
        .name = "runtime",
        .brief = "the same parts for the most workers that the data have, beside the size of a worker's payload",
        .source = "atomo-bench cost writes with -o FILE.csv",
        .columns = columns,
        .make = runtime_make,
    },
    {
        .name = "break-even",
        .brief = "the bandwidth below which compressing pays, against the number of workers, from cost's CSV or JSON",
        .source = "atomo-bench cost writes with -o FILE.csv",
        .columns = limit_columns,
        .make = even_make,
    },
};
