/* compare.c -- runs a comparison of codecs (compare.h). Reads all vectors once for percentiles, then loops
 * over codecs, workers, steps and vectors.
 *
 * A cell is the set of all vectors of one step and worker. A plan divides a codec's bit budget between the
 * vectors of a cell. Known records are those of an interrupted comparison. */
#include "measure/compare_parts.h"
#include "measure/timing.h"

#include "base/parallel.h"
#include "math/radix.h"

#include <stdio.h>
#include <string.h>

/* ---- cells, and the order in which codecs run over them ---- */

bool compare_same_cell(const Vector *a, const Vector *b)
{
    return a->step_address == b->step_address && a->worker_address == b->worker_address &&
           !a->step_group == !b->step_group && !a->worker_group == !b->worker_group;
}

static size_t count_cells(const VectorList *v)
{
    size_t cells = v->count > 0;
    for (size_t i = 1; i < v->count; i++)
        cells += !compare_same_cell(&v->item[i - 1], &v->item[i]);
    return cells;
}

size_t compare_places(const VectorList *vectors)
{
    const size_t cells = count_cells(vectors);
    return vectors->count + cells + (cells > 1);
}

static void find_cells(Layout *l, const VectorList *v)
{
    for (size_t i = 0; i < v->count; i++) {
        if (i == 0 || !compare_same_cell(&v->item[i - 1], &v->item[i]))
            l->cell[l->cells++] = (Cell){.from = i, .above = NAN};
        Cell *cell = &l->cell[l->cells - 1];
        cell->to = i + 1;
        cell->elements += v->item[i].shape.n;
        if (cell->elements > l->largest)
            l->largest = cell->elements;
    }
}

/* Orders cells by worker, then by step. Insertion sort is fast enough: cells are already in the order of
 * steps, and a step has few workers. */
static void order_cells(Layout *l, const VectorList *v)
{
    for (size_t i = 0; i < l->cells; i++) {
        const int64_t worker = v->item[l->cell[i].from].worker_address;
        size_t at = i;
        for (; at && v->item[l->cell[l->order[at - 1]].from].worker_address > worker; at--)
            l->order[at] = l->order[at - 1];
        l->order[at] = i;
    }
}

RecordLevel compare_reach(const VectorList *vectors, uint64_t memory, bool distances)
{
    const uint64_t held = memory / compare_pooled(distances);
    size_t largest = 0, elements = 0;
    for (size_t i = 0; i < vectors->count; i++) {
        elements = i && compare_same_cell(&vectors->item[i - 1], &vectors->item[i]) ? elements : 0;
        elements += vectors->item[i].shape.n;
        largest = elements > largest ? elements : largest;
    }
    return vectors->elements <= held ? LEVEL_RUN : largest <= held ? LEVEL_CELL : LEVEL_VECTOR;
}

static Status layout_make(Layout *l, const Comparison *c, uint64_t memory, Arena *a, Error *err)
{
    const VectorList *vectors = c->vectors;
    const size_t cells = count_cells(vectors), n = vectors->count;
    *l = (Layout){.cell = NEW(a, Cell, cells),
                  .order = NEW(a, size_t, cells),
                  .above = NEW(a, double, n),
                  .above_run = NAN,
                  .reach = compare_reach(vectors, memory, measures_distances(c))};
    TRY(arena_check(l->cell && l->order && l->above, a, err));
    find_cells(l, vectors);
    order_cells(l, vectors);
    return OK;
}

/* ---- plans: how a codec divides its bit budget between the vectors of a cell ---- */

/* Each vector is loaded once more for the plan, before the first is encoded; loading does not count as planning time. */
typedef struct {
    const Comparison *c;
    const Codec *codec;
    CodecStates *states;
    const Buffers *b;
    size_t worker; /* for merges: the worker whose gradient is planned */
} Planner;

typedef struct {
    /* The plan record of the next vector of the cell. The records follow each other in memory, `size` bytes
     * each. Vectors that are sent raw have no record. */
    char *next;
    size_t size; /* bytes of a record; 0: the codec plans nothing */
    bool failed;
    const Error *why; /* the codec's error, if `failed` */
    double seconds;   /* time to plan, without the time to load vectors */
    double scratch;   /* peak bytes of working memory */
} CellPlan;

