/* gradient.c -- exchanges all tensors of a gradient (gradient.h). A parcel is a vector that the codec
 * encodes as a whole: one tensor, or all tensors end to end. */
#include "exchange/gradient.h"
#include "exchange/relay.h"
#include "compress/spec.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct {
    const char *name;
    Shape shape;
    bool raw; /* true: the vector is sent by the codec `none` */
    /* the tensors `first` .. `first` + `count` - 1; if `count` > 1, tensors under `min_elements` are left
     * out */
    size_t first, count;
} Parcel;

struct GradientExchange {
    Arena *arena, *scratch, *payloads;
    GradientSpec spec;
    const Codec *none;
    Parcel *parcel;
    size_t parcels;
    CodecStates states;
    ExchangeWorker *worker;    /* (workers, parcels) */
    char *plan;                /* (workers, parcels) records of `codec_plan`, `plan_size` bytes each */
    size_t plan_size;          /* 0: no plan, as the codec does not divide a budget between parcels */
    float *x, *y;              /* room for the largest parcel */
    double *up;                /* (workers) bytes that each worker sent in this step */
    Bytes (*sent)[ROUNDS_MAX]; /* (workers) payloads of the parcel that is being exchanged */
    size_t own, end;           /* this rank's workers: own .. end - 1 */
    Relay relay;

    /* The current step. */
    Status settled;              /* status of settling this rank's workers */
    size_t step, senders, first; /* `senders`: number of workers that send; `first`: the first one */
    float *const *gradient;
    const double *weight;
    const bool *sends;
    float *agreed;
    GradientBytes *bytes;
    Error *err;
};

/* ---- parcels ---- */

static bool is_small(const GradientExchange *x, size_t tensor)
{
    return x->spec.tensor[tensor].shape.n < x->spec.min_elements;
}

static bool holds(const GradientExchange *x, const Parcel *p, size_t tensor)
{
    return p->count == 1 || !is_small(x, tensor);
}

static void add_parcel(GradientExchange *x, size_t first, size_t count, bool raw)
{
    const GradientTensor *t = &x->spec.tensor[first];
    Parcel *p = &x->parcel[x->parcels++];
    *p = (Parcel){.name = t->name, .shape = t->shape, .raw = raw, .first = first, .count = count};
    if (count == 1)
        return;
    size_t n = 0;
    for (size_t i = first; i < first + count; i++)
        n += is_small(x, i) ? 0 : x->spec.tensor[i].shape.n;
    p->name = "all";
    p->shape = shape_vector(n);
}

static void make_parcels(GradientExchange *x)
{
    size_t large = 0;
    for (size_t i = 0; i < x->spec.tensors; i++) {
        const bool small = is_small(x, i);
        large += !small;
        if (small || x->spec.grouping == GROUP_TENSOR)
            add_parcel(x, i, 1, small);
    }
    if (large && x->spec.grouping == GROUP_ALL)
        add_parcel(x, 0, x->spec.tensors, false);
}

/* Returns worker w's values of a parcel, times weight[w] and the number of workers that send. The unweighted
 * mean over these workers is then the weighted mean of the gradients. */
static const float *gather(GradientExchange *x, const Parcel *p, size_t w)
{
    const double gain = x->weight[w] * (double)x->senders;
    float *to = x->x;
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const GradientTensor *t = &x->spec.tensor[i];
        if (!holds(x, p, i))
            continue;
        const float *from = x->gradient[w] + t->offset;
        if (gain == 1)
            memcpy(to, from, t->shape.n * sizeof *to);
        else
            for (size_t j = 0; j < t->shape.n; j++)
                to[j] = (float)(gain * (double)from[j]);
        to += t->shape.n;
    }
    return x->x;
}

static void scatter(GradientExchange *x, const Parcel *p)
{
    const float *from = x->y;
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const GradientTensor *t = &x->spec.tensor[i];
        if (!holds(x, p, i))
            continue;
        memcpy(x->agreed + t->offset, from, t->shape.n * sizeof *from);
        from += t->shape.n;
    }
}

