/* plot_cost.c -- the figures of cost, with the measured iterations of training runs beside the predicted ones. */
#include "base/text.h"
#include "math/stats.h"
#include "report/plot_figure.h"
#include "report/plot_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- measured iterations ---- */

/* A column of cost, and the column of a run's steps that holds the same quantity. run[1] is used where run[0] has no
 * value: in a run without --link. */
typedef struct {
    const char *cost, *run[2];
} Part;

enum { COMPUTE, ENCODE, COMM, DECODE, TOTAL, BYTES, MEASURED, PARTS };
static const Part parts[PARTS] = {
    [COMPUTE] = {"compute_ms", {"compute_ms"}},    [ENCODE] = {"encode_ms", {"encode_ms"}},
    [COMM] = {"comm_ms", {"link_ms", "comm_ms"}},  [DECODE] = {"decode_ms", {"decode_ms"}},
    [TOTAL] = {"total_ms", {"predicted_ms"}},      [BYTES] = {"bytes_up", {"bytes_up"}},
    [MEASURED] = {"measured_ms", {"measured_ms"}},
};

/* The measured steps of a compressor on a number of workers. */
typedef struct {
    size_t first;       /* the row of the first step */
    bool shown;         /* a row of cost shows their time */
    double part[PARTS]; /* medians over the steps */
} Run;

typedef struct {
    Csv *data;
    Run *run;
    size_t runs;
    size_t *run_of; /* (rows) the run of a measured step or of a row of cost; `rows` for none */
} Runs;

static bool is_step(const Csv *data, size_t row)
{
    return !strcmp(csv_cell(data, row, "record"), "step") && csv_real(data, row, "measured_ms") > 0;
}

static bool alike(const Csv *data, size_t i, size_t j)
{
    return !strcmp(csv_cell(data, i, "compressor"), csv_cell(data, j, "compressor")) &&
           !strcmp(csv_cell(data, i, "workers"), csv_cell(data, j, "workers"));
}

/* Returns the run of a row; r->runs: there is none. A step mostly belongs to `guess`, the run of the step before it. */
static size_t find(const Runs *r, size_t row, size_t guess)
{
    size_t k = 0;
    if (guess < r->runs && alike(r->data, r->run[guess].first, row))
        return guess;
    while (k < r->runs && !alike(r->data, r->run[k].first, row))
        k++;
    return k;
}

static void number_runs(Runs *r)
{
    const size_t rows = r->data->rows;
    for (size_t row = 0, k = 0; row < rows; row++) {
        r->run_of[row] = rows;
        if (!is_step(r->data, row))
            continue;
        k = find(r, row, k);
        if (k == r->runs)
            r->run[r->runs++] = (Run){.first = row};
        r->run_of[row] = k;
    }
    for (size_t row = 0; row < rows && r->runs; row++) {
        const size_t k = *csv_cell(r->data, row, "record") ? r->runs : find(r, row, 0);
        if (k == r->runs)
            continue;
        r->run[k].shown = true;
        r->run_of[row] = k;
    }
}

static void take_medians(Runs *r, size_t k, double *value)
{
    double *part = r->run[k].part;
    for (size_t p = 0; p < PARTS; p++) {
        size_t n = 0;
        for (size_t row = r->run[k].first; row < r->data->rows; row++) {
            if (r->run_of[row] != k || !is_step(r->data, row))
                continue;
            value[n] = csv_real(r->data, row, parts[p].run[0]);
            if (isnan(value[n]) && parts[p].run[1])
                value[n] = csv_real(r->data, row, parts[p].run[1]);
            if (!isnan(value[n]))
                n++;
        }
        part[p] = n ? stats_median(value, n) : NAN;
    }
    if (isnan(part[TOTAL]))
        part[TOTAL] = part[COMPUTE] + part[ENCODE] + part[COMM] + part[DECODE];
}

