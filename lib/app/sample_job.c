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
enum { COLUMNS = countof(sample_columns), HALVES = 2 };
#define TRUSTED 0.03

typedef struct {
    CompareJob *job;
    Dump *dump[HALVES]; /* with all rows of a draw, and with every second of them */
    VectorList list[HALVES];
    const Metric *metric[countof(estimated)];
    size_t metrics;
    double *value; /* [codecs][metrics][repeats][HALVES]; NaN: none */
    bool timed;
    size_t half, repeat; /* that runs now */
    double share;        /* of all elements, those of a draw */
} Sampling;

static double *value_of(const Sampling *s, size_t codec, size_t metric, size_t repeat)
{
    return s->value + ((codec * s->metrics + metric) * (size_t)s->job->repeats + repeat) * HALVES;
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
        s->timed |= m->form == FORM_TIME;
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
    TRY(choose_metrics(s, j->view.metrics ? j->view.metrics : usual));
    for (size_t k = 0; k < count; k++)
        TRY(sample_check(codec[k], j->a, j->err));
    return OK;
}

/* ---- measuring ---- */

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    const Sampling *s = data;
    return vector_load(s->dump[s->half], v, x, err);
}

static Status keep(void *data, const Record *r, Error *err)
{
    const Sampling *s = data;
    for (size_t i = 0; i < s->metrics && r->place + 1 == compare_places(&s->list[s->half]); i++)
        value_of(s, r->codec, i, s->repeat)[s->half] = r->vectors && !r->error ? metric_value(s->metric[i], &r->tally) : (double)NAN;
    if (r->error && r->level == LEVEL_VECTOR)
        return FAIL(err, ERR_NUMERIC, "%.200s: %.200s: %.300s", s->job->name[r->codec], r->vector->name, r->error);
    return OK;
}

static Status measure(Sampling *s)
{
    CompareJob *j = s->job;
    const Comparison c = {.codec = j->codec,
                          .codecs = j->codecs,
                          .vectors = &s->list[s->half],
                          .repeats = 1,
                          .seed = (uint64_t)j->common.seed + 0x9e3779b97f4a7c15 * s->repeat, /* other random numbers for each repeat */
                          .threads = (int)j->common.threads,
                          .sample = SAMPLE_LEAST,
                          .untimed = !s->timed,
                          .without_distances = true,
                          .data = s,
                          .load = load,
                          .record = keep,
                          .stopped = cli_stopped};
    size_t failures;
    Arena *work = arena_open(0);
    dump_draw(s->dump[s->half], c.seed);
    const Status status = compare_run(&c, &failures, work, j->err);
    arena_close(work);
    return status;
}

static Status measure_all(Sampling *s)
{
    CompareJob *j = s->job;
    const size_t repeats = (size_t)j->repeats;
    progress_close(&j->progress);
    progress_open(&j->progress, "sampling", "draws", repeats, j->common.quiet);
    for (s->repeat = 0; s->repeat < repeats; s->repeat++) {
        for (s->half = 0; s->half < HALVES; s->half++)
            TRY(measure(s));
        progress_step(&j->progress, s->repeat + 1);
    }
    return OK;
}

static Status open_half(Sampling *s)
{
    CompareJob *j = s->job;
    DumpHints hints = j->hints;
    size_t whole = 0;
    hints.thin = HALVES;
    TRY(dump_open_as(&s->dump[1], j->file, &hints, j->a, j->err));
    TRY(groups_make(&s->list[1], s->dump[1], &j->groups, j->a, j->err));
    s->dump[0] = j->dump;
    s->list[0] = j->list;
    for (size_t i = 0; i < j->list.count; i++)
        whole += j->list.item[i].whole;
    s->share = whole ? (double)j->list.elements / (double)whole : 1;
    const size_t values = j->codecs * s->metrics;
    s->value = arena_take(j->a, values * (size_t)j->repeats, HALVES * sizeof *s->value);
    TRY(arena_check(s->value, j->a, j->err));
    if (!j->common.quiet)
        progress_note(&j->progress, "note: %s: %zu of %zu elements are read in each of %lld draws", j->file, j->list.elements, whole,
                      (long long)j->repeats);
    return OK;
}

/* ---- writing ---- */

/* The width of 95 % on each side of a mean over repeats, by Student's t. */
static double margin(const Moments *m)
{
    const double n = (double)m->n;
    return n > 1 ? t_quantile(0.05, n - 1) * sqrt(moments_variance(m) / n) * skew_factor(moments_skewness(m), n) : (double)NAN;
}

/* Half the width of the interval: the margin, and what the correction for the number of elements may be off; a thousandth of the result
 * at least, as payloads are whole bytes and words. NaN: unknown, or the result certainly changes by more than TRUSTED with each
 * doubling of the elements, as that of a codec that scales by the largest: then rows do not tell it. */
static double half_width(const Moments *m, const Moments *correction, double share)
{
    const double off = fabs(correction->mean), size = fabs(m->mean);
    if (m->n < 2)
        return NAN;
    const bool changes = off > 2 * margin(correction); /* by chance once in 500 times */
    if (changes && off > TRUSTED * size)
        return NAN;
    return fmax(margin(m) + off * (changes ? fmax(-log2(share), 1) : 1), size / 1000);
}

static Status write_row(const Sampling *s, size_t codec, size_t metric, Report *report, Arena *a, Error *err)
{
    const CompareJob *j = s->job;
    Moments m = {0}, correction = {0};
    for (size_t r = 0; r < (size_t)j->repeats; r++) {
        const double *v = value_of(s, codec, metric, r);
        const double more = s->metric[metric]->form == FORM_TIME ? 0 : (v[0] - v[1]) * (1 - s->share); /* times grow with the elements */
        moments_add(&m, v[0] + more);
        moments_add(&correction, more);
    }
    const double half = half_width(&m, &correction, s->share);
    const bool known = !isnan(half), told = known || m.n < 2;
    const int digits = known ? (int)fmin(fmax(ceil(log10(fabs(m.mean) / half + 1)) + 1, 2), 12) : 4;
    const Value row[COLUMNS] = {value_text(j->name[codec]),
                                value_text(s->metric[metric]->name),
                                value_real(told ? m.mean : (double)NAN),
                                value_real(known ? sqrt(moments_variance(&m) / (double)m.n) : (double)NAN),
                                known ? value_text(text_format(a, "%#.*g to %#.*g", digits, m.mean - half, digits, m.mean + half))
                                : told ? value_none()
                                       : value_text("rows do not tell"),
                                value_real(known ? m.mean - half : (double)NAN),
                                value_real(known ? m.mean + half : (double)NAN),
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
    j->schema = "atomo-sample/1";
    TRY(check_all(&s, codec, count));
    TRY(compare_job_open(j, codec, count));
    Status status = compare_job_codecs(j, codec, count);
    if (status == OK)
        status = open_half(&s);
    if (status == OK)
        status = measure_all(&s);
    dump_close(s.dump[1]);
    j->sums_up = status != OK; /* of draws that were stopped nothing is shown */
    return compare_job_finish(j, status, write_rows);
}