typedef struct {
    const Planner *planner;
    const Vector **vector; /* (`Step.count`) the vectors that are not sent raw, in the order of `Step.call` */
    size_t at;             /* index of the last vector loaded, for error messages */
    double loading;        /* seconds spent on loading vectors, which do not count as planning */
    bool failed;           /* true: loading failed, which is not the codec's failure */
} PlanSource;

static const float *plan_load(void *data, size_t j, Error *err)
{
    PlanSource *s = data;
    const Planner *p = s->planner;
    const double start = clock_now();
    const Status status = comparison_stopped(p->c) ? FAIL(err, ERR_STOPPED, "stopped")
                          : p->c->workers ? p->c->load_worker(p->c->data, s->vector[j], p->worker, p->b->x, err)
                                          : p->c->load(p->c->data, s->vector[j], p->b->x, err);
    s->at = j;
    s->failed = status != OK;
    s->loading += clock_now() - start;
    return s->failed ? NULL : p->b->x;
}

/* Fills in `*step` with one Call for each vector of the cell that is not sent raw, and `source->vector` with
 * these vectors. */
static Status open_step(Step *step, PlanSource *source, const Cell *cell, Arena *a, Error *err)
{
    const Planner *p = source->planner;
    Call *call = NEW(a, Call, cell->to - cell->from);
    source->vector = NEW(a, const Vector *, cell->to - cell->from);
    *step = (Step){.call = call, .load = plan_load, .data = source};
    TRY(arena_check(call && source->vector, a, err));
    for (size_t i = cell->from; i < cell->to; i++) {
        const Vector *v = &p->c->vectors->item[i];
        void *state;
        if (v->raw)
            continue;
        Call own = trial_call(p->c, p->codec, v, NULL, p->b->scratch, err);
        TRY(codec_states_find(p->states, &own, v->worker_address, v->name, &state));
        if (p->c->workers) {
            const Exchange x = merge_exchange(p->c, p->codec, v, p->b->scratch, err);
            own = exchange_call(&x, &(ExchangeWorker){.index = p->worker});
            own.heard = NULL;
        }
        own.state = state;
        source->vector[step->count] = v;
        call[step->count++] = own;
    }
    return OK;
}

/* Makes a plan, with its records in the arena. If the codec fails, the plan stores its error. The returned
 * Status reports only failures to load vectors or to allocate memory, and ERR_STOPPED. */
static Status plan_make(CellPlan *plan, const Planner *p, const Cell *cell, Arena *a, Error *err)
{
    PlanSource source = {.planner = p};
    Step step;
    *plan = (CellPlan){.size = codec_plan_size(p->codec)};
    if (!plan->size)
        return OK;
    TRY(open_step(&step, &source, cell, a, err));
    plan->next = arena_take(a, step.count, plan->size);
    TRY(arena_check(plan->next, a, err));
    if (step.count == 0)
        return OK;
    const double start = clock_now();
    arena_reset_peak(p->b->scratch);
    arena_lend(p->b->scratch, p->b->y, lendable(p->c->vectors->largest));
    const Status status = codec_plan(&step, plan->next);
    arena_unlend(p->b->scratch);
    plan->seconds = clock_now() - start - source.loading;
    plan->scratch = (double)arena_peak(p->b->scratch);
    if (source.failed)
        return status;
    plan->failed = status != OK;
    if (!plan->failed)
        return OK;
    error_at(err, "%.200s", source.vector[source.at]->name);
    Error *why = NEW(a, Error, 1);
    TRY(arena_check(why, a, err));
    *why = *err;
    plan->why = why;
    return OK;
}

/* ---- the state of a running comparison ---- */

/* Sums over several vectors that are measured as one long vector. */
typedef struct {
    Tally tally;
    size_t vectors, failed; /* vectors measured; vectors left out because the codec failed */
    size_t begin;           /* index of the first element of these vectors in pool_x and pool_y */
} Pool;