static Status put(Csv *data, size_t row, size_t part, double value, Arena *a, Error *err)
{
    const char **cell = data->cell + row * data->columns + csv_find(data, parts[part].cost);
    *cell = isnan(value) ? "" : text_format(a, "%.17g", value);
    return arena_check(*cell, a, err);
}

/* Keeps the rows of cost. A run that no row of cost shows keeps its first step, which becomes such a row. */
static Status join(Runs *r, Arena *a, Error *err)
{
    Csv *data = r->data;
    size_t kept = 0;
    for (size_t row = 0; row < data->rows; row++) {
        const bool cost = !*csv_cell(data, row, "record");
        const Run *run = r->run_of[row] < r->runs ? r->run + r->run_of[row] : NULL;
        if (!cost && !(run && !run->shown && run->first == row))
            continue;
        for (size_t p = cost ? MEASURED : 0; p < PARTS && run; p++)
            TRY(put(data, row, p, run->part[p], a, err));
        memmove(data->cell + kept++ * data->columns, data->cell + row * data->columns,
                data->columns * sizeof *data->cell);
    }
    data->rows = kept;
    return OK;
}

static Status copy(Csv *out, const Csv *data, Arena *a, Error *err)
{
    *out = *data;
    out->cell = arena_take(a, data->rows, data->columns * sizeof *out->cell);
    TRY(arena_check(out->cell, a, err));
    memcpy(out->cell, data->cell, data->rows * data->columns * sizeof *out->cell);
    for (size_t p = 0; p < PARTS; p++)
        if (!csv_has(out, parts[p].cost))
            TRY(csv_insert(out, out->columns, parts[p].cost, "", a, err));
    return OK;
}

static Status plot_measured(Csv *data, Arena *a, Error *err)
{
    double *value = NEW(a, double, data->rows);
    Csv joined;
    Runs r = {.data = data, .run = NEW(a, Run, data->rows), .run_of = NEW(a, size_t, data->rows)};
    TRY(arena_check(value && r.run && r.run_of, a, err));
    number_runs(&r);
    if (!r.runs)
        return OK;
    for (size_t k = 0; k < r.runs; k++)
        take_medians(&r, k, value);
    TRY(copy(&joined, data, a, err));
    r.data = &joined;
    TRY(join(&r, a, err));
    *data = joined;
    return OK;
}

/* ---- bars ---- */

static const PlotColumn columns[] = {
    {"workers", PLOT_NEEDED | PLOT_NUMBER},   {"compute_ms", PLOT_NEEDED | PLOT_NUMBER}, {"encode_ms", PLOT_NEEDED | PLOT_NUMBER},
    {"comm_ms", PLOT_NEEDED | PLOT_NUMBER},   {"decode_ms", PLOT_NEEDED | PLOT_NUMBER},  {"total_ms", PLOT_NEEDED | PLOT_NUMBER},
    {"bytes_up", PLOT_NEEDED | PLOT_NUMBER},  {"total_ms_se", PLOT_NUMBER},              {"measured_ms", PLOT_NUMBER},
    {"compressor", PLOT_NEEDED},              {0},
};
static const PlotColumn limit_columns[] = {
    {"workers", PLOT_NEEDED | PLOT_NUMBER}, {"break_even_gbps", PLOT_NEEDED | PLOT_NUMBER}, {"break_even_gbps_se", PLOT_NUMBER},
    {"pays", PLOT_NEEDED},                  {"compressor", PLOT_NEEDED},                    {0},
};

/* Sets *out to whether two rows with equal compressor, number of workers and link differ in `column`, which may be the
 * link. */
static Status several(bool *out, const Csv *data, const char *column, Arena *a, Error *err)
{
    const bool link = !strcmp(column, "link");
    Names seen;
    size_t *first = NEW(a, size_t, data->rows);
    TRY(arena_check(first, a, err));
    TRY(names_open(&seen, data->rows, a, err));
    *out = false;
    for (size_t i = 0; i < data->rows && !*out; i++) {
        const char *text = text_format(a, "%s\n%s\n%s", csv_cell(data, i, "compressor"),
                                       csv_cell(data, i, "workers"), link ? "" : csv_cell(data, i, "link"));
        TRY(arena_check(text, a, err));
        const size_t before = seen.count, k = names_number(&seen, text);
        if (k == before)
            first[k] = i;
        *out = strcmp(csv_cell(data, i, column), csv_cell(data, first[k], column)) != 0;
    }
    return OK;
}

