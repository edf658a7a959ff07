/* bench_cost_job.c -- the measurements and options of the command cost. Every codec is measured with one worker
 * alone, step after step. Codecs whose payloads can be added are also measured with up to 16 workers,
 * whose payloads are merged. */
#include "bench_cost_job.h"
#include "compress/spec.h"

#include "math/stats.h"
#include "report/report_stored.h"

#include <math.h>
#include <string.h>

/* ==== options ==== */

static Status each_item(CostJob *c, const char *text, Status (*take)(CostJob *c, const char *item))
{
    char *rest = NULL, *copy = text_copy(c->job.a, text);
    TRY(arena_check(copy, c->job.a, c->job.err));
    for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
        TRY(take(c, item));
    return OK;
}

const char *cost_topology_name(const void *data, size_t i)
{
    return i ? topology_value(data, i - 1) : "auto";
}

const char *cost_flat_topology(const void *data, size_t i)
{
    return i <= TOPOLOGY_HIER ? cost_topology_name(data, i) : NULL;
}

static Status take_topology(CostJob *c, const char *item)
{
    const bool again = c->node;
    const char *more = "";
    Topology t = (Topology)TOPOLOGY_AUTO;
    if (c->topologies == COST_TOPOLOGIES_MOST)
        return FAIL(c->job.err, ERR_USAGE, "--topology: more than %d", COST_TOPOLOGIES_MOST);
    if (strcmp(item, "auto"))
        TRY(topology_read(&t, &c->node, &more, item, c->within_text ? cost_topology_name : cost_flat_topology, c->job.err));
    c->topology[c->topologies++] = (int)t;
    if (t != TOPOLOGY_HIER)
        return OK;
    if (*more || again || !c->within_text)
        return FAIL(c->job.err, ERR_USAGE, "--topology %.40s: %s", item, c->within_text ? "want one hier:node=K" : "advise weighs no nodes");
    c->hier = text_copy(c->job.a, item);
    TRY(link_read(&c->near, c->near_text, c->job.a, c->job.err));
    return arena_check(c->hier, c->job.a, c->job.err);
}

/* Options of hier have no effect without it. */
static Status check_hier(const CostJob *c)
{
    static const char *const options[] = {"within", "link-within"};
    for (size_t i = 0; i < countof(options) && !c->node; i++)
        if (cli_given(&c->job.common, options[i]))
            return FAIL(c->job.err, ERR_USAGE, "--%s: want --topology hier:node=K as well", options[i]);
    return OK;
}

enum { COST_LINKS_MOST = 64 };

static Status take_link(CostJob *c, const char *item)
{
    if (c->links == COST_LINKS_MOST)
        return FAIL(c->job.err, ERR_USAGE, "--link: more than %d", COST_LINKS_MOST);
    return link_read(&c->link[c->links++], item, c->job.a, c->job.err);
}

/* Reads --link: alpha=..,beta=.. defines one link, any other text is a list of presets. */
static Status read_links(CostJob *c)
{
    c->link = NEW(c->job.a, Link, COST_LINKS_MOST);
    TRY(arena_check(c->link, c->job.a, c->job.err));
    for (size_t i = 0; i < c->link_texts.count; i++) {
        const char *text = c->link_texts.item[i];
        TRY(strchr(text, '=') ? take_link(c, text) : each_item(c, text, take_link));
    }
    return c->links ? OK : FAIL(c->job.err, ERR_USAGE, "--link: there is none");
}

Status cost_read_compute(CostJob *c)
{
    CompareJob *j = &c->job;
    Stored stored;
    size_t steps = 0;
    if (!c->compute_from) {
        if (c->compute_ms == 0)
            progress_note(&j->progress,
                          "note: no --compute-ms or --compute-from: times are those of the exchange");
        return OK;
    }
    if (c->compute_ms > 0)
        return FAIL(j->err, ERR_USAGE, "--compute-ms and --compute-from: want one of them");
    TRY(stored_load(&stored, c->compute_from, j->a, j->err));
    const Csv *run = &stored.table;
    double *ms = NEW(j->a, double, run->rows);
    TRY(arena_check(ms, j->a, j->err));
    for (size_t i = 0; i < run->rows; i++) {
        const double v = csv_real(run, i, "compute_ms");
        if (!strcmp(csv_cell(run, i, "record"), "step") && v >= 0)
            ms[steps++] = v;
    }
    if (steps == 0) {
        FAIL(j->err, ERR_CORRUPT, "%s: it has no step with a compute_ms", c->compute_from);
        return error_hint(j->err, "--compute-from reads what atomo-train run writes with -o FILE.csv");
    }
    c->compute_ms = stats_median(ms, steps);
    c->compute_se = steps > 1 ? sqrt(stats_median_variance(ms, steps)) : NAN;
    return OK;
}

