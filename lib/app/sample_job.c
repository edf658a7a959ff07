/* sample_job.c -- compare and sweep with --sample K: estimates the metrics of a comparison from K random rows of each matrix.
 *
 * Each repeat draws its own rows and its own random numbers, so that the spread of the repeats has both in it. A tensor's sums count
 * as often as its rows stand for others. Sizes, and errors of codecs that choose among all elements, depend on how many elements
 * there are: to first order by c / n. So each repeat is also measured on every second of its rows, and with a and b for the
 * results on n and n / 2 of N elements, a + (a - b) (1 - n / N) is the estimate. */
#include "app/compare_job.h"

#include "compress/harness.h"
#include "compress/spec.h"
#include "measure/timing.h"

#include <math.h>
#include <string.h>

/* The metrics that rows of a tensor tell: means over elements, and what adds up over them. */
static const char *const estimated[] = {"bits_per_element", "bytes",   "ratio",  "mse",     "relative_error", "rel_l2",
                                        "rel_l1",           "cosine",  "sign_agreement", "density", "encode_ms", "decode_ms", NULL};
static const char usual[] = "bits_per_element,relative_error,cosine,encode_ms,decode_ms";

static const Column sample_columns[] = {{"compressor", true}, {"metric", true},       {"result", true},   {"result_se", false}, {"interval", true},
                                        {"result_low", false}, {"result_high", false}, {"repeats", false}, {"spec", false}};
enum { COLUMNS = countof(sample_columns) };
#define TRUSTED 0.03

typedef struct {
    CompareJob *job;
    const Metric *metric[countof(estimated)];
    size_t metrics;
    size_t half;   /* that is measured now */
    double *value; /* [codecs][metrics][repeats][SAMPLE_HALVES]; NaN: none */
} Sampling;

static double *value_of(const Sampling *s, size_t codec, size_t metric, size_t repeat)
{
    return s->value + ((codec * s->metrics + metric) * (size_t)s->job->repeats + repeat) * SAMPLE_HALVES;
}

/* ---- what can be sampled ---- */

static Status choose_metrics(Sampling *s, const char *names)
{
    char all[200];
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const char *name = text_slice(s->job->a, at, strcspn(at, ","));
        size_t i = 0, k = 0;
        TRY(arena_check(name, s->job->a, s->job->err));
        while (estimated[i] && strcmp(estimated[i], name))
            i++;
        if (!estimated[i])
            return text_unknown(s->job->err, name, text_list_name, estimated, "--metrics %.60s: with --sample want some of %s", name,
                                text_names(all, sizeof all, text_list_name, estimated));
        const Metric *m = metric_find(name);
        while (k < s->metrics && s->metric[k] != m)
            k++;
        s->metric[k] = m;
        s->metrics += k == s->metrics;
    }
    return OK;
}

static bool tells(const Codec *c)
{
    return !c || (!(codec_traits(c) & NEEDS_ALL) && !codec_plan_size(c) && tells(c->inner) && tells(c->other));
}

Status sample_check(const Codec *codec, Arena *a, Error *err)
{
    return tells(codec) ? OK
                        : FAIL(err, ERR_USAGE, "--sample: %.100s depends on whole tensors or on the whole model, which rows do not tell",
                               codec_typed(codec, a));
}

static Status check_all(Sampling *s, const Codec *const *codec, size_t count)
{
    CompareJob *j = s->job;
    if (j->grouping != GROUP_TENSOR || j->view.per_tensor || j->view.sort || j->common.resume)
        return FAIL(j->err, ERR_USAGE, "--sample: not with --group, --per-tensor, --sort or --resume");
    if (!j->specs.count)
        return FAIL(j->err, ERR_USAGE, "--sample: want -c SPEC");
    j->view.metrics = j->view.metrics ? j->view.metrics : usual;
    TRY(choose_metrics(s, j->view.metrics));
    for (size_t k = 0; k < count; k++)
        TRY(sample_check(codec[k], j->a, j->err));
    return OK;
}

/* ---- draws ---- */

Status sample_open(CompareJob *j)
{
    Sample *s = &j->sample;
    DumpHints hints = j->hints;
    size_t whole = 0;
    hints.thin = SAMPLE_HALVES;
    s->dump[0] = j->dump;
    s->list[0] = j->list;
    TRY(dump_open_as(&s->dump[1], j->file, &hints, j->a, j->err));
    TRY(groups_make(&s->list[1], s->dump[1], &j->groups, j->a, j->err));
    for (size_t i = 0; i < j->list.count; i++)
        whole += j->list.item[i].whole;
    s->share = whole ? (double)j->list.elements / (double)whole : 1;
    if (!j->common.quiet)
        progress_note(&j->progress, "note: %s: %zu of %zu elements are read in each of %lld draws", j->file, j->list.elements, whole,
                      (long long)j->repeats);
    return OK;
}

