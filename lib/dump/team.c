/* team.c -- the gradients of P workers; see groups.h. */
#include "dump/groups.h"

#include "base/parallel.h"
#include "math/blockwise.h"

#include <math.h>
#include <string.h>

static bool same_step(const Vector *a, const Vector *b)
{
    return a->step_address == b->step_address && !a->step_group == !b->step_group;
}

static bool alike(const Vector *a, const Vector *b)
{
    return a->raw == b->raw && shape_same(&a->shape, &b->shape) && !strcmp(a->name, b->name);
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
    TRY(arena_check(out->list.item && out->member && owner && source, a, err));
    Gathering g = {.team = out, .stepwise = has_workers(from)};
    for (size_t i = 0; i < from->count; i++) {
        Member *m = find_member(&g, i);
        owner[i] = (size_t)(m - out->member);
        m->reals++;
    }
    size_t at = 0;
    for (size_t k = 0; k < out->list.count; k++) {
        Member *m = &out->member[k];
        m->source = source + at;
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

static double rms_of(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return n ? sqrt(sum / (double)n) : 0;
}

typedef struct {
    float *x;
    size_t n;
    double scale;
    const Rng *rng;
} Noise;

static void add_noise(void *data, size_t b)
{
    const Noise *noise = data;
    float z[1 << 10];
    const size_t start = b * BLOCK, end = start + block_size(noise->n, b);
    for (size_t at = start; at < end; at += countof(z)) {
        const size_t left = end - at, n = left < countof(z) ? left : countof(z);
        rng_normals(noise->rng, USE_DATA, at, n, noise->scale, z);
        for (size_t i = 0; i < n; i++)
            noise->x[at + i] += z[i];
    }
}

/* Makes up a worker's gradient: adds noise to x, the gradient of v that the dump has, whose root mean square is `rms`. */
static Status make_up(const Team *c, const Vector *v, size_t worker, double rms, float *x, Error *err)
{
    const size_t n = v->shape.n;
    const Rng rng = rng_open(c->seed, 0, (int64_t)worker, v->step_address, rng_hash(v->name));
    if (c->noise > 0)
        parallel_for(c->threads, blocks_of(n), add_noise, &(Noise){x, n, c->noise * rms, &rng});
    const size_t bad = first_nonfinite(x, n, NULL);
    if (bad == n)
        return OK;
    FAIL(err, ERR_NUMERIC,
         "%.200s: %.200s: with noise element %zu of made-up worker %zu is beyond float32", dump_file(c->dump),
         v->name, bad, worker);
    return error_hint(err, "--noise 0 repeats the gradients that there are; -t GLOB leaves tensors out");
}

Status team_load(Team *c, const Vector *v, size_t worker, float *x, Error *err)
{
    const Member *m = &c->member[v - c->list.item];
    const size_t real = worker % m->reals;
    TRY(vector_load(c->dump, &c->from.item[m->source[real]], x, err));
    return worker < m->reals ? OK : make_up(c, v, worker, rms_of(x, v->shape.n), x, err);
}

size_t team_made(const Team *c, const Vector *v, size_t workers)
{
    const size_t reals = c->member[v - c->list.item].reals;
    return workers > reals ? workers - reals : 0;
}