static Exchange exchange_of(const GradientExchange *x, const Parcel *p)
{
    const Codec *codec = p->raw ? x->none : x->spec.codec;
    return (Exchange){.call = {.self = codec,
                               .shape = &p->shape,
                               .workers = (int)(x->senders ? x->senders : x->spec.workers),
                               .threads = x->spec.threads,
                               .scratch = x->scratch,
                               .err = x->err},
                      .seed = x->spec.seed,
                      .tensor = rng_hash(p->name),
                      .step = (int64_t)x->step,
                      .senders = x->spec.senders && !p->raw,
                      .keep = true,
                      .y = x->y,
                      .payloads = x->payloads,
                      .clock = x->spec.clock};
}

static ExchangeWorker *worker_of(const GradientExchange *x, const Parcel *p, size_t w)
{
    return &x->worker[w * x->parcels + (size_t)(p - x->parcel)];
}

static Status blame(GradientExchange *x, const Parcel *p, size_t w, Status status)
{
    return status == OK ? OK : error_at(x->err, "step %zu: worker %zu: %s", x->step, w, p->name);
}

/* ---- the workers of this rank ---- */

static int rank_of(const GradientExchange *x, size_t w)
{
    return relay_rank_of(x->spec.net, x->spec.way, x->spec.workers, w);
}

static bool is_own(const GradientExchange *x, size_t w)
{
    return w >= x->own && w < x->end;
}

bool gradient_follows(const GradientExchange *x)
{
    return x->spec.net && codec_traits(x->spec.codec) & DECODES_STATE && !codec_adds(x->spec.codec) &&
           relay_takes(&x->relay);
}

/* ---- training the codec states and planning the step ---- */

static Status train(GradientExchange *x, const Parcel *p)
{
    Exchange e = exchange_of(x, p);
    const ExchangeWorker *first = worker_of(x, p, x->first);
    size_t size;
    exchange_learned(&e, first, &size);
    if (!size)
        return OK;
    Status status = OK;
    if (is_own(x, x->first))
        status = blame(x, p, x->first, exchange_train(&e, first, gather(x, p, x->first)));
    TRY(net_agree(x->spec.net, status, x->err));
    const ArenaMark mark = arena_mark(x->scratch);
    char *learned = arena_take(x->scratch, size, 1);
    TRY(arena_check(learned, x->scratch, x->err));
    if (is_own(x, x->first))
        memcpy(learned, exchange_learned(&e, first, &size), size);
    net_broadcast(x->spec.net, rank_of(x, x->first), learned, size);
    for (size_t w = 0; w < x->spec.workers; w++) {
        void *to = exchange_learned(&e, worker_of(x, p, w), &size);
        if (to)
            memcpy(to, learned, size);
    }
    arena_rewind(x->scratch, mark);
    return OK;
}

typedef struct {
    GradientExchange *x;
    size_t worker;
    const Parcel **parcel; /* (step.count) the step's parcels that the codec encodes */
    Step step;
    char *record; /* the plan: `step.count` records of `plan_size` bytes */
} Planning;

static const float *load_parcel(void *data, size_t j, Error *err)
{
    const Planning *p = data;
    (void)err;
    return gather(p->x, p->parcel[j], p->worker);
}

static Status run_plan(void *arg)
{
    const Planning *p = arg;
    return codec_plan(&p->step, p->record);
}

static Status plan(GradientExchange *x, size_t w)
{
    const ArenaMark mark = arena_mark(x->scratch);
    Call *call = NEW(x->scratch, Call, x->parcels);
    Planning p = {.x = x,
                  .worker = w,
                  .parcel = NEW(x->scratch, const Parcel *, x->parcels),
                  .step = {.call = call, .load = load_parcel, .data = &p},
                  .record = arena_take(x->scratch, x->parcels, x->plan_size)};
    const ExchangeClock *clock = &x->spec.clock;
    TRY(arena_check(call && p.parcel && p.record, x->scratch, x->err));
    for (const Parcel *parcel = x->parcel; parcel < x->parcel + x->parcels; parcel++)
        if (!parcel->raw) {
            const Exchange e = exchange_of(x, parcel);
            p.parcel[p.step.count] = parcel;
            Call *c = &call[p.step.count++];
            *c = exchange_call(&e, worker_of(x, parcel, w));
            c->plan = NULL;
            c->heard = NULL;
        }
    if (p.step.count)
        TRY(clock->run ? clock->run(clock->data, EXCHANGE_PLAN, w, run_plan, &p) : run_plan(&p));
    for (size_t j = 0; j < p.step.count; j++)
        memcpy(x->plan + (w * x->parcels + (size_t)(p.parcel[j] - x->parcel)) * x->plan_size,
               p.record + j * x->plan_size, x->plan_size);
    arena_rewind(x->scratch, mark);
    return OK;
}

