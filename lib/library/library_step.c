/* library_step.c -- the functions of atomo.h for one step of several workers. */
#include "library/library_parts.h"

#include "codec/wrapper.h"

#include <string.h>

/* Begins a call on the tensor: errors go to `err`, and OpenBLAS has one thread if the codec uses it. */
static Error *enter(atomo_tensor *t, atomo_error *err)
{
    t->exchange.call.err = error_of(err, &t->unread);
    library_enter(t->codec->codec);
    return t->exchange.call.err;
}

/* Ends a call that `enter` began; returns its status. */
static atomo_status leave(const atomo_tensor *t, Status status)
{
    library_leave(t->codec->codec);
    return status_of(status);
}

static Status check_at(const atomo_tensor *t, int at, const char *want, Error *err)
{
    return (int)t->at == at ? OK : FAIL(err, ERR_USAGE, "%s: call %s first", t->name, want);
}

/* ---- training ---- */

/* Returns the offset of the innermost codec's state in a worker's state, of which it is the last part. Sets
 * `*size` to its bytes. */
static size_t learned_at(const atomo_tensor *t, size_t *size)
{
    Call inner = exchange_call(&t->exchange, &t->worker[t->self]);
    while (inner.self->inner)
        inner.self = inner.self->inner;
    *size = codec_state_size(&inner);
    return t->state - *size;
}

atomo_status atomo_train(atomo_tensor *t, int64_t step, const float *x, atomo_error *err)
{
    Error *e = enter(t, err);
    t->exchange.step = step;
    const Status status = library_check(t, x, e);
    return leave(t, status == OK ? exchange_train(&t->exchange, &t->worker[t->self], x) : status);
}

const void *atomo_learned(atomo_tensor *t, size_t *size)
{
    *size = 0;
    if (!codec_trains(t->codec->codec) || !t->state)
        return NULL;
    const size_t at = learned_at(t, size);
    return (const char *)t->worker[t->self].state + at;
}

atomo_status atomo_learn(atomo_tensor *t, const void *learned, size_t size, atomo_error *err)
{
    Error own = {0}, *e = error_of(err, &own);
    size_t want = 0;
    const size_t at = codec_trains(t->codec->codec) && t->state ? learned_at(t, &want) : 0;
    if (size != want)
        return status_of(FAIL(e, ERR_CORRUPT, "%s: %zu learned bytes, want %zu", t->name, size, want));
    for (size_t w = 0; size && w < t->workers; w++)
        if (t->worker[w].state)
            memmove((char *)t->worker[w].state + at, learned, size);
    return ATOMO_OK;
}

/* ---- the functions of one step of several workers ---- */

static void begin_round(atomo_tensor *t)
{
    memset(t->took, 0, t->workers * sizeof *t->took);
    t->taken = 0;
}

atomo_status atomo_step_begin(atomo_tensor *t, int64_t step, int senders, float *mean, atomo_error *err)
{
    Error own = {0}, *e = error_of(err, &own);
    Exchange *x = &t->exchange;
    if (senders < 1 || (size_t)senders > t->workers)
        return status_of(FAIL(e, ERR_USAGE, "senders=%d: want 1 to %zu", senders, t->workers));
    arena_rewind(x->payloads, (ArenaMark){0});
    t->kept.vector = NULL;
    memset(t->sent, 0, t->workers * sizeof *t->sent);
    begin_round(t);
    x->step = step;
    x->y = mean;
    x->call.workers = senders;
    x->call.err = e;
    const Status status = exchange_begin(x);
    t->at = status == OK ? STEP_ROUND : STEP_NONE;
    return status_of(status);
}

atomo_status atomo_step_send(atomo_tensor *t, const float *x, const void **payload, size_t *size,
                             atomo_error *err)
{
    Error *e = enter(t, err);
    Bytes sent = {NULL, 0};
    Status status = check_at(t, STEP_ROUND, "atomo_step_begin", e);
    if (status == OK)
        status = library_check(t, x, e);
    if (status == OK)
        status = exchange_send(&t->exchange, &t->worker[t->self], x, &sent);
    if (status == OK)
        t->sent[t->self][t->exchange.call.round] = sent;
    *payload = sent.data;
    *size = sent.size;
    return leave(t, status);
}