Status cost_read(CostJob *c)
{
    TRY(each_item(c, c->topology_text, take_topology));
    TRY(check_hier(c));
    if (!c->topologies)
        return FAIL(c->job.err, ERR_USAGE, "--topology: there is none");
    TRY(counts_read(&c->workers, "--workers", c->workers_text, TOPOLOGY_WORKERS_MOST, c->job.err));
    for (size_t i = 0; i < c->workers.count && c->node && !cli_given(&c->job.common, "workers"); i++)
        c->workers.number[i] *= c->node; /* the default is that of nodes, which workers fill */
    return read_links(c);
}

/* ==== measurements ==== */

/* ---- layers: all vectors of one name, over steps and workers ---- */

static size_t find_layer(const CostJob *c, const char *name)
{
    size_t i = 0;
    while (i < c->layers && strcmp(c->name[i], name) != 0)
        i++;
    return i;
}

static Status find_layers(CostJob *c)
{
    const VectorList *list = &c->job.list;
    c->name = NEW(c->job.a, const char *, list->count);
    TRY(arena_check(c->name, c->job.a, c->job.err));
    for (size_t i = 0; i < list->count; i++)
        if (find_layer(c, list->item[i].name) == c->layers)
            c->name[c->layers++] = list->item[i].name;
    return OK;
}

static Status make_room(CostJob *c)
{
    const size_t count = (1 + c->measured.count) * c->job.codecs;
    c->alone = NEW_ZERO(c->job.a, CostMeasured, count);
    bool taken = c->alone != NULL;
    for (size_t i = 0; taken && i < count; i++)
        taken = (c->alone[i].layer = NEW_ZERO(c->job.a, CostLayer, c->layers)) != NULL;
    c->together = taken ? c->alone + c->job.codecs : NULL;
    return arena_check(taken, c->job.a, c->job.err);
}

/* ---- records ---- */

static double value_of(const Tally *t, const char *metric)
{
    return metric_value(metric_find(metric), t);
}

/* A closed form replaces the mean over repeats. */
static CostErrors errors_of(const Tally *t)
{
    const double exact = value_of(t, "relative_error_expected"), measured = value_of(t, "relative_error");
    const bool known = !isnan(exact);
    return (CostErrors){.relative = known ? exact : measured,
                        .relative_se =
                            value_of(t, known ? "relative_error_expected_se" : "relative_error_se"),
                        .variance = t->unbiased ? (known ? exact : measured)
                                                : value_of(t, "variance") / t->gradient[G_SQUARES],
                        .scratch = t->scratch};
}

static void add_record(const CostJob *c, CostMeasured *m, const Record *r)
{
    const Tally *t = &r->tally;
    /* the records of cells precede that of the whole run, which exists if there are several cells */
    if (r->level != LEVEL_VECTOR && r->vectors)
        m->errors = errors_of(t);
    if (r->level == LEVEL_RUN)
        return;
    if (r->level == LEVEL_CELL)
        m->cells++;
    if (r->error && !m->error) {
        m->error = text_format(c->job.a, "%s: %s", r->vector->name, r->error);
        m->error = m->error ? m->error : "failed";
    }
    if (!r->vectors)
        return;
    /* planning time = encoding time of a whole step - sum of the encoding times of the step's vectors */
    m->plan += r->level == LEVEL_CELL ? t->encode : -t->encode;
    if (r->level == LEVEL_CELL)
        return;
    CostLayer *l = &m->layer[find_layer(c, r->vector->name)];
    l->n += t->n;
    l->encode += t->encode;
    l->decode += t->decode;
    l->merge += t->merge;
    l->bytes += t->bytes;
    l->merged += t->merged;
    l->early += t->early;
    /* until `take_means`, the members `*_se` have variances, the squares of standard errors */
    l->encode_se += t->encode_spread;
    l->decode_se += t->decode_spread;
    l->merge_se += t->merge_spread;
    /* all repeats have sizes, even if one alone was compared with the gradient */
    const bool sizes_known = t->spread_known || t->repeats > 1;
    l->bytes_se += sizes_known ? t->sizes / (double)t->repeats : NAN;
    l->merged_se += sizes_known ? t->merged_spread / (double)t->repeats : NAN;
}