static void keep(CompareJob *j, const Record *r)
{
    const Sampling *s = j->data;
    for (size_t i = 0; i < s->metrics && r->place + 1 == j->results.places; i++)
        value_of(s, r->codec, i, j->sample.draw)[s->half] = r->vectors && !r->error ? metric_value(s->metric[i], &r->tally) : (double)NAN;
}

static Status measure_draws(CompareJob *j)
{
    Sampling *s = j->data;
    s->value = arena_take(j->a, j->codecs * s->metrics * (size_t)j->repeats, SAMPLE_HALVES * sizeof *s->value);
    TRY(arena_check(s->value, j->a, j->err));
    j->figures = keep;
    for (size_t i = SAMPLE_HALVES * (size_t)j->repeats; i-- > 0;) { /* the last is a whole draw, whose elements the results tell */
        s->half = i % SAMPLE_HALVES;
        sample_draw(j, i / SAMPLE_HALVES, s->half);
        TRY(compare_job_run(j));
        TRY(results_check(&j->results, j->file, j->err));
    }
    return OK;
}

/* ---- estimates ---- */

/* The width of 95 % on each side of a mean over repeats, by Student's t. */
static double margin(const Moments *m)
{
    const double n = (double)m->n;
    return n > 1 ? t_quantile(0.05, n - 1) * sqrt(moments_variance(m) / n) * skew_factor(moments_skewness(m), n) : (double)NAN;
}

/* The interval has the margin, and what the correction for the number of elements may be off; a thousandth of the result at
 * least, as payloads are whole bytes and words. A result that certainly changes by more than TRUSTED with each doubling of the
 * elements, as that of a codec that scales by the largest, is one that rows do not tell. */
SampleEstimate sample_estimate(const CompareJob *j, const double *value, bool time)
{
    Moments m = {0}, correction = {0};
    for (const double *v = value; v < value + SAMPLE_HALVES * j->repeats; v += SAMPLE_HALVES) {
        const double more = time ? 0 : (v[0] - v[1]) * (1 - j->sample.share); /* times grow with the elements */
        moments_add(&m, v[0] + more);
        moments_add(&correction, more);
    }
    const double off = fabs(correction.mean), size = fabs(m.mean);
    const bool changes = off > 2 * margin(&correction); /* by chance once in 500 times */
    const double half = m.n > 1 ? fmax(margin(&m) + off * (changes ? fmax(-log2(j->sample.share), 1) : 1), size / 1000) : (double)NAN;
    return (SampleEstimate){.mean = m.mean,
                            .half = half,
                            .se = half / (m.n > 1 ? t_quantile(0.05, (double)m.n - 1) : (double)NAN),
                            .told = !(changes && off > TRUSTED * size)};
}

/* ---- writing ---- */

static Status write_row(const Sampling *s, size_t codec, size_t metric, Report *report, Arena *a, Error *err)
{
    const CompareJob *j = s->job;
    const SampleEstimate e = sample_estimate(j, value_of(s, codec, metric, 0), s->metric[metric]->form == FORM_TIME);
    const bool known = e.told && !isnan(e.half);
    const int digits = known ? (int)fmin(fmax(ceil(log10(fabs(e.mean) / e.half + 1)) + 1, 2), 12) : 4;
    const double low = known ? e.mean - e.half : (double)NAN, high = known ? e.mean + e.half : (double)NAN;
    const Value row[COLUMNS] = {value_text(j->name[codec]),
                                value_text(s->metric[metric]->name),
                                value_real(e.told ? e.mean : (double)NAN),
                                value_real(known ? e.se : (double)NAN),
                                known    ? value_text(text_format(a, "%#.*g to %#.*g", digits, low, digits, high))
                                : e.told ? value_none()
                                         : value_text("rows do not tell"),
                                value_real(low),
                                value_real(high),
                                value_int(j->repeats),
                                value_text(codec_complete(j->codec[codec], a))};
    return report_row(report, row, true, err);
}

static Status write_rows(CompareJob *j, ReportSpec spec)
{
    const Sampling *s = j->data;
    Report *report;
    Status status = OK;
    spec.columns = sample_columns;
    spec.column_count = COLUMNS;
    TRY(report_open(&report, &spec, j->a, j->err));
    for (size_t k = 0; k < j->codecs; k++)
        for (size_t i = 0; i < s->metrics && status == OK; i++)
            status = write_row(s, k, i, report, j->a, j->err);
    return report_finish(report, status, j->err);
}

Status sample_run(CompareJob *j, const Codec *const *codec, size_t count)
{
    Sampling s = {.job = j};
    j->data = &s;
    j->keeps_no_part = true;
    j->own = (OwnFields){0};
    j->schema = "atomo-sample/1";
    TRY(check_all(&s, codec, count));
    TRY(compare_job_open(j, codec, count));
    Status status = compare_job_codecs(j, codec, count);
    if (status == OK)
        status = sample_open(j);
    if (status == OK)
        status = measure_draws(j);
    j->sums_up = status != OK; /* of draws that were stopped nothing is shown */
    return compare_job_finish(j, status, write_rows);
}