/* ---- exchanging one parcel ---- */

static Status send_own(GradientExchange *x, const Parcel *p, Exchange *e)
{
    for (size_t w = x->own; w < x->end; w++)
        if (x->sends[w])
            TRY(blame(x, p, w,
                      exchange_send(e, worker_of(x, p, w), gather(x, p, w), &x->sent[w][e->call.round])));
    return OK;
}

/* Takes the payloads of all workers, in the order of workers. */
static Status take_all(GradientExchange *x, const Parcel *p, Exchange *e)
{
    const int round = e->call.round;
    for (size_t w = 0; w < x->spec.workers; w++)
        if (x->sends[w])
            TRY(blame(x, p, w, exchange_take(e, worker_of(x, p, w), x->sent[w][round])));
    return exchange_end_round(e);
}

static Status run_round(GradientExchange *x, const Parcel *p, Exchange *e)
{
    const int round = e->call.round;
    const ExchangeWorker *first = worker_of(x, p, x->first);
    TRY(relay_payloads(&x->relay, e, send_own(x, p, e), x->sends, first, x->sent));
    const bool takes = relay_takes(&x->relay) && !x->relay.merged.data;
    TRY(relay_merged(&x->relay, e, round, takes ? take_all(x, p, e) : OK, first));
    for (size_t w = 0; w < x->spec.workers; w++) {
        x->up[w] += (double)x->relay.size[w];
        if (round + 1 == e->rounds && !e->adds)
            x->bytes->agreed += (double)x->relay.size[w];
    }
    x->bytes->agreed += (double)e->heard[round].size;
    x->bytes->early += round + 1 < e->rounds ? (double)e->heard[round].size : 0;
    return OK;
}

static Status settle(GradientExchange *x, const Parcel *p, Exchange *e, size_t w)
{
    const ExchangeWorker *worker = worker_of(x, p, w);
    if (!worker->state)
        return OK;
    const float *values = is_own(x, w) ? gather(x, p, w) : NULL;
    return x->sends[w] ? exchange_settle(e, worker, values, x->sent[w])
                       : exchange_settle_dropped(e, worker, values);
}

static Status run_parcel(GradientExchange *x, const Parcel *p)
{
    Exchange e = exchange_of(x, p);
    TRY(exchange_begin(&e));
    for (int round = 0; round < e.rounds; round++)
        TRY(run_round(x, p, &e));
    TRY(relay_mean(&x->relay, &e, relay_decodes(&x->relay, &e) ? exchange_receive(&e) : OK));
    /* a rank that fails here still takes part in the exchange of the other parcels */
    for (size_t w = 0; w < x->spec.workers && x->settled == OK; w++)
        x->settled = blame(x, p, w, settle(x, p, &e, w));
    scatter(x, p);
    return OK;
}

/* ---- one step of all parcels ---- */

static Status run_step(GradientExchange *x)
{
    memset(x->up, 0, x->spec.workers * sizeof *x->up);
    for (size_t i = 0; i < x->parcels; i++)
        TRY(blame(x, &x->parcel[i], x->first, train(x, &x->parcel[i])));
    for (size_t w = x->own; w < x->end && x->plan_size; w++)
        if (x->sends[w])
            TRY(plan(x, w));
    for (size_t i = 0; i < x->parcels; i++) {
        const ArenaMark mark = arena_mark(x->payloads), scratch = arena_mark(x->scratch);
        TRY(run_parcel(x, &x->parcel[i]));
        arena_rewind(x->scratch, scratch);
        arena_rewind(x->payloads, mark);
    }
    TRY(net_agree(x->spec.net, x->settled, x->err));
    for (size_t w = 0; w < x->spec.workers; w++) {
        x->bytes->most_up = fmax(x->bytes->most_up, x->up[w]);
        x->bytes->up += x->up[w];
    }
    x->bytes->up /= (double)x->senders;
    return OK;
}