static Status take(atomo_tensor *t, int worker, Bytes payload, Error *err)
{
    TRY(check_at(t, STEP_ROUND, "atomo_step_begin", err));
    if (worker < 0 || (size_t)worker >= t->workers)
        return FAIL(err, ERR_USAGE, "worker=%d: want 0 to %zu", worker, t->workers - 1);
    if (t->took[worker] || t->taken == t->exchange.call.workers)
        return FAIL(err, ERR_USAGE, "worker %d: %d payloads were taken in this round already", worker,
                    t->taken);
    t->took[worker] = true;
    t->taken++;
    t->sent[worker][t->exchange.call.round] = payload;
    if (exchange_take(&t->exchange, &t->worker[worker], payload) != OK)
        return error_at(err, "%s: worker %d", t->name, worker);
    return OK;
}

atomo_status atomo_step_take(atomo_tensor *t, int worker, const void *payload, size_t size, atomo_error *err)
{
    Error *e = enter(t, err);
    return leave(t, take(t, worker, (Bytes){payload, size}, e));
}

static Status check_merges(const atomo_tensor *t, Error *err)
{
    TRY(check_at(t, STEP_ROUND, "atomo_step_begin", err));
    return codec_adds(t->codec->codec) ? OK
                                       : FAIL(err, ERR_USAGE, "payloads of %s do not merge", t->codec->spec);
}

static Status merge_round(atomo_tensor *t, const MergeOrder *want, size_t *size, Error *err)
{
    TRY(check_merges(t, err));
    const Call call = exchange_call(&t->exchange, &t->worker[t->self]);
    return library_merge(t, &call, want, size);
}

atomo_status atomo_step_merge(atomo_tensor *t, const void *const *in, const size_t *in_size, size_t count,
                              void *out, size_t room, size_t *size, atomo_error *err)
{
    Error *e = enter(t, err);
    const ArenaMark mark = arena_mark(t->scratch);
    *size = 0;
    const Status status = merge_round(t, &(MergeOrder){in, in_size, count, out, room}, size, e);
    arena_rewind(t->scratch, mark);
    return leave(t, status);
}

static Status take_merged(atomo_tensor *t, Bytes payload, Error *err)
{
    TRY(check_merges(t, err));
    if (t->taken)
        return FAIL(err, ERR_USAGE, "%d payloads were taken in this round already", t->taken);
    t->taken = t->exchange.call.workers;
    return exchange_take(&t->exchange, &t->worker[t->self], payload) == OK ? OK
                                                                           : error_at(err, "%s", t->name);
}

atomo_status atomo_step_take_merged(atomo_tensor *t, const void *payload, size_t size, atomo_error *err)
{
    Error *e = enter(t, err);
    return leave(t, take_merged(t, (Bytes){payload, size}, e));
}

static Status end_round(atomo_tensor *t, int *more, Error *err)
{
    TRY(check_at(t, STEP_ROUND, "atomo_step_begin", err));
    if (t->taken != t->exchange.call.workers)
        return FAIL(err, ERR_USAGE, "%d of %d payloads were taken in this round", t->taken,
                    t->exchange.call.workers);
    const int round = t->exchange.call.round;
    if (exchange_end_round(&t->exchange) != OK)
        return error_at(err, "%s", t->name);
    begin_round(t);
    *more = t->exchange.call.round > round;
    t->at = *more ? STEP_ROUND : STEP_OVER;
    return OK;
}

atomo_status atomo_step_end_round(atomo_tensor *t, int *more, atomo_error *err)
{
    Error *e = enter(t, err);
    *more = 0;
    return leave(t, end_round(t, more, e));
}

/* Computes the next state of worker `self`, whose gradient is x. If decoding needs the states of all
 * workers, computes the next states of the other workers too; their gradients are unknown (NULL). */
static Status settle(atomo_tensor *t, const float *x)
{
    for (size_t w = 0; w < t->workers; w++) {
        ExchangeWorker *worker = &t->worker[w];
        const bool sent = t->sent[w][0].data;
        if (!worker->state)
            continue;
        TRY(sent ? exchange_settle(&t->exchange, worker, w == t->self ? x : NULL, t->sent[w])
                 : exchange_settle_dropped(&t->exchange, worker, w == t->self ? x : NULL));
    }
    return OK;
}

atomo_status atomo_step_finish(atomo_tensor *t, const float *x, atomo_error *err)
{
    Error *e = enter(t, err);
    Status status = check_at(t, STEP_OVER, "atomo_step_end_round", e);
    if (status == OK && !t->sent[t->self][0].data) /* if this worker sent, `atomo_step_send` has checked x */
        status = library_check(t, x, e);
    if (status != OK)
        return leave(t, status);
    status = exchange_receive(&t->exchange);
    if (status == OK)
        status = settle(t, x);
    t->at = STEP_NONE;
    arena_rewind(t->exchange.payloads, (ArenaMark){0});
    return leave(t, status == OK ? OK : error_at(e, "%s", t->name));
}
