/* gradient.c -- exchanges all tensors of a gradient (gradient.h), bucket by bucket (gradient_buckets.h). */
#include "exchange/gradient.h"
#include "exchange/gradient_buckets.h"
#include "base/host.h"
#include "base/parallel.h"
#include "base/text.h"
#include "compress/spec.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

/* ---- a thread that does jobs in order while its caller goes on ---- */

typedef struct Background {
    void (*job)(void *data, size_t i);
    void *data;
    pthread_t thread;
    pthread_mutex_t lock; /* guards `posted`, `done` and `closing` */
    pthread_cond_t changed;
    size_t posted, done;
    bool closing;
    double waited; /* seconds that the caller has spent in background_wait */
} Background;

static void *background_serve(void *arg)
{
    Background *b = arg;
    pthread_mutex_lock(&b->lock);
    for (;;) {
        while (b->done == b->posted && !b->closing)
            pthread_cond_wait(&b->changed, &b->lock);
        if (b->done == b->posted)
            break;
        const size_t i = b->done;
        pthread_mutex_unlock(&b->lock);
        b->job(b->data, i);
        pthread_mutex_lock(&b->lock);
        b->done++;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Starts the thread. It calls job(data, i) for job i = 0, 1, ... ERR_MEMORY: the system refuses a thread. */
static Status background_open(Background **out, void (*job)(void *data, size_t i), void *data, Arena *a, Error *err)
{
    Background *b = NEW_ZERO(a, Background, 1);
    *out = NULL;
    TRY(arena_check(b, a, err));
    b->job = job;
    b->data = data;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    if (!parallel_thread(&b->thread, background_serve, b))
        return FAIL(err, ERR_MEMORY, "cannot start a thread");
    *out = b;
    return OK;
}

/* Waits for the jobs that have been posted; NULL is fine. */
static void background_close(Background *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->closing = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
}

/* Lets the thread do the next job. The job sees all that the caller has written before. */
static void background_post(Background *b)
{
    pthread_mutex_lock(&b->lock);
    b->posted++;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

/* Returns when the first `jobs` jobs are done; the caller then sees all that they have written. */
static void background_wait(Background *b, size_t jobs)
{
    const double start_time = clock_now();
    pthread_mutex_lock(&b->lock);
    while (b->done < jobs)
        pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
    b->waited += clock_now() - start_time;
}

/* Counts jobs from 0 again. All jobs that were posted must be done. */
static void background_restart(Background *b)
{
    pthread_mutex_lock(&b->lock);
    b->posted = b->done = 0;
    pthread_mutex_unlock(&b->lock);
}

/* ---- the workers of this rank ---- */

bool gradient_follows(const GradientExchange *x)
{
    return x->spec.net && codec_traits(x->spec.codec) & DECODES_STATE && !codec_adds(x->spec.codec) &&
           relay_takes(&x->relay);
}

/* ---- training the codec states and planning the step ---- */

static Status train(GradientExchange *x, const Parcel *p)
{
    Exchange e = bucket_exchange(x, p, &x->main);
    const ExchangeWorker *first = bucket_worker(x, p, x->first);
    size_t size;
    exchange_learned(&e, first, &size);
    if (!size)
        return OK;
    Status status = OK;
    if (bucket_is_own(x, x->first))
        status = bucket_blame(x, p->name, x->first,
                              exchange_train(&e, first, bucket_load(x, p, x->first, &x->main)), x->main.err);
    TRY(net_agree(x->spec.net, status, x->main.err));
    const ArenaMark mark = arena_mark(x->main.scratch);
    char *learned = arena_take(x->main.scratch, size, 1);
    TRY(arena_check(learned, x->main.scratch, x->main.err));
    if (bucket_is_own(x, x->first))
        memcpy(learned, exchange_learned(&e, first, &size), size);
    net_broadcast(x->spec.net, bucket_rank(x, x->first), learned, size);
    for (size_t w = 0; w < x->spec.workers; w++) {
        void *to = exchange_learned(&e, bucket_worker(x, p, w), &size);
        if (to)
            memcpy(to, learned, size);
    }
    arena_rewind(x->main.scratch, mark);
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
    return bucket_load(p->x, p->parcel[j], p->worker, &p->x->main);
}

static Status run_plan(void *arg)
{
    const Planning *p = arg;
    return codec_plan(&p->step, p->record);
}

static Status plan(GradientExchange *x, size_t w)
{
    const ArenaMark mark = arena_mark(x->main.scratch);
    Call *call = NEW(x->main.scratch, Call, x->parcels.count);
    Planning p = {.x = x,
                  .worker = w,
                  .parcel = NEW(x->main.scratch, const Parcel *, x->parcels.count),
                  .step = {.call = call, .load = load_parcel, .data = &p},
                  .record = arena_take(x->main.scratch, x->parcels.count, x->plan_size)};
    const ExchangeClock *clock = &x->spec.clock;
    TRY(arena_check(call && p.parcel && p.record, x->main.scratch, x->main.err));
    for (const Parcel *parcel = x->parcels.item; parcel < x->parcels.item + x->parcels.count; parcel++)
        if (!parcel->raw) {
            const Exchange e = bucket_exchange(x, parcel, &x->main);
            p.parcel[p.step.count] = parcel;
            Call *c = &call[p.step.count++];
            *c = exchange_call(&e, bucket_worker(x, parcel, w));
            c->plan = NULL;
            c->heard = NULL;
        }
    if (p.step.count)
        TRY(clock->run ? clock->run(clock->data, EXCHANGE_PLAN, w, run_plan, &p) : run_plan(&p));
    for (size_t j = 0; j < p.step.count; j++)
        memcpy(x->plan + (w * x->parcels.count + (size_t)(p.parcel[j] - x->parcels.item)) * x->plan_size,
               p.record + j * x->plan_size, x->plan_size);
    arena_rewind(x->main.scratch, mark);
    return OK;
}

/* Trains and plans, before the first bucket is encoded. Errors of training are the same on all ranks. */
static Status prepare(GradientExchange *x, Status *planned)
{
    *planned = OK;
    for (const Parcel *p = x->parcels.item; p < x->parcels.item + x->parcels.count; p++)
        TRY(bucket_blame(x, p->name, x->first, train(x, p), x->main.err));
    for (size_t w = x->own; w < x->end && x->plan_size && *planned == OK; w++)
        if (x->sends[w])
            *planned = plan(x, w);
    return OK;
}

/* ---- posting and carrying buckets ---- */

/* Carries bucket i. After the last bucket the ranks agree that all have computed their gradients. If a bucket fails, it
 * fails on all ranks, and all leave out the buckets after it. */
static void carry(void *data, size_t i)
{
    GradientExchange *x = data;
    Workspace *ws = x->carrying;
    if (x->carried == OK) {
        const Status status = i < x->buckets ? x->bucket[i].status : x->computed;
        if (status != OK && ws->err != x->main.err)
            *ws->err = *x->main.err;
        x->carried = i < x->buckets ? bucket_carry(x, &x->bucket[i], ws)
                                    : net_agree(x->spec.net, x->computed, ws->err);
    }
    if (i < x->buckets)
        x->bucket[i].status = x->carried;
}

static void post(GradientExchange *x, size_t i)
{
    if (x->carrier)
        background_post(x->carrier);
    else
        carry(x, i);
}

/* Encodes the next bucket, if `status` is OK, and hands it to `carry`. */
static void post_bucket(GradientExchange *x, Status status)
{
    Bucket *b = &x->bucket[x->posted];
    bucket_open(x, b, &x->main);
    b->status = status == OK ? bucket_encode(x, b, 0, &x->main) : status;
    x->stuck = b->status != OK;
    post(x, x->posted++);
}

static void wait_for(GradientExchange *x, size_t jobs)
{
    if (x->carrier)
        background_wait(x->carrier, jobs);
}

/* ---- one step of all parcels ---- */

/* Settles the states. A rank that fails here still takes part in the exchange of the other buckets. */
static void settle(GradientExchange *x, Bucket *b)
{
    if (x->settled == OK)
        x->settled = bucket_settle(x, b, &x->main);
    arena_rewind(b->payloads, x->empty);
}

/* Posts the buckets that are left, and finishes each bucket when it has been carried. States are settled when all ranks
 * are known to have computed their gradients. */
static Status run_overlapped(GradientExchange *x, Status status)
{
    Status finished = OK;
    while (!x->stuck && x->posted < x->buckets)
        post_bucket(x, status);
    x->computed = status;
    post(x, x->buckets);
    for (size_t i = 0; i < x->posted && status == OK && finished == OK; i++) {
        wait_for(x, i + 1);
        if (x->bucket[i].status != OK)
            break;
        finished = bucket_finish(x, &x->bucket[i], &x->main);
    }
    wait_for(x, x->posted + 1);
    if (x->carried != OK && x->carrying->err != x->main.err)
        *x->main.err = *x->carrying->err;
    TRY(x->carried);
    TRY(finished);
    for (Bucket *b = x->bucket; b < x->bucket + x->buckets; b++)
        settle(x, b);
    return OK;
}

/* ---- a step ---- */

static double net_seconds(const GradientExchange *x)
{
    return x->spec.net ? x->spec.net->seconds : 0;
}

void gradient_begin(GradientExchange *x, size_t step, float *const *gradient, const double *weight,
                    const bool *sends, float *agreed)
{
    x->step = step;
    x->gradient = gradient;
    x->weight = weight;
    x->sends = sends;
    x->agreed = agreed;
    x->settled = x->computed = x->carried = OK;
    x->posted = 0;
    x->stuck = false;
    x->senders = 0;
    for (size_t w = x->spec.workers; w-- > 0;)
        if (sends[w]) {
            x->senders++;
            x->first = w;
        }
    assert(x->senders);
    x->leader = x->first;
    for (size_t more = exchange_leader((int64_t)step, x->senders); more;)
        more -= sends[++x->leader];
    x->bytes = (GradientBytes){0};
    x->shot = x->near = 0;
    arena_rewind(x->main.scratch, x->empty);
    arena_rewind(x->carrying->scratch, x->empty);
    for (size_t i = 0; i < x->buckets; i++)
        arena_rewind(x->bucket[i].payloads, x->empty);
    if (x->carrier)
        background_restart(x->carrier);
    if (x->spec.net)
        x->spec.net->patient = x->spec.overlap;
    x->waited = -(x->carrier ? x->carrier->waited : net_seconds(x));
}

void gradient_ready(GradientExchange *x, size_t tensor)
{
    while (x->early && !x->stuck && x->posted < x->buckets && x->bucket[x->posted].first >= tensor)
        post_bucket(x, OK);
}

static void count(GradientExchange *x)
{
    const double p = (double)x->senders, others = p - 1, payload = x->bytes.payload / p;
    GradientBytes *b = &x->bytes;
    b->payload = payload;
    if (x->spec.way == NET_ROOT || x->spec.way == NET_ALL) {
        b->sent = x->spec.way == NET_ALL ? others * payload : payload;
        b->carried = payload;
        return;
    }
    b->sent = others / p * (payload + b->carried) + x->shot / p;
    const double node = x->spec.node ? (double)x->spec.node : 1;
    b->carried += p > node ? (x->shot - x->near) * node / (2 * (p - node)) : 0; /* each of the shots carries (P - 1)/P of a payload */
    b->within = node > 1 ? x->near / p * node / (2 * (node - 1)) : 0;
}

static Status run_step(GradientExchange *x, Status status)
{
    if (!x->early) { /* else the second thread may be calling functions of net.h */
        const double before = net_seconds(x);
        TRY(prepare(x, &status));
        x->waited += x->carrier ? net_seconds(x) - before : 0;
    }
    if (x->spec.overlap)
        TRY(run_overlapped(x, status));
    while (!x->spec.overlap && x->posted < x->buckets) {
        Bucket *b = &x->bucket[x->posted];
        post_bucket(x, status);
        TRY(b->status);
        TRY(bucket_finish(x, b, &x->main));
        settle(x, b);
    }
    const double before = net_seconds(x);
    TRY(net_agree(x->spec.net, x->settled, x->main.err));
    x->waited += x->carrier ? x->carrier->waited + net_seconds(x) - before : net_seconds(x);
    count(x);
    return OK;
}

static Status end_step(GradientExchange *x, Status status, GradientBytes *bytes, Error *err)
{
    status = run_step(x, status);
    /* Merging and decoding fail on all ranks or on none, except for lack of memory on one rank. */
    if (status != OK && status != ERR_MEMORY && !(x->spec.net && x->spec.net->failed))
        status = net_agree(x->spec.net, status, x->main.err);
    if (x->spec.net)
        x->spec.net->patient = false;
    if (status != OK)
        *err = *x->main.err;
    x->bytes.waited = x->waited;
    *bytes = x->bytes;
    return status;
}

Status gradient_end(GradientExchange *x, Status status, GradientBytes *bytes, Error *err)
{
    if (!x->early && net_agree(x->spec.net, status, err) != OK) {
        if (x->spec.net)
            x->spec.net->patient = false;
        return err->status;
    }
    if (status != OK && !x->stuck)
        *x->main.err = *err;
    return end_step(x, status, bytes, err);
}

Status gradient_step(GradientExchange *x, size_t step, float *const *gradient, const double *weight,
                     const bool *sends, float *agreed, GradientBytes *bytes, Error *err)
{
    gradient_begin(x, step, gradient, weight, sends, agreed);
    return end_step(x, OK, bytes, err);
}

/* ---- opening ---- */

static Status make_workers(GradientExchange *x, Error *err)
{
    const size_t parcels = x->parcels.count, all = x->spec.workers * parcels;
    x->worker = NEW_ZERO(x->arena, ExchangeWorker, all);
    x->plan = arena_zeroed(x->arena, all, x->plan_size);
    TRY(arena_check(x->worker && x->plan, x->arena, err));
    for (size_t i = 0; i < all; i++) {
        const Parcel *p = &x->parcels.item[i % parcels];
        ExchangeWorker *w = &x->worker[i];
        *w = (ExchangeWorker){.index = i / parcels};
        if (x->plan_size && !p->raw)
            w->plan = x->plan + i * x->plan_size;
        if (!bucket_is_own(x, w->index) && net_rank(x->spec.net) && !gradient_follows(x))
            continue;
        const Exchange e = bucket_exchange(x, p, &x->main);
        const Call call = exchange_call(&e, w);
        if (codec_states_find(&x->states, &call, (int64_t)w->index, p->name, &w->state) != OK) {
            *err = *x->main.err;
            return err->status;
        }
        /* rank 0 has room for the state, for saving, but does not know it */
        if (!bucket_is_own(x, w->index) && !gradient_follows(x))
            w->state = NULL;
    }
    return OK;
}

static Status make_workspace(GradientExchange *x, Workspace *ws, Error *err)
{
    ws->scratch = arena_open(0);
    ws->x = NEW(x->arena, float, x->parcels.largest);
    ws->y = NEW(x->arena, float, x->parcels.largest);
    ws->err = NEW_ZERO(x->arena, Error, 1);
    return arena_check(ws->x && ws->y && ws->err, x->arena, err);
}

static Status make_parcels(GradientExchange *x, Error *err)
{
    const bool shots = shots_used(x->spec.shots, x->spec.codec);
    const size_t most = (x->spec.tensors + 1) * (shots ? x->spec.workers : 1);
    x->parcels = (ParcelList){
        .tensor = x->spec.tensor, .tensors = x->spec.tensors, .min_elements = x->spec.min_elements};
    x->parcels.item = NEW(x->arena, Parcel, most);
    x->bucket = NEW_ZERO(x->arena, Bucket, most);
    x->part = NEW(x->arena, RelayTensor *, most);
    RelayTensor *tensor = NEW(x->arena, RelayTensor, most);
    TRY(arena_check(x->parcels.item && x->bucket && x->part && tensor, x->arena, err));
    parcels_make(&x->parcels, x->spec.grouping);
    if (shots)
        TRY(parcels_cut(&x->parcels, x->spec.codec, x->spec.workers, x->arena, err));
    buckets_make(x, tensor);
    x->nothing = arena_zeroed(x->arena, x->spec.workers, sizeof *x->nothing);
    TRY(arena_check(x->nothing, x->arena, err));
    x->payloads = arena_open(0);
    x->empty = arena_mark(x->payloads);
    for (size_t i = 0; i < x->buckets; i++)
        x->bucket[i].payloads = x->spec.overlap ? arena_open(0) : x->payloads;
    return OK;
}

/* A rank without workers does not compute, so it needs no second thread. */
static Status open_carrier(GradientExchange *x, Error *err)
{
    x->carrying = &x->main;
    if (!x->spec.overlap || x->own == x->end)
        return OK;
    if (!x->spec.net->serialized)
        return FAIL(err, ERR_USAGE, "overlap: %s does not let a second thread send", net_library());
    x->second.threads = 1;
    TRY(make_workspace(x, &x->second, err));
    TRY(background_open(&x->carrier, carry, x, x->arena, err));
    x->carrying = &x->second;
    return OK;
}

static Status open(GradientExchange *x, Error *err)
{
    const GradientSpec *s = &x->spec;
    TRY(codec_open(&x->none, "none", x->arena, err));
    TRY(make_parcels(x, err));
    x->main = (Workspace){.threads = s->threads, .clock = s->clock};
    TRY(make_workspace(x, &x->main, err));
    x->own = relay_first_worker(s->net, s->way, s->workers, net_rank(s->net));
    x->end = relay_first_worker(s->net, s->way, s->workers, net_rank(s->net) + 1);
    x->relay = (Relay){s->net, s->way, s->workers};
    x->plan_size = codec_plan_size(s->codec);
    x->early = s->overlap && !x->plan_size && !codec_trains(s->codec);
    TRY(make_workers(x, err));
    TRY(shots_open(x, err));
    return open_carrier(x, err);
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
    x->arena = arena;
    x->spec = *spec;
    x->spec.overlap = spec->overlap && spec->net;
    const Status status = open(x, err);
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
    background_close(x->carrier);
    codec_states_forget(&x->states);
    for (size_t i = 0; i < x->buckets && x->spec.overlap; i++)
        arena_close(x->bucket[i].payloads);
    arena_close(x->payloads);
    arena_close(x->second.scratch);
    arena_close(x->main.scratch);
    arena_close(x->arena);
}

CodecStates *gradient_states(GradientExchange *x)
{
    return &x->states;
}
