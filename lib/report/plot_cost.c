/* plot_cost.c -- the figures of cost: bars of times, and break-even bandwidths. */
#include "report/plot_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- bars ---- */

static const char *const columns[] = {"workers", "compute_ms", "encode_ms", "comm_ms", "decode_ms",
    "total_ms", "bytes_up", "compressor", NULL};
static const char *const limit_columns[] = {"workers", "break_even_gbps", "pays", "compressor", NULL};

/* True if two rows with equal compressor, number of workers and link differ in `column`, which may be the link. */
static bool several(const Csv *data, const char *column)
{
    static const char *const same[] = {"compressor", "workers", "link"};
    for (size_t i = 0; i < data->rows; i++)
        for (size_t j = 0; j < i; j++) {
            bool alike = true;
            for (size_t k = 0; k < countof(same) && alike; k++)
                alike = !strcmp(same[k], column) || !strcmp(csv_cell(data, i, same[k]), csv_cell(data, j, same[k]));
            if (alike && strcmp(csv_cell(data, i, column), csv_cell(data, j, column)) != 0)
                return true;
        }
    return false;
}

static const char *name_of(const Csv *data, size_t row, bool topologies, bool link, Arena *a)
{
    const char *name = text_format(a, "%s%s%s%s%s", csv_cell(data, row, "compressor"), topologies ? " " : "",
                                   topologies ? csv_cell(data, row, "topology") : "", link ? " " : "",
                                   link ? csv_cell(data, row, "link") : "");
    return name ? plot_name(name, a) : NULL;
}

static int bar_order(const void *x, const void *y)
{
    const PlotBar *a = x, *b = y;
    const int names = strcmp(a->name, b->name);
    return a->rank != b->rank ? (a->rank > b->rank ? 1 : -1) : names ? names : (a->workers > b->workers) - (a->workers < b->workers);
}

/* Puts the bars of a codec together, those of few workers first, and the codec with the shortest last bar at the top. */
static void sort_bars(PlotFigure *f)
{
    for (size_t i = 0; i < f->bars; i++) {
        double most = 0;
        for (size_t k = 0; k < f->bars; k++)
            if (!strcmp(f->bar[k].name, f->bar[i].name) && f->bar[k].workers >= most) {
                most = f->bar[k].workers;
                f->bar[i].rank = f->bar[k].total;
            }
    }
    qsort(f->bar, f->bars, sizeof *f->bar, bar_order);
}

/* With overlap, communicating adds less than its own time to the total. */
static PlotBar bar_of(const Csv *data, size_t row)
{
    const double compute = plot_real(data, row, "compute_ms"), encode = plot_real(data, row, "encode_ms"), decode = plot_real(data, row, "decode_ms");
    const double total = plot_real(data, row, "total_ms"), se = plot_real(data, row, "total_ms_se");
    return (PlotBar){.part = {compute, encode, fmax(0, total - compute - encode - decode), decode}, .total = total, .half = se > 0 ? 1.96 * se : 0,
                     .payload = plot_real(data, row, "bytes_up"), .workers = plot_real(data, row, "workers")};
}

static Status find_bars(PlotFigure *f, const Csv *data, bool most_only, Arena *a, Error *err)
{
    const bool topologies = several(data, "topology"), link = several(data, "link");
    double most = 0;
    f->bar = NEW(a, PlotBar, data->rows + 1);
    TRY(arena_check(f->bar, a, err));
    for (size_t i = 0; i < data->rows; i++)
        most = plot_real(data, i, "total_ms") > 0 ? fmax(most, plot_real(data, i, "workers")) : most;
    for (size_t i = 0; i < data->rows; i++) {
        const double p = plot_real(data, i, "workers");
        if (!(p > 0) || !(plot_real(data, i, "total_ms") > 0) || (most_only && p < most))
            continue;
        PlotBar *b = &f->bar[f->bars];
        *b = bar_of(data, i);
        b->name = name_of(data, i, topologies, link, a);
        b->tag = most_only ? "" : text_format(a, "%.0f", p);
        f->bars++;
        TRY(arena_check(b->name && b->tag && figure_line(f, b->name, a), a, err));
    }
    if (!f->bars)
        return FAIL(err, ERR_CORRUPT, "no row has both workers and total_ms");
    sort_bars(f);
    return OK;
}

static Status make_bars(PlotFigure *f, const Csv *data, bool runtime, Arena *a, Error *err)
{
    f->shape = SHAPE_BARS;
    f->payloads = runtime;
    f->y = (PlotAxis){.title = ""};
    TRY(find_bars(f, data, runtime, a, err));
    double most = 0;
    bool bars = false;
    for (size_t i = 0; i < f->bars; i++) {
        most = fmax(most, f->bar[i].total);
        bars |= f->bar[i].half > 0;
    }
    const double unit = time_unit(&f->x, most, "time", a);
    for (size_t i = 0; i < f->bars; i++) {
        PlotBar *b = &f->bar[i];
        for (size_t k = 0; k < BAR_PARTS; k++)
            b->part[k] /= unit;
        b->total /= unit, b->half /= unit;
    }
    text_addf(&f->caption, "Time of an iteration in its parts%s%s", runtime ? ", and the payload of a worker" : ", for each number of workers",
              bars ? "; lines at the ends: 95 % intervals" : "");
    return OK;
}

static Status iteration_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    return make_bars(f, data, false, a, err);
}

static Status runtime_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    return make_bars(f, data, true, a, err);
}

const PlotKind plot_iteration_time = {
    .name = "iteration-time",
    .brief = "what an iteration takes, from cost's CSV or JSON: compute, encode, "
             "communicate and decode as stacked bars, for each number of workers",
    .source = "atomo-bench cost writes with -o FILE.csv",
    .columns = columns,
    .make = iteration_make,
};

const PlotKind plot_runtime = {
    .name = "runtime",
    .brief = "the same parts for the most workers that the data have, beside the size of a worker's payload",
    .source = "atomo-bench cost writes with -o FILE.csv",
    .columns = columns,
    .make = runtime_make,
};

/* ---- break-even ---- */

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
            text_addf(&f->caption, "; %s %s pays on %.0f", name, pays, p);
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

const PlotKind plot_break_even = {
    .name = "break-even",
    .brief = "the bandwidth below which compressing pays, against the number of workers, from cost's CSV or JSON",
    .source = "atomo-bench cost writes with -o FILE.csv",
    .columns = limit_columns,
    .make = even_make,
};