static const char *name_of(const Csv *data, size_t row, bool topologies, bool link, Arena *a)
{
    const char *name = text_format(a, "%s%s%s%s%s", csv_cell(data, row, "compressor"), topologies ? " " : "",
                                   topologies ? csv_cell(data, row, "topology") : "", link ? " " : "",
                                   link ? csv_cell(data, row, "link") : "");
    return name ? plot_name(name, a) : NULL;
}

/* Puts the bars of a codec together, those of few workers first, and the codec with the shortest last bar at the top. */
static Status sort_bars(PlotFigure *f, const double *workers, Arena *a, Error *err)
{
    typedef struct {
        double first, total, workers;
        size_t at;
    } Rank;
    Rank *rank = NEW(a, Rank, f->bars);
    PlotBar *old = NEW(a, PlotBar, f->bars);
    TRY(arena_check(rank && old, a, err));
    memcpy(old, f->bar, f->bars * sizeof *old);
    for (size_t i = 0; i < f->bars; i++) {
        rank[i] = (Rank){(double)i, 0, workers[i], i};
        double most = 0;
        for (size_t k = f->bars; k-- > 0;)
            if (!strcmp(old[k].name, old[i].name)) {
                rank[i].first = (double)k;
                rank[i].total = workers[k] >= most ? old[k].total : rank[i].total;
                most = fmax(most, workers[k]);
            }
    }
    for (size_t i = 1; i < f->bars; i++) {
        const Rank one = rank[i];
        size_t to = i;
        for (; to > 0 && (rank[to - 1].total > one.total ||
                          (rank[to - 1].total == one.total && (rank[to - 1].first > one.first ||
                                                               (rank[to - 1].first == one.first && rank[to - 1].workers > one.workers))));
             to--)
            rank[to] = rank[to - 1];
        rank[to] = one;
    }
    for (size_t i = 0; i < f->bars; i++)
        f->bar[i] = old[rank[i].at];
    return OK;
}

/* With overlap, communicating adds less than its own time to the total. */
static PlotBar bar_of(const Csv *data, size_t row)
{
    const double compute = csv_real(data, row, "compute_ms"), encode = csv_real(data, row, "encode_ms"), decode = csv_real(data, row, "decode_ms");
    const double total = csv_real(data, row, "total_ms"), se = csv_real(data, row, "total_ms_se");
    return (PlotBar){.part = {compute, encode, fmax(0, total - compute - encode - decode), decode}, .total = total, .half = se > 0 ? 1.96 * se : 0,
                     .measured = csv_real(data, row, "measured_ms"), .payload = csv_real(data, row, "bytes_up")};
}

static Status find_bars(PlotFigure *f, const Csv *data, bool most_only, Arena *a, Error *err)
{
    bool topologies, link;
    double most = 0, *workers = NEW(a, double, data->rows);
    TRY(several(&topologies, data, "topology", a, err));
    TRY(several(&link, data, "link", a, err));
    f->bar = NEW(a, PlotBar, data->rows + 1);
    TRY(arena_check(f->bar && workers, a, err));
    for (size_t i = 0; i < data->rows; i++)
        most = csv_real(data, i, "total_ms") > 0 ? fmax(most, csv_real(data, i, "workers")) : most;
    for (size_t i = 0; i < data->rows; i++) {
        const double p = csv_real(data, i, "workers");
        if (!(p > 0) || !(csv_real(data, i, "total_ms") > 0) || (most_only && p < most))
            continue;
        PlotBar *b = &f->bar[f->bars];
        *b = bar_of(data, i);
        b->name = name_of(data, i, topologies, link, a);
        b->tag = most_only ? "" : text_format(a, "%.0f", p);
        workers[f->bars++] = p;
        TRY(arena_check(b->name && b->tag && figure_line(f, b->name, a), a, err));
    }
    if (!f->bars)
        return FAIL(err, ERR_CORRUPT, "no row has both workers and total_ms");
    return sort_bars(f, workers, a, err);
}

