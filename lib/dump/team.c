/* team.c -- the gradients of P workers; see team.h. */
#include "dump/team.h"

#include "dump/noise.h"
#include "num/finite.h"

#include <math.h>
#include <string.h>

static bool same_step(const Vector *a, const Vector *b)
{
    return a->step_address == b->step_address && !a->step_group == !b->step_group;
}

static bool alike(const Vector *a, const Vector *b)
{
    return a->raw == b->raw && a->shape.rank == b->shape.rank &&
           !memcmp(a->shape.dim, b->shape.dim, sizeof a->shape.dim) && !strcmp(a->name, b->name);
}

static bool has_workers(const VectorList *v)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->item[i].worker_group)
            return true;
    return false;
}

/* ---- finding the vectors that are merged ---- */

typedef struct {
    Team *team;
    /* true: the payloads of the workers of one step are merged; false: each step counts as one worker, and
     * the payloads of all steps are merged */
    bool stepwise;
    size_t from; /* index of the first Member of the present step */
    /* Index of the Member that `find_member` compares first: the one after the last found, as workers
     * usually have their vectors in the same order. */
    size_t guess;
} Gathering;

/* Returns the Member to which vector i belongs, or adds one. A Member is a set of vectors of the same name
 * and shape whose payloads are merged. */
static Member *find_member(Gathering *g, size_t i)
{
    Team *c = g->team;
    const Vector *item = c->from.item, *v = &item[i];
    size_t found = g->guess;
    if (g->stepwise && c->list.count && !same_step(&item[c->member[g->from].index], v))
        found = g->from = c->list.count;
    if (found >= c->list.count || !alike(&item[c->member[found].index], v))
        for (found = g->from; found < c->list.count && !alike(&item[c->member[found].index], v);)
            found++;
    if (found == c->list.count) {
        c->member[found] = (Member){.index = i};
        c->list.item[c->list.count++] = *v;
    }
    g->guess = found + 1;
    return &c->member[found];
}

static void settle_list(Team *c, bool stepwise)
{
    VectorList *l = &c->list;
    for (size_t i = 0; i < l->count; i++) {
        Vector *v = &l->item[i];
        v->worker_group = NULL;
        v->worker = v->worker_address = 0;
        if (!stepwise && !same_step(v, &c->from.item[0])) {
            v->step = c->from.item[0].step;
            v->step_address = c->from.item[0].step_address;
        }
        if (!stepwise && c->from.count > 1 && !same_step(&c->from.item[0], &c->from.item[c->from.count - 1]))
            v->step_group = NULL;
        l->largest = v->shape.n > l->largest ? v->shape.n : l->largest;
        l->tensors += v->members;
        l->elements += v->shape.n;
    }
}

Status team_make(Team *out, Dump *dump, const VectorList *from, Arena *a, Error *err)
{
    *out = (Team){.dump = dump,
                  .from = *from,
                  .list = {.item = NEW(a, Vector, from->count), .skipped = from->skipped},
                  .member = NEW(a, Member, from->count)};
    size_t *owner = NEW(a, size_t, from->count), *source = NEW(a, size_t, from->count);
    double *rms = NEW(a, double, from->count);
    TRY(arena_check(out->list.item && out->member && owner && source && rms, a, err));
    Gathering g = {.team = out, .stepwise = has_workers(from)};
    for (size_t i = 0; i < from->count; i++) {
        Member *m = find_member(&g, i);
        owner[i] = (size_t)(m - out->member);
        m->reals++;
        rms[i] = NAN;
    }
    size_t at = 0;
    for (size_t k = 0; k < out->list.count; k++) {
        Member *m = &out->member[k];
        m->source = source + at;
        m->rms = rms + at;
        at += m->reals;
        m->reals = 0;
    }
    for (size_t i = 0; i < from->count; i++) {
        Member *m = &out->member[owner[i]];
        m->source[m->reals++] = i;
    }
    settle_list(out, g.stepwise);
    return OK;
}

/* ---- loading a worker's gradients ---- */

static void add_squares(void *data, size_t at, const float *x, size_t n)
{
    double *sum = data;
    (void)at;
    for (size_t i = 0; i < n; i++)
        *sum += (double)x[i] * (double)x[i];
}