/* Divides the sums over steps by the number of steps, and turns the sums of variances into standard errors. */
static void take_means(const CostJob *c, CostMeasured *m, const Codec *codec)
{
    const double cells = (double)m->cells;
    m->plan = codec_plan_size(codec) ? fmax(m->plan, 0) / cells : 0;
    for (CostLayer *l = m->layer; l < m->layer + c->layers; l++)
        for (double *v = &l->n; v <= &l->merged_se; v++)
            *v = (v < &l->encode_se ? *v : sqrt(*v)) / cells;
}

/* ---- measuring one worker alone ---- */

static void take_alone(CompareJob *j, const Record *r)
{
    CostJob *c = (CostJob *)j;
    add_record(c, &c->alone[r->codec], r);
}

static Status measure_alone(CostJob *c)
{
    c->job.figures = take_alone;
    TRY(compare_job_run(&c->job));
    for (size_t k = 0; k < c->job.codecs; k++)
        take_means(c, &c->alone[k], c->job.codec[k]);
    return OK;
}

/* ---- measuring several workers whose payloads are merged ---- */

static Status take_together(void *data, const Record *r, Error *err)
{
    CostJob *c = data;
    CompareJob *j = &c->job;
    (void)err;
    add_record(c, &c->now[r->codec], r);
    if (r->level == LEVEL_VECTOR) {
        progress_at(&j->progress, "%s on %s, %zu worker%s", j->name[r->codec], r->vector->name,
                    c->now_workers, text_s(c->now_workers));
        progress_step(&j->progress, ++c->done);
    }
    return OK;
}

static Status measure_number(CostJob *c, size_t i, bool *skip)
{
    CompareJob *j = &c->job;
    c->now = c->together + i * j->codecs;
    c->now_workers = c->measured.number[i];
    TRY(compare_job_merge(j, c->now_workers, skip, take_together));
    for (size_t k = 0; k < j->codecs; k++)
        if (!skip[k])
            take_means(c, &c->now[k], j->codec[k]);
    return OK;
}

/* Chooses the numbers of workers to measure: the numbers of --workers up to 16. If --workers has larger
 * numbers, 8 and 16 are measured too, and the results for the larger numbers are extrapolated from them. */
static void choose_numbers(CostJob *c)
{
    bool wanted[COST_MEASURED_MOST + 1] = {false};
    for (size_t i = 0; i < c->workers.count; i++) {
        const bool more = c->workers.number[i] > COST_MEASURED_MOST;
        wanted[more ? COST_MEASURED_MOST : c->workers.number[i]] = true;
        wanted[COST_MEASURED_MOST / 2] = wanted[COST_MEASURED_MOST / 2] || more;
    }
    c->measured.count = 0;
    for (size_t p = 1; p <= COST_MEASURED_MOST; p++)
        if (wanted[p])
            c->measured.number[c->measured.count++] = p;
}

static Status measure_together(CostJob *c)
{
    CompareJob *j = &c->job;
    size_t adding = 0;
    bool *skip = NEW(j->a, bool, j->codecs);
    TRY(arena_check(skip, j->a, j->err));
    for (size_t k = 0; k < j->codecs; k++)
        adding += !(skip[k] = !codec_adds(j->codec[k]) || c->alone[k].error);
    /* if the dump has no gradient for a worker, this worker copies another worker's gradient; no noise is
     * added to the copy, because noise hardly changes sizes and times */
    TRY(compare_job_team(j, 0));
    progress_close(&j->progress);
    progress_open(&j->progress, "merging", "records", adding * c->measured.count * j->team.list.count,
                  j->common.quiet);
    for (size_t i = 0; i < c->measured.count; i++)
        TRY(measure_number(c, i, skip));
    return OK;
}

