/* bench_cost_measure.c -- what cost knows of codecs: one worker by itself, step after step, as compare has it; and for
 * codecs whose payloads add, up to 16 workers together, as merge has it. */
#include "bench_cost.h"

#include <math.h>
#include <string.h>

/* ---- layers: vectors of one name, whatever their step and worker ---- */

static size_t find_layer(const Cost *c, const char *name)
{
    size_t i = 0;
    while (i < c->layers && strcmp(c->name[i], name) != 0)
        i++;
    return i;
}

static Status find_layers(Cost *c)
{
    const VectorList *list = &c->job.list;
    c->name = NEW(c->job.a, const char *, list->count);
    if (!c->name)
        return arena_fail(c->job.a, c->job.err);
    for (size_t i = 0; i < list->count; i++)
        if (find_layer(c, list->item[i].name) == c->layers)
            c->name[c->layers++] = list->item[i].name;
    return OK;
}

static Measured *make_room(const Cost *c, size_t count)
{
    Measured *m = NEW_ZERO(c->job.a, Measured, count);
    for (size_t i = 0; m && i < count; i++)
        if (!(m[i].layer = NEW_ZERO(c->job.a, CostLayer, c->layers)))
            return NULL;
    return m;
}

/* ---- records ---- */

static void add_record(const Cost *c, Measured *m, const Record *r)
{
    const Tally *t = &r->tally;
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
    m->plan += r->level == LEVEL_CELL ? t->encode : -t->encode; /* what vectors do not have of their cell's */
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
}

/* From sums over the steps to a step's. */
static void take_means(const Cost *c, Measured *m, const Codec *codec)
{
    const double cells = (double)m->cells;
    m->plan = codec_plan_size(codec) ? fmax(m->plan, 0) / cells : 0;
    for (CostLayer *l = m->layer; l < m->layer + c->layers; l++)
        *l = (CostLayer){l->n / cells,     l->encode / cells, l->decode / cells, l->merge / cells,
                         l->bytes / cells, l->merged / cells, l->early / cells};
}

/* ---- one worker by itself ---- */

static void take_alone(Job *j, const Record *r)
{
    Cost *c = (Cost *)j;
    add_record(c, &c->alone[r->codec], r);
}

static Status measure_alone(Cost *c)
{
    c->job.figures = take_alone;
    TRY(job_run(&c->job));
    for (size_t k = 0; k < c->job.codecs; k++)
        take_means(c, &c->alone[k], c->job.codec[k]);
    return OK;
}

/* ---- several together ---- */

typedef struct {
    Cost *cost;
    Measured *m; /* (codecs) */
} Together;

static Status load_worker(void *data, const Vector *v, size_t worker, float *x, Error *err)
{
    return team_load(&((Together *)data)->cost->team, v, worker, x, err);
}

static Status take_together(void *data, const Record *r, Error *err)
{
    const Together *t = data;
    (void)err;
    add_record(t->cost, &t->m[r->codec], r);
    if (r->level == LEVEL_VECTOR)
        progress_step(&t->cost->job.progress, ++t->cost->done);
    return OK;
}

static Status measure_number(Cost *c, size_t i, bool *skip)
{
    Job *j = &c->job;
    Together t = {c, c->together + i * j->codecs};
    size_t failures;
    Comparison together = job_comparison(j);
    together.vectors = &c->team.list;
    together.skip = skip;
    together.workers = c->measured.number[i];
    together.load_worker = load_worker;
    together.record = take_together;
    together.data = &t;
    together.progress = NULL;
    Arena *work = arena_open(0);
    const Status status = compare_run(&together, &failures, work, j->err);
    arena_close(work);
    TRY(status);
    for (size_t k = 0; k < j->codecs; k++)
        if (!skip[k])
            take_means(c, &t.m[k], j->codec[k]);
    return OK;
}

/* As they were asked for up to 16, and 8 and 16 where there are more. */
static void choose_numbers(Cost *c)
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

static Status measure_together(Cost *c)
{
    Job *j = &c->job;
    size_t adding = 0;
    bool *skip = NEW(j->a, bool, j->codecs);
    c->together = make_room(c, c->measured.count * j->codecs);
    if (!c->together || !skip)
        return arena_fail(j->a, j->err);
    for (size_t k = 0; k < j->codecs; k++)
        adding += !(skip[k] = !codec_adds(j->codec[k]) || c->alone[k].error);
    TRY(team_make(&c->team, j->dump, &j->list, j->a, j->err));
    c->team.seed = (uint64_t)j->common.seed;
    c->team.noise =
        0; /* gradients that are missing repeat those that are there: sizes and times hardly differ */
    c->team.threads = (int)j->common.threads;
    progress_close(&j->progress);
    progress_open(&j->progress, "merging", adding * c->measured.count * c->team.list.count, j->common.quiet);
    for (size_t i = 0; i < c->measured.count; i++)
        TRY(measure_number(c, i, skip));
    return OK;
}

Status cost_measure(Cost *c)
{
    TRY(find_layers(c));
    choose_numbers(c);
    c->alone = make_room(c, c->job.codecs);
    if (!c->alone)
        return arena_fail(c->job.a, c->job.err);
    TRY(measure_alone(c));
    return measure_together(c);
}
