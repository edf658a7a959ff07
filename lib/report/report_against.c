/* report_against.c -- pairs the draws of each codec with those of the reference codec, and writes the
 * differences (report_compare.h). */
#include "report/report_compare.h"
#include "report/report_bias.h"

#include "math/stats.h"

#include <stdio.h>
#include <string.h>

const char against_usual[] = "bits_per_element,relative_error,second_moment,cosine,wasserstein_mean";

/* The columns up to `repeats`, except `against`, are also columns of the results of `compare`. */
static const Column all_columns[] = {
    {"step", false},
    {"worker", false},
    {"tensor", false},
    {"compressor", true},
    {"against", true},
    {"repeats", false},
    {"metric", true},
    {"result", true},
    {"result_se", false},
    {"result_against", true},
    {"result_against_se", false},
    {"difference", true},
    {"difference_se", false},
    {"interval", true},
    {"difference_low", false},
    {"difference_high", false},
    {"difference_p", false},
    {"difference_p_holm", false},
    {"differs", true},
    {"error", false},
    {"spec", false},
};
enum { COLUMNS = countof(all_columns) };

/* ---- choosing metrics ---- */

static Status refuse_metric(const char *name, Arena *a, Error *err)
{
    TextBuf can = {.arena = a};
    for (const Metric *m = metrics; m->name; m++)
        if (m->draw)
            text_addf(&can, "%s%s", can.size ? ", " : "", m->name);
    const char *list = text_done(&can);
    TRY(arena_check(list, a, err));
    FAIL(err, ERR_USAGE, "--metrics: %s has no value for each repeat, so --against cannot pair it", name);
    return error_hint(err, "--against pairs %s", list);
}

Status against_metrics(Against *g, const char *names, Arena *a, Error *err)
{
    *g = (Against){.metric = NEW(a, const Metric *, strlen(names) / 2 + 1)};
    TRY(arena_check(g->metric, a, err));
    for (const char *at = names; *at; at += strspn(at, ",")) {
        const size_t length = strcspn(at, ",");
        const char *name = text_slice(a, at, length);
        TRY(arena_check(name, a, err));
        const Metric *m = metric_find(name);
        if (!m || !m->draw)
            return refuse_metric(name, a, err);
        g->metric[g->metrics++] = m;
        at += length;
    }
    return OK;
}

/* ---- pairing draws ---- */

Status against_open(Against *g, const Results *results, Arena *a, Error *err)
{
    const size_t rows = results->places * g->metrics;
    g->results = results;
    g->reference = NEW_ZERO(a, Drawn, rows);
    g->drawn = arena_take(a, rows, results->repeats * sizeof *g->drawn);
    g->draw = NEW(a, double, results->repeats);
    g->contrast = arena_zeroed(a, rows, results->codecs * sizeof *g->contrast);
    return arena_check(g->reference && g->drawn && g->draw && g->contrast, a, err);
}

/* Returns the standard error of a metric, which is the metric NAME_se; NaN: there is none. */
static double se_of(const Metric *m, const Tally *t)
{
    char name[64];
    snprintf(name, sizeof name, "%s_se", m->name);
    const Metric *se = metric_find(name);
    return se ? metric_value(se, t) : (double)NAN;
}

static Contrast *contrast_of(const Against *g, size_t place, size_t codec, size_t metric)
{
    return &g->contrast[(place * g->results->codecs + codec) * g->metrics + metric];
}

static Drawn draw_all(const Metric *m, const Tally *t, double *draw)
{
    for (size_t r = 0; r < t->decoded; r++)
        draw[r] = m->draw(t, r);
    return (Drawn){.draws = {draw, t->decoded, t->decoded > 1 || !t->spread_known},
                   .mean = metric_value(m, t),
                   .se = se_of(m, t)};
}

/* A record whose measurement failed on some vectors is not compared, as it covers fewer vectors. */
void against_put(Against *g, const Record *record)
{
    const size_t place = record->place, repeats = g->results->repeats;
    if (record->error || !record->vectors)
        return;
    for (size_t i = 0; i < g->metrics; i++) {
        const size_t at = place * g->metrics + i;
        Drawn *reference = &g->reference[at];
        if (record->codec == 0) {
            *reference = draw_all(g->metric[i], &record->tally, g->drawn + at * repeats);
        } else if (reference->draws.count) {
            const Drawn own = draw_all(g->metric[i], &record->tally, g->draw);
            *contrast_of(g, place, record->codec, i) =
                (Contrast){paired_difference(own.draws, reference->draws), own};
        }
    }
}

/* ---- rows ---- */

static Value *cell(Value *row, const char *field)
{
    return row + report_column(all_columns, field);
}

/* Writes the p-values of all codecs and metrics in the records at position `place` to `sorted`, ascending;
 * returns their number. */