static Status measure_both(CostJob *c)
{
    TRY(measure_alone(c));
    return measure_together(c);
}

/* ---- samples (app/compare_job.h) ---- */

/* Lets measurements k of the first half of the first draw be what all tell of the whole model. `value`: room for 4 numbers of each. */
static void estimate(const CostJob *c, CostMeasured *const *draw, size_t k, double *value)
{
    CostMeasured *m = &draw[0][k];
    enum { TIMES = 3, VALUES = 6 };
    const CompareJob *j = &c->job;
    const size_t halves = SAMPLE_HALVES * (size_t)j->repeats;
    double *bytes = value + halves, *relative = bytes + halves, *variance = relative + halves;
    memset(bytes, 0, halves * sizeof *bytes);
    for (size_t i = 0; i < c->layers; i++)
        for (size_t v = 0; v < VALUES; v++) {
            for (size_t d = 0; d < halves; d++)
                value[d] = (&draw[d][k].layer[i].encode)[v];
            const SampleEstimate e = sample_estimate(j, value, v < TIMES);
            (&m->layer[i].encode)[v] = e.mean;
            if (v + 1 < VALUES) /* `early` has no standard error */
                (&m->layer[i].encode_se)[v] = e.se;
            for (size_t d = 0; d < halves && v == TIMES; d++)
                bytes[d] += value[d];
        }
    for (size_t d = 0; d < halves; d++) {
        relative[d] = draw[d][k].errors.relative;
        variance[d] = draw[d][k].errors.variance;
        m->error = m->error ? m->error : draw[d][k].error;
    }
    const SampleEstimate error = sample_estimate(j, relative, false);
    m->errors.relative = error.mean;
    m->errors.relative_se = error.se;
    m->errors.variance = sample_estimate(j, variance, false).mean;
    m->errors.scratch = NAN; /* a larger tensor takes more */
    if (!m->error && !(error.told && sample_estimate(j, bytes, false).told))
        m->error = "rows do not tell its size or its error";
}

/* Measures all halves of all draws, and lets the first have what they tell. */
static Status measure_draws(CostJob *c, Status (*measure)(CostJob *c))
{
    CompareJob *j = &c->job;
    const size_t halves = SAMPLE_HALVES * (size_t)j->repeats;
    CostMeasured **draw = NEW(j->a, CostMeasured *, halves);
    double *value = NEW(j->a, double, 4 * halves);
    TRY(arena_check(draw && value, j->a, j->err));
    for (size_t d = halves; d-- > 0;) { /* the last is a whole draw, whose elements the results tell */
        sample_draw(j, d / SAMPLE_HALVES, d % SAMPLE_HALVES);
        TRY(make_room(c));
        TRY(measure(c));
        draw[d] = c->alone;
    }
    c->alone = *draw;
    c->together = *draw + j->codecs;
    for (size_t k = 0; k < (1 + c->measured.count) * j->codecs; k++)
        estimate(c, draw, k, value);
    return OK;
}

static Status measure(CostJob *c, Status (*all)(CostJob *c))
{
    c->layers = 0;
    TRY(find_layers(c));
    if (c->job.sample.dump[0])
        return measure_draws(c, all);
    TRY(make_room(c));
    return all(c);
}

Status cost_measure_alone(CostJob *c)
{
    return measure(c, measure_alone);
}

Status cost_measure(CostJob *c)
{
    choose_numbers(c);
    return measure(c, measure_both);
}

/* ---- layers (all vectors of one name) for any number of workers ---- */

static const CostMeasured *measured_at(const CostJob *c, size_t codec, size_t workers)
{
    size_t i = 0;
    while (i + 1 < c->measured.count && c->measured.number[i] != workers)
        i++;
    return &c->together[i * c->job.codecs + codec];
}

