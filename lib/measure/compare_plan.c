/* compare_plan.c -- calls `codec_plan` for all vectors of a cell (one step and worker), before the first is
 * encoded. Each vector is loaded once more for the plan; loading does not count as planning time. */
#include "measure/compare_parts.h"

#include "measure/timing.h"

typedef struct {
    const Planner *planner;
    const Vector **vector; /* (`Step.count`) the vectors that are not sent raw, in the order of `Step.call` */
    size_t at;             /* index of the last vector loaded, for error messages */
    double loading;        /* seconds spent on loading vectors, which do not count as planning */
    bool failed;           /* true: loading failed, which is not the codec's failure */
} Source;

static const float *load(void *data, size_t j, Error *err)
{
    Source *s = data;
    const Planner *p = s->planner;
    const double start = clock_now();
    const Status status = comparison_stopped(p->c) ? FAIL(err, ERR_STOPPED, "stopped")
                          : p->c->workers ? p->c->load_worker(p->c->data, s->vector[j], p->worker, p->x, err)
                                          : p->c->load(p->c->data, s->vector[j], p->x, err);
    s->at = j;
    s->failed = status != OK;
    s->loading += clock_now() - start;
    return s->failed ? NULL : p->x;
}

/* Fills in `*step` with one Call for each vector of the cell that is not sent raw, and `source->vector` with
 * these vectors. */
static Status open_step(Step *step, Source *source, const Cell *cell, Arena *a, Error *err)
{
    const Planner *p = source->planner;
    Call *call = NEW(a, Call, cell->to - cell->from);
    source->vector = NEW(a, const Vector *, cell->to - cell->from);
    *step = (Step){.call = call, .load = load, .data = source};
    TRY(arena_check(call && source->vector, a, err));
    for (size_t i = cell->from; i < cell->to; i++) {
        const Vector *v = &p->c->vectors->item[i];
        void *state;
        if (v->raw)
            continue;
        Call own = trial_call(p->c, p->codec, v, NULL, p->scratch, err);
        TRY(codec_states_find(p->states, &own, v->worker_address, v->name, &state));
        if (p->c->workers) {
            const Exchange x = merge_exchange(p->c, p->codec, v, p->scratch, err);
            own = exchange_call(&x, &(ExchangeWorker){.index = p->worker});
            own.heard = NULL;
        }
        own.state = state;
        source->vector[step->count] = v;
        call[step->count++] = own;
    }
    return OK;
}

Status plan_make(CellPlan *plan, const Planner *p, const Cell *cell, Arena *a, Error *err)
{
    Source source = {.planner = p};
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
    arena_reset_peak(p->scratch);
    arena_lend(p->scratch, p->y, lendable(p->c->vectors->largest));
    const Status status = codec_plan(&step, plan->next);
    arena_unlend(p->scratch);
    plan->seconds = clock_now() - start - source.loading;
    plan->scratch = (double)arena_peak(p->scratch);
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

const void *plan_take(CellPlan *plan, const Vector *v)
{
    if (!plan->size || v->raw)
        return NULL;
    const char *record = plan->next;
    plan->next += plan->size;
    return record;
}
