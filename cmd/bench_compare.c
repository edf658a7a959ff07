/* bench_compare.c -- compare FILE -c SPEC...: applies each codec to a gradient dump and reports the
 * metrics. */
#include "bench_commands.h"
#include "bench_solve.h"

#include "app/compare_job.h"
#include "compress/rate.h"
#include "compress/spec.h"
#include "math/stats.h"
#include "report/report_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The codecs that `compare` applies if the user gives no -c: the codecs of the ATOMO paper. `add_entry` adds
 * the codec `entry`. */
static const char *const paper_set[] = {"none", "qsgd:bits=1/2/4/8", "terngrad", "svd:rank=1/2/3/4"};
static const char sized_by[] = "svd:rank=3"; /* gives the size of `entry` */
static const char *const equal_set[] = {"none", "qsgd", "terngrad", "svd", "entry"};

/* ---- --against: the rows ----
 *
 * The reference is codec 0 of the comparison. A row is about one metric of another codec in one record of the
 * comparison (a tensor, a step or all steps). Rows are in the order of records, then codecs, then metrics. */

/* Family-wise error level: the probability that a table reports any difference although there are none. */
#define AGAINST_LEVEL 0.05

/* The values of a codec's metric on the vectors of one record. */
typedef struct {
    PairedDraws draws;     /* `draws.count` 0: the codec failed, or has not run */
    double mean, se; /* the metric and its standard error; NaN: unknown */
} Drawn;

typedef struct {
    Paired paired;
    Drawn own; /* `own.draws` is valid until the next record */
} Contrast;

typedef struct {
    const Metric **metric; /* (metrics) */
    size_t metrics;
    Drawn *reference;   /* [places][metrics]; a place is the position of a record (report_compare.h) */
    double *drawn;      /* [places][metrics][repeats] the reference's draws */
    double *draw;       /* (repeats) values of the codec that is compared with the reference */
    Contrast *contrast; /* [places][codecs][metrics] */
    const Results *results;
} Against;

/* The metrics compared without --metrics. */
static const char against_usual[] = "bits_per_element,relative_error,second_moment,cosine,wasserstein_mean";

/* The columns up to `repeats`, except `against`, are also columns of the results of `compare`. */
static const Column pair_columns[] = {
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
enum { PAIR_COLUMNS = countof(pair_columns) };

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

static Status against_metrics(Against *g, const char *names, Arena *a, Error *err)
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

static Status against_open(Against *g, const Results *results, Arena *a, Error *err)
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
static void against_put(Against *g, const Record *record)
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

static Value *cell(Value *row, const char *field)
{
    return row + report_column(pair_columns, field);
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
    for (size_t i = 0; i < PAIR_COLUMNS; i++)
        for (size_t k = 0; k <= r->error; k++)
            if (!strcmp(pair_columns[i].name, r->columns[k].name))
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
            Value row[PAIR_COLUMNS] = {0};
            fill_identity(r, place, k, row);
            *cell(row, "metric") = value_text(g->metric[i]->name);
            if (c->own.draws.count)
                fill_figures(c, &g->reference[place * g->metrics + i],
                             isnan(c->paired.p) ? NAN : stats_holm(sorted, tests, c->paired.p), row, a);
            TRY(report_row(report, row, shown, err));
        }
    return OK;
}

static Status against_write(const Against *g, bool per_tensor, ReportSpec spec, Arena *a, Error *err)
{
    const Results *r = g->results;
    Report *report;
    Column columns[PAIR_COLUMNS];
    const bool steps = per_tensor && r->level[r->places - 1] == LEVEL_RUN;
    bool errors = false;
    memcpy(columns, pair_columns, sizeof columns);
    columns[report_column(columns, "tensor")].shown = per_tensor;
    columns[report_column(columns, "step")].shown = steps;
    columns[report_column(columns, "worker")].shown = steps;
    for (size_t i = 0; i < r->places * r->codecs; i++)
        errors |= r->rows[i * r->column_count + r->error].type != VALUE_NONE;
    columns[report_column(columns, "error")].shown = errors;
    spec.columns = columns;
    spec.column_count = PAIR_COLUMNS;
    TRY(report_open(&report, &spec, a, err));
    for (size_t place = 0; place < r->places; place++)
        TRY(write_place(g, place, place + 1 == r->places || (per_tensor && r->level[place] == LEVEL_VECTOR), report, a, err));
    return report_close(report, err);
}

/* ---- the command ---- */

typedef struct {
    CompareJob job;
    const char *against; /* spec of --against; NULL: not given */
    Against pairs;
} Compare;

static Compare *compare_of(CompareJob *j)
{
    return (Compare *)j; /* the job is Compare's first member */
}

/* Moves the codec of --against to the front of the list, or adds it there. */
static Status put_first(const Codec ***codec, size_t *count, const char *spec, Arena *a, Error *err)
{
    const Codec **all = NEW(a, const Codec *, *count + 1);
    TRY(arena_check(all, a, err));
    if (codec_open(&all[0], spec, a, err) != OK)
        return error_at(err, "--against");
    memcpy(all + 1, *codec, *count * sizeof *all);
    *codec = all;
    *count += 1;
    return codec_unique(all, count, a, err);
}