static size_t collect_p(const Against *g, size_t place, double *sorted)
{
    const Contrast *c = contrast_of(g, place, 0, 0);
    size_t tests = 0;
    for (size_t i = 0; i < g->results->codecs * g->metrics; i++)
        if (c[i].own.draws.count && !isnan(c[i].paired.p))
            sorted[tests++] = c[i].paired.p;
    stats_sort(sorted, tests);
    return tests;
}

static Value difference_words(const Contrast *c, double holm, Arena *a)
{
    const Paired *d = &c->paired;
    if (isnan(d->difference))
        return value_none();
    if (!isnan(d->p) && holm >= AGAINST_LEVEL)
        return value_text("not seen");
    if (!isnan(d->p))
        return value_text(text_format(a, "%s (%s)", d->difference > 0 ? "larger" : "smaller", p_words(holm, a)));
    if (isnan(d->se))
        return value_text("cannot be seen with one repeat");
    return value_text(d->exact             ? "exact"
                      : d->difference == 0 ? "equal in each repeat"
                                           : "the same in each repeat");
}

/* Returns the text of the 95 % interval, with as many digits as the standard error supports. */
static Value interval_words(const Paired *d, Arena *a)
{
    if (isnan(d->low))
        return value_none();
    const double size = fmax(fabs(d->low), fabs(d->high));
    const int digits = (int)fmin(fmax(ceil(log10(size / d->se)) + 1, 2), 12);
    return value_text(text_format(a, "%#.*g to %#.*g", digits, d->low, digits, d->high));
}

static void fill_identity(const Results *r, size_t place, size_t codec, Value *row)
{
    const Value *from = r->rows + (place * r->codecs + codec) * r->column_count;
    for (size_t i = 0; i < COLUMNS; i++)
        for (size_t k = 0; k <= r->error; k++)
            if (!strcmp(all_columns[i].name, r->columns[k].name))
                row[i] = from[k];
    *cell(row, "against") = value_text(r->codec[0]);
    *cell(row, "spec") = value_text(r->spec[codec]);
}

static void fill_figures(const Contrast *c, const Drawn *reference, double holm, Value *row, Arena *a)
{
    const Paired *d = &c->paired;
    *cell(row, "result") = value_real(c->own.mean);
    *cell(row, "result_se") = value_real(c->own.se);
    *cell(row, "result_against") = value_real(reference->mean);
    *cell(row, "result_against_se") = value_real(reference->se);
    *cell(row, "difference") = value_real(d->difference);
    *cell(row, "difference_se") = value_real(d->se);
    *cell(row, "interval") = interval_words(d, a);
    *cell(row, "difference_low") = value_real(d->low);
    *cell(row, "difference_high") = value_real(d->high);
    *cell(row, "difference_p") = value_real(d->p);
    *cell(row, "difference_p_holm") = value_real(holm);
    *cell(row, "differs") = difference_words(c, holm, a);
}

static Status write_place(const Against *g, size_t place, bool shown, Report *report, Arena *a, Error *err)
{
    const Results *r = g->results;
    double *sorted = NEW(a, double, r->codecs * g->metrics);
    TRY(arena_check(sorted, a, err));
    const size_t tests = collect_p(g, place, sorted);
    for (size_t k = 1; k < r->codecs; k++)
        for (size_t i = 0; i < g->metrics && r->have[place * r->codecs + k]; i++) {
            const Contrast *c = contrast_of(g, place, k, i);
            Value row[COLUMNS] = {0};
            fill_identity(r, place, k, row);
            *cell(row, "metric") = value_text(g->metric[i]->name);
            if (c->own.draws.count)
                fill_figures(c, &g->reference[place * g->metrics + i],
                             isnan(c->paired.p) ? NAN : stats_holm(sorted, tests, c->paired.p), row, a);
            TRY(report_row(report, row, shown, err));
        }
    return OK;
}

static Status write_places(const Against *g, bool per_tensor, Report *report, Arena *a, Error *err)
{
    const Results *r = g->results;
    for (size_t place = 0; place < r->places; place++) {
        const bool shown = place + 1 == r->places || (per_tensor && r->level[place] == LEVEL_VECTOR);
        TRY(write_place(g, place, shown, report, a, err));
    }
    return OK;
}

Status against_write(const Against *g, bool per_tensor, ReportSpec spec, Arena *a, Error *err)
{
    const Results *r = g->results;
    Report *report;
    Column columns[COLUMNS];
    const bool steps = per_tensor && r->level[r->places - 1] == LEVEL_RUN;
    bool errors = false;
    memcpy(columns, all_columns, sizeof columns);
    columns[report_column(columns, "tensor")].shown = per_tensor;
    columns[report_column(columns, "step")].shown = steps;
    columns[report_column(columns, "worker")].shown = steps;
    for (size_t i = 0; i < r->places * r->codecs; i++)
        errors |= r->rows[i * r->column_count + r->error].type != VALUE_NONE;
    columns[report_column(columns, "error")].shown = errors;
    spec.columns = columns;
    spec.column_count = COLUMNS;
    TRY(report_open(&report, &spec, a, err));
    return report_finish(report, write_places(g, per_tensor, report, a, err), err);
}