typedef struct {
    const Comparison *c;
    Layout layout;
    Buffers b;
    size_t codec;       /* index of the current codec */
    CodecStates states; /* states of the current codec and worker */
    Arena *tallies;
    CellPlan *plan; /* for each worker, the plan for the current cell */
    Pool run;       /* sums over all vectors so far */
    /* number of elements now in `pool_x`: of one cell, or of all cells so far if `layout.reach` is LEVEL_RUN */
    size_t pooled;
    size_t failures;
    bool later;       /* true: the present worker has a later step */
    bool pools; /* true: the current cell's vectors are copied to `pool_x`, and their estimates to `pool_y` */
    Error *err;
} Engine;

/* Loads a vector into `b.x`: one worker's gradient or, in a merge, the mean gradient of all workers. */
static Status load_values(Engine *e, const Vector *v)
{
    const Comparison *c = e->c;
    return c->workers ? merge_mean(c, v, &e->b, e->err) : c->load(c->data, v, e->b.x, e->err);
}

/* ---- percentiles: one pass reads all vectors before any codec runs ---- */

static Status find_percentiles(Engine *e)
{
    const Comparison *c = e->c;
    Layout *l = &e->layout;
    float *pool = e->b.pool_x, *x = e->b.x;
    size_t at = 0;
    for (size_t i = 0; i < c->vectors->count && c->costs_only; i++)
        l->above[i] = NAN;
    if (c->costs_only)
        return OK;
    for (size_t k = 0; k < l->cells; k++) {
        Cell *cell = &l->cell[k];
        const size_t begin = l->reach == LEVEL_RUN ? at : 0;
        at = begin;
        for (size_t i = cell->from; i < cell->to; i++) {
            const size_t n = c->vectors->item[i].shape.n;
            if (comparison_stopped(c))
                return FAIL(e->err, ERR_STOPPED, "stopped");
            TRY(load_values(e, &c->vectors->item[i]));
            l->above[i] = n ? radix_magnitude_quantile(x, n, 0.95, c->threads) : NAN;
            if (pool)
                memcpy(pool + at, x, n * sizeof *x);
            at += n;
        }
        if (cell->to - cell->from == 1)
            cell->above = l->above[cell->from];
        else if (pool && at > begin)
            cell->above = radix_magnitude_quantile(pool + begin, at - begin, 0.95, c->threads);
    }
    if (pool && l->reach == LEVEL_RUN && at)
        l->above_run = radix_magnitude_quantile(pool, at, 0.95, c->threads);
    return OK;
}

/* ---- records: new ones, and those of an interrupted comparison ---- */

static bool is_known(const Engine *e, size_t place, Tally *tally, bool *failed)
{
    *failed = false;
    return e->c->known && e->c->known(e->c->data, e->codec, place, tally, failed);
}

/* ---- measuring several vectors as one long vector ---- */

static Status open_pool(Engine *e, Pool *p, RecordLevel level)
{
    const Comparison *c = e->c;
    const bool random = codec_traits(c->codec[e->codec]) & RANDOM;
    if (e->layout.reach < LEVEL_RUN)
        e->pooled = 0;
    *p = (Pool){.begin = e->pooled};
    return tally_open(&p->tally, level, c->repeats, random, e->tallies, e->err);
}

/* Computes the Wasserstein distances between gradients and estimates over the elements of `pool_x` and `pool_y` from index
 * `p->begin` on, and with `deciles` the deciles of errors. Sorts these elements in place. */
static Status pool_distances(Engine *e, Pool *p, bool deciles)
{
    const size_t n = e->pooled - p->begin;
    return e->b.pool_y && n ? distance_pooled(&e->b, p->begin, n, deciles && !e->c->without_deciles, e->c->threads, &p->tally, e->err) : OK;
}

/* Adds a cell's deciles to those of the run, which are their mean: the run's elements are sorted cell by cell. */
static void add_deciles(Engine *e, const Tally *cell)
{
    for (size_t d = 0; d < DECILES; d++)
        for (size_t k = 0; k < DECILE_PARTS; k++)
            e->run.tally.decile[d][k] += cell->decile[d][k] / (double)e->layout.cells;
}