static void put_pairs(CompareJob *j, const Record *record)
{
    against_put(&compare_of(j)->pairs, record);
}

/* The differences of --against need the metrics of each repeat, which FILE.part does not hold, so a comparison with
 * --against cannot be resumed. */
static Status prepare_pairs(CompareJob *j)
{
    if (j->common.resume) {
        FAIL(j->err, ERR_USAGE,
             "--resume: cannot continue a comparison with --against, which keeps no records");
        return error_hint(j->err, "leave --resume out");
    }
    if (j->view.sort) {
        FAIL(j->err, ERR_USAGE, "--sort: rows of --against stand in the order of codecs and metrics");
        return error_hint(j->err, "leave --sort out");
    }
    j->keeps_no_part = true;
    j->figures = put_pairs;
    if (!j->view.metrics)
        j->view.metrics = against_usual;
    TRY(view_check(&j->view, j->own, j->err));
    return against_metrics(&compare_of(j)->pairs, j->view.metrics, j->a, j->err);
}

/* ---- --equal-bits: the rate at which each codec sends a given number of bits per element ---- */

/* Loads a vector. Redraws the progress bar too, because the search for one codec's rate takes long and loads
 * many vectors. */
static Status load_slowly(void *data, const Vector *v, float *x, Error *err)
{
    CompareJob *j = data;
    progress_step(&j->progress, j->progress.done);
    return vector_load(j->dump, v, x, err);
}

/* Sets the codec's rate to the value at which the search starts. Specs that differ only in the rate become
 * equal, so the search runs once for them. */
static Status unset_rate(CompareJob *j, const Codec **codec)
{
    Rate r;
    double low, high, start;
    if (!rate_find(&r, *codec, true))
        return OK;
    if (rate_named(&r)) {
        const char *spec = codec_typed(*codec, j->a);
        TRY(arena_check(spec, j->a, j->err));
        progress_note(&j->progress, "note: %s: --equal-bits sets %s's %s, whatever the spec says", spec,
                      r.stage->ops->name, r.key->key);
    }
    rate_range(&r, &low, &high, &start);
    return rate_set(codec, *codec, &r, start, j->a, j->err);
}

static Status solve_one(CompareJob *j, const Comparison *c, const Codec **codec)
{
    unsigned tries;
    const char *name = codec_typed(*codec, j->a);
    progress_at(&j->progress, "%s", name ? name : "");
    TRY(compare_solve(c, codec, *codec, j->target_bits, &tries, j->a, j->err));
    return arena_check(name, j->a, j->err);
}

static Status solve_all(CompareJob *j, const Comparison *c, const Codec **codec, size_t count)
{
    progress_close(&j->progress);
    progress_open(&j->progress, "solving", "codecs", count, j->common.quiet);
    for (size_t k = 0; k < count; k++) {
        TRY(solve_one(j, c, &codec[k]));
        progress_step(&j->progress, k + 1);
    }
    return OK;
}

/* Returns a comparison of sizes, for compare_solve and compare_bits. */
static Comparison sizes_of(CompareJob *j)
{
    return (Comparison){.vectors = &j->list,
                        .repeats = (size_t)j->repeats,
                        .seed = (uint64_t)j->common.seed,
                        .threads = (int)j->common.threads,
                        .data = j,
                        .load = load_slowly,
                        .stopped = cli_stopped};
}

static Status equal_bits(CompareJob *j, const Codec **codec, size_t *count)
{
    const Comparison c = sizes_of(j);
    for (size_t k = 0; k < *count; k++)
        TRY(unset_rate(j, &codec[k]));
    TRY(codec_unique(codec, count, j->a, j->err));
    TRY(solve_all(j, &c, codec, *count));
    return codec_unique(codec, count, j->a, j->err);
}

static const char *why_not(const Codec *codec)
{
    Rate r;
    double low, high, start;
    if (!rate_find(&r, codec, true))
        return "it has no rate to set";
    rate_range(&r, &low, &high, &start);
    const double value = rate_value(&r);
    if (value <= low || value >= high)
        return "its sizes end there";
    return r.key->type == PARAM_INT ? "its sizes come in steps, of which this is the nearest" : "no rate came nearer";
}

static void note_unreached(CompareJob *j)
{
    const size_t whole = j->results.places - 1;
    for (size_t k = 0; k < j->codecs && !j->common.quiet; k++) {
        const double bits = results_number(&j->results, whole, k, "bits_per_element_expected");
        if (!isnan(bits) && fabs(bits / j->target_bits - 1) > SIZE_TOLERANCE)
            progress_note(&j->progress, "note: %s: %.4g bits per element: %s", j->name[k], bits, why_not(j->codec[k]));
    }
}

/* ---- the codecs ---- */