const CostErrors *cost_mean_errors(const CostJob *c, size_t codec, size_t workers)
{
    return c->measured.count && codec_adds(c->job.codec[codec]) ? &measured_at(c, codec, workers)->errors
                                                                : NULL;
}

static CostLayer added_layer(const CostJob *c, size_t codec, size_t i, size_t workers)
{
    if (workers <= COST_MEASURED_MOST)
        return measured_at(c, codec, workers)->layer[i];
    const CostLayer *half = &measured_at(c, codec, COST_MEASURED_MOST / 2)->layer[i],
                    *full = &measured_at(c, codec, COST_MEASURED_MOST)->layer[i];
    return cost_more_workers(half, full, COST_MEASURED_MOST, (double)workers);
}

const CostLayer *cost_layers(const CostJob *c, size_t codec, size_t workers)
{
    CostLayer *layer = NEW(c->job.a, CostLayer, c->layers);
    for (size_t i = 0; layer && i < c->layers; i++) {
        if (codec_adds(c->job.codec[codec])) {
            layer[i] = added_layer(c, codec, i, workers);
            continue;
        }
        layer[i] = c->alone[codec].layer[i];
        /* payloads that cannot be added are decoded to floats and merged as floats, so merging takes the time
         * of codec 0, `none` */
        const CostLayer added = added_layer(c, 0, i, workers);
        layer[i].merge = added.merge;
        layer[i].merge_se = added.merge_se;
    }
    return layer;
}

const char *cost_error(const CostJob *c, size_t codec)
{
    const char *error = c->alone[codec].error;
    for (size_t i = 0; !error && i < c->measured.count; i++)
        error = c->together[i * c->job.codecs + codec].error;
    return error;
}

/* ---- iterations ---- */

const char *cost_refusal(const CostJob *c, const Codec *codec, Topology topology, size_t workers)
{
    Error err = {0};
    if (topology == TOPOLOGY_HIER && workers % c->node)
        return "the workers do not fill nodes";
    if (topology == TOPOLOGY_HIER && codec_rounds(codec) > 1)
        return "it has several rounds";
    return topology_needs_sums(topology) && !codec_adds(codec) ? "its payloads do not add"
           : shots_check(topology_shots(topology), codec, false, &err) != OK
               ? "its sums are not quantised again"
               : NULL;
}

Status cost_find_within(CostJob *c)
{
    const CompareJob *j = &c->job;
    const Codec *codec;
    if (!c->node)
        return OK;
    TRY(codec_open(&codec, c->within_text, j->a, j->err));
    const char *spec = codec_complete(codec, j->a);
    TRY(arena_check(spec, j->a, j->err));
    for (c->within = 0; c->within < j->codecs; c->within++)
        if (!strcmp(codec_complete(j->codec[c->within], j->a), spec))
            return OK;
    return FAIL(j->err, ERR_USAGE, "--within %.60s: want none, fp16 or a codec of -c", c->within_text);
}

static Iteration choose_topology(const Iteration *asked, double bandwidth)
{
    Iteration ring = *asked, other = *asked;
    ring.topology = TOPOLOGY_RING;
    other.topology = asked->adds ? TOPOLOGY_TREE : TOPOLOGY_ALLGATHER;
    const bool faster =
        asked->adds && iteration_time(&ring, bandwidth).total <= iteration_time(&other, bandwidth).total;
    return faster ? ring : other;
}

Iteration cost_iteration(const CostJob *c, size_t codec, const CostLayer *layer, size_t workers,
                         const Link *link, int topology)
{
    const Codec *k = c->job.codec[codec];
    const Iteration it = {.layer = layer,
                          .layers = c->layers,
                          .plan = c->alone[codec].plan,
                          .rounds = codec_rounds(k),
                          .workers = (double)workers,
                          .adds = codec_adds(k),
                          .topology = (Topology)topology,
                          .node = (double)c->node,
                          .within = topology == TOPOLOGY_HIER ? cost_layers(c, c->within, workers) : NULL,
                          .near = c->near,
                          .compute = c->compute_ms / 1e3,
                          .latency = link->latency,
                          .overlap = c->overlap};
    return topology == TOPOLOGY_AUTO ? choose_topology(&it, link->bandwidth) : it;
}