/* Writes the record of several vectors measured together. Its `error` says how many vectors the codec failed
 * on. */
static Status put_pool(Engine *e, Pool *p, const Vector *first, size_t place, double above)
{
    char text[100];
    Record r = {
        .codec = e->codec, .place = place, .level = p->tally.level, .vector = first, .vectors = p->vectors};
    p->tally.percentile_known = !p->failed && !isnan(above);
    r.tally = p->tally;
    if (p->failed) {
        const size_t all = p->vectors + p->failed;
        if (p->vectors)
            snprintf(text, sizeof text, "without %zu of %zu tensors, which failed", p->failed, all);
        else
            snprintf(text, sizeof text, "all of %zu tensor%s failed", all, text_s(all));
        r.error = text;
    }
    return e->c->record(e->c->data, &r, e->err);
}

/* ---- measuring one vector ---- */

/* Plans the budgets of a cell, separately for each worker's gradient. If the plan of any worker fails,
 * plan[0] becomes the failed plan. */
static Status plan_cell(Engine *e, const Cell *cell)
{
    Planner p = {.c = e->c, .codec = e->c->codec[e->codec], .states = &e->states, .b = &e->b};
    for (; p.worker < workers_of(e->c); p.worker++) {
        TRY(plan_make(&e->plan[p.worker], &p, cell, e->tallies, e->err));
        if (e->plan[p.worker].failed) {
            e->plan[0] = e->plan[p.worker];
            break;
        }
        if (!e->plan->size)
            break;
    }
    return OK;
}

/* Adds the planning time of a cell, mean over the workers, to the cell's encoding time. */
static void count_plan(const Engine *e, Pool *pool)
{
    const size_t workers = workers_of(e->c);
    if (!e->plan->size)
        return;
    for (size_t w = 0; w < workers; w++) {
        pool->tally.encode += e->plan[w].seconds / (double)workers;
        pool->tally.encode_min += e->plan[w].seconds / (double)workers;
        pool->tally.scratch = fmax(pool->tally.scratch, e->plan[w].scratch);
    }
}

/* Sets `*record` to a vector's records in the plans, one for each worker; NULL if there is no plan. */
static Status take_plans(Engine *e, const Vector *v, const void *const **record)
{
    const size_t workers = workers_of(e->c);
    *record = NULL;
    if (!e->plan->size || v->raw)
        return OK;
    const void **taken = NEW_ZERO(e->tallies, const void *, workers);
    TRY(arena_check(taken, e->tallies, e->err));
    for (size_t w = 0; w < workers && (w == 0 || !e->plan->failed); w++) {
        taken[w] = e->plan[w].next;
        e->plan[w].next += e->plan[w].size;
    }
    *record = taken;
    return OK;
}

/* Adds a vector's sums to the sums of its cell, and its elements to `pool_x`. */
static void pool_vector(Engine *e, const Vector *v, const Tally *tally, Pool *pool)
{
    tally_append(&pool->tally, tally);
    /* the Wasserstein distance of this vector; `conclude_cell` replaces it if the cell has other vectors,
     * too */
    pool->tally.wasserstein = tally->wasserstein;
    pool->tally.distances = tally->distances;
    memcpy(pool->tally.decile, tally->decile, sizeof tally->decile);
    for (size_t r = 0; r < pool->tally.decoded; r++)
        pool->tally.distance[r] = tally->distance[tally->decoded == 1 ? 0 : r];
    pool->vectors++;
    if (!e->pools)
        return;
    memcpy(e->b.pool_x + e->pooled, e->b.x, v->shape.n * sizeof *e->b.x);
    e->pooled += v->shape.n;
}