static double rms_of_squares(double sum, size_t n)
{
    return n ? sqrt(sum / (double)n) : 0;
}

/* A gradient that is made up for a worker. */
typedef struct {
    const Team *team;
    const Vector *v;
    size_t worker;
    double scale;
    Rng rng;
    size_t from, to; /* elements outside are left out */
    TakePart *take;
    void *data;
    Arena *scratch;
    Status status;
    Error *err;
} MadeGradient;

static MadeGradient made_gradient(const Team *c, const Vector *v, size_t worker, double rms, Error *err)
{
    return (MadeGradient){.team = c,
                  .v = v,
                  .worker = worker,
                  .scale = c->noise * rms,
                  .rng = rng_open(c->seed, 0, (int64_t)worker, v->step_address, rng_hash(v->name)),
                  .err = err};
}

/* Adds the noise to x, which are n elements of the vector from element `at` on. */
static Status make_up(const MadeGradient *m, size_t at, float *x, size_t n)
{
    const Team *c = m->team;
    if (c->noise > 0)
        noise_add(x, at, n, m->scale, &m->rng, c->threads);
    const size_t bad = first_nonfinite(x, n, NULL);
    if (bad == n)
        return OK;
    FAIL(m->err, ERR_NUMERIC,
         "%.200s: %.200s: with noise element %zu of made-up worker %zu is beyond float32", dump_file(c->dump),
         m->v->name, at + bad, m->worker);
    return error_hint(m->err, "--noise 0 repeats the gradients that there are; -t GLOB leaves tensors out");
}

Status team_load(Team *c, const Vector *v, size_t worker, float *x, Error *err)
{
    const Member *m = &c->member[v - c->list.item];
    const size_t real = worker % m->reals, n = v->shape.n;
    double squares = 0;
    TRY(vector_load(c->dump, &c->from.item[m->source[real]], x, err));
    if (worker < m->reals)
        return OK;
    if (isnan(m->rms[real])) {
        add_squares(&squares, 0, x, n);
        m->rms[real] = rms_of_squares(squares, n);
    }
    const MadeGradient made = made_gradient(c, v, worker, m->rms[real], err);
    return make_up(&made, 0, x, n);
}

static void take_made(void *data, size_t at, const float *x, size_t n)
{
    MadeGradient *m = data;
    const ArenaMark mark = arena_mark(m->scratch);
    const size_t from = at > m->from ? at : m->from, to = at + n < m->to ? at + n : m->to;
    if (m->status != OK || from >= to)
        return;
    float *part = NEW(m->scratch, float, to - from);
    if (!part) {
        m->status = arena_fail(m->scratch, m->err);
    } else {
        memcpy(part, x + (from - at), (to - from) * sizeof *x);
        m->status = make_up(m, from, part, to - from);
        m->take(m->data, from, part, to - from);
    }
    arena_rewind(m->scratch, mark);
}

Status team_load_parts(Team *c, const Vector *v, size_t worker, size_t from, size_t to, TakePart *take,
                       void *data, Error *err)
{
    const Member *m = &c->member[v - c->list.item];
    const size_t real = worker % m->reals;
    const Vector *source = &c->from.item[m->source[real]];
    double squares = 0;
    if (worker < m->reals)
        return vector_load_parts(c->dump, source, take, data, err);
    if (isnan(m->rms[real])) {
        TRY(vector_load_parts(c->dump, source, add_squares, &squares, err));
        m->rms[real] = rms_of_squares(squares, v->shape.n);
    }
    MadeGradient made = made_gradient(c, v, worker, m->rms[real], err);
    made.from = from;
    made.to = to;
    made.take = take;
    made.data = data;
    made.scratch = arena_open(0);
    const Status read = vector_load_parts(c->dump, source, take_made, &made, err);
    arena_close(made.scratch);
    return read == OK ? made.status : read;
}

size_t team_made(const Team *c, const Vector *v, size_t workers)
{
    const size_t reals = c->member[v - c->list.item].reals;
    return workers > reals ? workers - reals : 0;
}