Status gradient_step(GradientExchange *x, size_t step, float *const *gradient, const double *weight,
                     const bool *sends, float *agreed, GradientBytes *bytes, Error *err)
{
    *bytes = (GradientBytes){0};
    x->step = step;
    x->gradient = gradient;
    x->weight = weight;
    x->sends = sends;
    x->agreed = agreed;
    x->bytes = bytes;
    x->err = err;
    x->settled = OK;
    x->senders = 0;
    for (size_t w = x->spec.workers; w-- > 0;)
        if (sends[w]) {
            x->senders++;
            x->first = w;
        }
    assert(x->senders);
    const Status status = run_step(x);
    /* Merging and decoding fail on all ranks or on none, except for lack of memory on one rank. */
    return status == OK || status == ERR_MEMORY || (x->spec.net && x->spec.net->failed)
               ? status
               : net_agree(x->spec.net, status, err);
}

/* ---- opening ---- */

static Status make_workers(GradientExchange *x)
{
    const size_t all = x->spec.workers * x->parcels;
    x->worker = NEW_ZERO(x->arena, ExchangeWorker, all);
    x->plan = arena_zeroed(x->arena, all, x->plan_size);
    TRY(arena_check(x->worker && x->plan, x->arena, x->err));
    for (size_t i = 0; i < all; i++) {
        const Parcel *p = &x->parcel[i % x->parcels];
        ExchangeWorker *w = &x->worker[i];
        *w = (ExchangeWorker){.index = i / x->parcels};
        if (x->plan_size && !p->raw)
            w->plan = x->plan + i * x->plan_size;
        if (!is_own(x, w->index) && net_rank(x->spec.net) && !gradient_follows(x))
            continue;
        const Exchange e = exchange_of(x, p);
        const Call call = exchange_call(&e, w);
        TRY(codec_states_find(&x->states, &call, (int64_t)w->index, p->name, &w->state));
        /* rank 0 has room for the state, for saving, but does not know it */
        if (!is_own(x, w->index) && !gradient_follows(x))
            w->state = NULL;
    }
    return OK;
}

static Status make_room(GradientExchange *x)
{
    size_t largest = 0;
    for (size_t i = 0; i < x->parcels; i++)
        largest = x->parcel[i].shape.n > largest ? x->parcel[i].shape.n : largest;
    x->x = NEW(x->arena, float, largest);
    x->y = NEW(x->arena, float, largest);
    x->up = NEW(x->arena, double, x->spec.workers);
    x->sent = arena_zeroed(x->arena, x->spec.workers, sizeof *x->sent);
    return x->x && x->y && x->up && x->sent ? OK : arena_fail(x->arena, x->err);
}

static Status open(GradientExchange *x)
{
    TRY(codec_open(&x->none, "none", x->arena, x->err));
    x->parcel = NEW(x->arena, Parcel, x->spec.tensors + 1);
    TRY(arena_check(x->parcel, x->arena, x->err));
    make_parcels(x);
    const Net *net = x->spec.net;
    x->own = relay_first_worker(net, x->spec.way, x->spec.workers, net_rank(net));
    x->end = relay_first_worker(net, x->spec.way, x->spec.workers, net_rank(net) + 1);
    TRY(relay_open(&x->relay, x->spec.net, x->spec.way, x->spec.workers, x->arena, x->err));
    x->plan_size = codec_plan_size(x->spec.codec);
    TRY(make_workers(x));
    return make_room(x);
}

Status gradient_open(GradientExchange **out, const GradientSpec *spec, Error *err)
{
    Arena *arena = arena_open(0);
    GradientExchange *x = NEW_ZERO(arena, GradientExchange, 1);
    *out = NULL;
    if (!x) {
        const Status status = arena_fail(arena, err);
        arena_close(arena);
        return status;
    }
    *x = (GradientExchange){.arena = arena, .spec = *spec, .err = err};
    x->scratch = arena_open(0);
    x->payloads = arena_open(0);
    const Status status = open(x);
    if (status == OK)
        *out = x;
    else
        gradient_close(x);
    return status;
}

void gradient_close(GradientExchange *x)
{
    if (!x)
        return;
    codec_states_forget(&x->states);
    arena_close(x->payloads);
    arena_close(x->scratch);
    arena_close(x->arena);
}

CodecStates *gradient_states(GradientExchange *x)
{
    return &x->states;
}