static Status open_trial(Engine *e, const Cell *cell, size_t i, Trial *t)
{
    const Comparison *c = e->c;
    const Vector *v = &c->vectors->item[i];
    *t = (Trial){.c = c,
                 .codec = v->raw ? e->b.none : c->codec[e->codec],
                 .vector = v,
                 .above = {e->layout.above[i], cell->above, e->layout.above_run},
                 .settles = !c->costs_only || e->later,
                 .pooled = e->pools ? e->b.pool_y + e->pooled : NULL};
    TRY(take_plans(e, v, &t->plan));
    const Call call = trial_call(c, t->codec, v, NULL, e->b.scratch, e->err);
    return codec_states_find(&e->states, &call, v->worker_address, v->name, &t->state);
}

/* Runs the codec again, without timing, on a vector whose record is known. Later records
 * need the codec's next state and the estimates in `pool_y`. A codec that failed on the vector fails again. */
static Status repeat_trial(Engine *e, const Trial *known)
{
    Comparison c = *e->c;
    Trial t = *known;
    Buffers b = e->b;
    Tally unused;
    Error why;
    bool unread = false;
    if (!t.state && !t.pooled)
        return OK;
    TRY(load_values(e, t.vector));
    if (t.plan && e->plan->failed)
        return OK;
    c.untimed = true;
    c.repeats = !t.pooled ? 1 : b.planes < c.repeats ? b.planes : c.repeats;
    b.sorted = NULL;
    t.c = &c;
    t.unread = &unread;
    TRY(tally_open(&unused, LEVEL_VECTOR, c.repeats, codec_traits(t.codec) & RANDOM, e->tallies, e->err));
    const Status status = trial_run(&t, &b, &unused, &why);
    if (status != ERR_STOPPED && status != ERR_MEMORY && !unread)
        return OK;
    *e->err = why;
    return status;
}

/* Measures a vector. If the codec fails, sets `*failed` and `*why` and returns OK, so that the comparison
 * goes on. Returns an error, which ends the comparison, if the vector cannot be read, the user stops the run
 * or memory runs out. Lack of memory is not recorded as a failure of the codec: a later run could succeed. */
static Status measure_vector(Engine *e, Trial *t, Tally *tally, bool *failed, Error *why)
{
    bool unread = false;
    t->unread = &unread;
    if (!e->c->workers)
        TRY(load_values(e, t->vector));
    const Status status = t->plan && e->plan->failed ? (*why = *e->plan->why).status
                          : e->c->workers            ? merge_run(t, &e->b, tally, why)
                                                     : trial_run(t, &e->b, tally, why);
    t->unread = NULL;
    *failed = status != OK;
    if (status != ERR_STOPPED && status != ERR_MEMORY && !unread)
        return OK;
    *e->err = *why;
    return status;
}

/* Measures a vector and writes its record, unless the record is known. If the codec fails,
 * the record says why. */
static Status run_vector(Engine *e, const Cell *cell, size_t place, size_t i, Pool *pool)
{
    const Vector *v = &e->c->vectors->item[i];
    const ArenaMark mark = arena_mark(e->tallies);
    Record r = {.codec = e->codec, .place = place, .level = LEVEL_VECTOR, .vector = v, .vectors = 1};
    Trial t;
    Error why;
    bool failed;
    TRY(open_trial(e, cell, i, &t));
    TRY(tally_open(&r.tally, LEVEL_VECTOR, e->c->repeats, codec_traits(t.codec) & RANDOM, e->tallies,
                   e->err));
    const bool known = is_known(e, place, &r.tally, &failed);
    TRY(known ? repeat_trial(e, &t) : measure_vector(e, &t, &r.tally, &failed, &why));
    if (failed) {
        r.vectors = 0;
        r.error = known ? NULL : why.text;
        r.hint = known ? NULL : why.hint;
        pool->failed++;
        e->failures++;
    } else {
        if (v->whole > v->shape.n && v->shape.n)
            tally_scale(&r.tally, (double)v->whole / (double)v->shape.n);
        pool_vector(e, v, &r.tally, pool);
    }
    if (!known)
        TRY(e->c->record(e->c->data, &r, e->err));
    arena_rewind(e->tallies, mark);
    return OK;
}

/* ---- loops over cells and codecs ---- */