static Status make_bars(PlotFigure *f, const Csv *data, bool runtime, Arena *a, Error *err)
{
    f->shape = SHAPE_BARS;
    f->payloads = runtime;
    f->y = (PlotAxis){.title = ""};
    TRY(find_bars(f, data, runtime, a, err));
    double most = 0;
    bool bars = false, measured = false;
    for (size_t i = 0; i < f->bars; i++) {
        most = fmax(most, f->bar[i].total);
        bars |= f->bar[i].half > 0;
        measured |= f->bar[i].measured > 0;
    }
    const double unit = time_unit(&f->x, most, "time", a);
    for (size_t i = 0; i < f->bars; i++) {
        PlotBar *b = &f->bar[i];
        for (size_t k = 0; k < BAR_PARTS; k++)
            b->part[k] /= unit;
        b->total /= unit, b->half /= unit, b->measured /= unit;
    }
    text_addf(&f->caption, "Time of an iteration in its parts%s%s%s", runtime ? ", and the payload of a worker" : ", for each number of workers",
              bars ? "; lines at the ends: 95 % intervals" : "", measured ? "; diamonds: measured" : "");
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
             "communicate and decode as stacked bars, for each number of workers; "
             "with that of atomo-train run on several ranks also the measured time",
    .source = "atomo-bench cost, or atomo-train run on several ranks, writes with -o FILE.csv",
    .of_gradients = "cost",
    .columns = columns,
    .join = plot_measured,
    .make = iteration_make,
};

const PlotKind plot_runtime = {
    .name = "runtime",
    .brief = "the same parts for the most workers that the data have, beside the size of a worker's payload",
    .source = "atomo-bench cost, or atomo-train run on several ranks, writes with -o FILE.csv",
    .of_gradients = "cost",
    .columns = columns,
    .join = plot_measured,
    .make = runtime_make,
};

/* ---- break-even ---- */

/* One number of workers: a row for each codec; several: a line. A codec that always or never pays has no point. */
static Status even_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    bool topologies, link, any = false;
    double first = NAN;
    size_t rows = 0, counts = 0;
    TRY(several(&topologies, data, "topology", a, err));
    TRY(several(&link, data, "link", a, err));
    text_add(&f->caption, "Bandwidth below which compressing pays; open marks: above which");
    f->y = (PlotAxis){.title = "break-even, GB/s", .log = true};
    f->x = (PlotAxis){.title = "workers", .log = true};
    for (size_t i = 0; i < data->rows; i++) {
        const double p = csv_real(data, i, "workers"), even = csv_real(data, i, "break_even_gbps");
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
        TRY(arena_check(l && line_add(l, point_with(p, even, csv_real(data, i, "break_even_gbps_se")), a), a, err));
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
    for (size_t k = 0; k < f->count && counts > 1; k++)
        for (size_t i = 0; i < f->line[k].count; i++) {
            size_t at = 0;
            while (at < f->x.ats && f->x.at[at] != f->line[k].point[i].x)
                at++;
            if (at == f->x.ats && at < countof(f->x.at))
                f->x.at[f->x.ats++] = f->line[k].point[i].x;
        }
    if (figure_bars(f))
        text_add(&f->caption, "; bars: 95 % intervals");
    return OK;
}

const PlotKind plot_break_even = {
    .name = "break-even",
    .brief = "the bandwidth below which compressing pays, against the number of workers, from cost's CSV or JSON",
    .source = "atomo-bench cost writes with -o FILE.csv",
    .of_gradients = "cost",
    .columns = limit_columns,
    .make = even_make,
};