/* Adds `entry` as the last codec, at the expected bits per element of svd of rank 3. */
static Status add_entry(CompareJob *j, const Codec ***codec, size_t *count)
{
    const Comparison c = sizes_of(j);
    const Codec **all = NEW(j->a, const Codec *, *count + 1), *svd;
    char spec[64] = "entry";
    double bits;
    TRY(arena_check(all, j->a, j->err));
    TRY(codec_open(&svd, sized_by, j->a, j->err));
    TRY(compare_bits(&c, svd, c.repeats, &bits, j->err));
    if (bits > 0)
        snprintf(spec, sizeof spec, "entry:bits=%.3g", fmin(bits, 64));
    memcpy(all, *codec, *count * sizeof *all);
    *codec = all;
    return codec_open(&all[(*count)++], spec, j->a, j->err);
}

static Status compare_set(CompareJob *j, const Codec **codec, size_t count)
{
    if (j->target_bits > 0)
        TRY(equal_bits(j, codec, &count));
    else if (!j->specs.count)
        TRY(add_entry(j, &codec, &count));
    TRY(compare_job_codecs(j, codec, count));
    if (compare_of(j)->against)
        TRY(against_open(&compare_of(j)->pairs, &j->results, j->a, j->err));
    return compare_job_run(j);
}

static Status compare_write(CompareJob *j, ReportSpec spec)
{
    if (j->target_bits > 0) {
        target_fill(&j->results, j->target_bits);
        note_unreached(j);
    }
    return compare_of(j)->against ? against_write(&compare_of(j)->pairs, j->view.per_tensor, spec, j->a, j->err)
                                  : results_write(&j->results, &j->view, spec, j->err);
}

static Status run(CompareJob *j)
{
    const TextList paper = {(const char **)(uintptr_t)paper_set, countof(paper_set)},
                   equal = {(const char **)(uintptr_t)equal_set, countof(equal_set)};
    const char *against = compare_of(j)->against;
    const Codec **codec;
    size_t count;
    if (j->target_bits > 0)
        j->own = target_fields;
    TRY(codec_list(&codec, &count,
                   j->specs.count       ? &j->specs
                   : j->target_bits > 0 ? &equal
                                        : &paper,
                   j->a, j->err));
    if (against) {
        TRY(prepare_pairs(j));
        TRY(put_first(&codec, &count, against, j->a, j->err));
    }
    if (j->hints.sample && (against || j->target_bits > 0))
        return FAIL(j->err, ERR_USAGE, "--sample: not with --against or --equal-bits");
    if (j->hints.sample)
        return sample_run(j, codec, count);
    j->schema = against ? "atomo-against/1" : "atomo-compare/1";
    TRY(compare_job_open(j, codec, count));
    return compare_job_finish(j, compare_set(j, codec, count), compare_write);
}

int bench_compare(int argc, char **argv)
{
    Compare c = {0};
    const Option options[] = {
        OPTION(0, "against", "SPEC", &c.against,
               "report each metric's difference to this codec, with interval and p-value"),
        OPTION(0, "equal-bits", "B", &c.job.target_bits,
               "set each codec's rate so that it sends B bits per element", .low = 1e-6, .high = 64),
        OPTION_SAMPLE(&c.job, SAMPLE_HELP),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "compare",
        .usage = "FILE... [-c SPEC]...",
        .brief = "apply each codec to a gradient dump, report size, time and error",
        .examples = "FILE\n"
                    "FILE -c qsgd:bits=2/4/8 -c ef+topk:ratio=0.01\n"
                    "FILE -t '*conv*' --per-tensor -o result.csv\n"
                    "FILE --equal-bits 1\n"
                    "model.safetensors.index.json --sample 64 -c qsgd -c topk\n",
        .details =
            "Without -c: none, qsgd at 1, 2, 4 and 8 bits, terngrad, svd of rank 1 to 4, and entry at the bits per "
            "element that svd of rank 3 took on this selection, to three digits.\n"
            "--equal-bits solves for each codec's rate (the key that list CODEC marks; for qsgd its levels), so that its "
            "expected size over the whole selection is B bits per element within 1 %: bits_per_element_expected, which is "
            "exact where its standard error is 0, and else a mean over these repeats. The field "
            "reached says whether the codec gets there: one whose sizes come in steps, or end before B, is shown at the "
            "nearest size, one without a rate as it is.\n"
            "--against reports paired differences: codecs draw the same random numbers in the same repeat, so the "
            "differences of their results vary less than the results. Each row is a codec and a metric: both means, their "
            "difference with its 95 % interval (Student's t over the repeats), and a verdict at p = 0.05, after Holm's "
            "correction for all rows on the same tensors. Where no repeat differs from another there is no interval. --metrics takes "
            "metrics that are means over repeats; without it: bits_per_element, relative_error, second_moment, cosine and "
            "wasserstein_mean. No time is measured.\n"
            "--sample reads K random slices along the first axis of each tensor, and 256 K elements of a vector. Each row of the result is a codec and "
            "a metric of the whole selection, with a 95 % interval that has the sampling in it. Codecs of whole matrices (svd, powersgd) and "
            "those that divide bits between tensors are refused.\n",
        .options = options,
    };
    return compare_job_main(&c.job, &command, argc, argv, run);
}