static Status conclude_cell(Engine *e, Pool *pool, const Cell *cell, size_t place)
{
    if (pool->vectors)
        count_plan(e, pool);
    if (pool->vectors > 1) {
        pool->tally.wasserstein = NAN;
        pool->tally.distances = (Moments){0};
        pool->tally.decile[0][0] = NAN;
        for (size_t r = 0; r < pool->tally.decoded; r++)
            pool->tally.distance[r] = NAN;
        TRY(pool_distances(e, pool, true));
    }
    return put_pool(e, pool, &e->c->vectors->item[cell->from], place, cell->above);
}

static Status run_cell(Engine *e, size_t k)
{
    const Cell *cell = &e->layout.cell[k];
    const size_t place = cell->to + k;
    const bool random = codec_traits(e->c->codec[e->codec]) & RANDOM;
    const ArenaMark mark = arena_mark(e->tallies);
    Pool pool;
    Tally was;
    bool ignored;
    TRY(open_pool(e, &pool, LEVEL_CELL));
    TRY(tally_open(&was, LEVEL_CELL, e->c->repeats, random, e->tallies, e->err));
    const bool known = is_known(e, place, &was, &ignored);
    e->pools = e->b.pool_y && !(known && e->layout.reach < LEVEL_RUN);
    TRY(plan_cell(e, cell));
    for (size_t i = cell->from; i < cell->to; i++)
        TRY(run_vector(e, cell, i + k, i, &pool));
    if (!known)
        TRY(conclude_cell(e, &pool, cell, place));
    tally_append(&e->run.tally, known ? &was : &pool.tally);
    add_deciles(e, known ? &was : &pool.tally);
    e->run.vectors += pool.vectors;
    e->run.failed += pool.failed;
    arena_rewind(e->tallies, mark);
    return OK;
}

/* True if the k-th cell that runs and the next one are of one worker. */
static bool same_worker(const Layout *l, const Vector *v, size_t k)
{
    return v[l->cell[l->order[k]].from].worker_address == v[l->cell[l->order[k + 1]].from].worker_address;
}

static Status run_codec(Engine *e)
{
    const Comparison *c = e->c;
    const Layout *l = &e->layout;
    const Vector *v = c->vectors->item;
    const ArenaMark mark = arena_mark(e->tallies);
    e->pooled = 0;
    TRY(open_pool(e, &e->run, LEVEL_RUN));
    memset(e->run.tally.decile, 0, sizeof e->run.tally.decile);
    for (size_t k = 0; k < l->cells; k++) {
        const size_t cell = l->order[k];
        if (k == 0 || !same_worker(l, v, k - 1))
            codec_states_forget(&e->states);
        e->later = k + 1 < l->cells && same_worker(l, v, k);
        TRY(run_cell(e, cell));
    }
    codec_states_forget(&e->states);
    if (l->cells > 1) {
        e->run.tally.cells = (double)l->cells;
        if (l->reach == LEVEL_RUN)
            TRY(pool_distances(e, &e->run, false));
        TRY(put_pool(e, &e->run, v, c->vectors->count + l->cells, l->above_run));
    }
    arena_rewind(e->tallies, mark);
    arena_trim(e->b.scratch); /* the next codec may need blocks of another size */
    arena_trim(e->b.payloads);
    return OK;
}

static Status prepare(Engine *e, Arena *a)
{
    const Comparison *c = e->c;
    TRY(layout_make(&e->layout, c, c->memory, a, e->err));
    TRY(buffers_make(&e->b, c, &e->layout, a, e->err));
    e->plan = NEW(a, CellPlan, workers_of(c));
    TRY(arena_check(e->plan, a, e->err));
    TRY(find_percentiles(e));
    return OK;
}

Status compare_run(const Comparison *c, size_t *failures, Arena *a, Error *err)
{
    Engine e = {.c = c, .err = err, .tallies = arena_open(0)};
    Status status = prepare(&e, a);
    for (; status == OK && e.codec < c->codecs; e.codec++)
        if (!c->skip || !c->skip[e.codec])
            status = run_codec(&e);
    *failures = e.failures;
    arena_close(e.b.payloads);
    arena_close(e.b.scratch);
    codec_states_forget(&e.states);
    arena_close(e.tallies);
    return status;
}
