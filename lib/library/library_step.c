/* library_step.c -- the functions of atomo.h for one step of several workers. */
#include "library/library_parts.h"

#include "compress/wrapper.h"
#include "exchange/shots.h"

#include <string.h>

static Status check_at(const atomo_tensor *t, int at, const char *want, Error *err)
{
    return (int)t->at == at ? OK : FAIL(err, ERR_USAGE, "%s: call %s first", t->name, want);
}

/* ---- training: the innermost codec's state, the last part of a worker's, learns ---- */

static Status train(atomo_tensor *t, const Order *o, Error *err)
{
    TRY(library_check(t, o->x, err));
    t->at = STEP_NONE;
    t->exchange.step = o->step;
    return exchange_train(&t->exchange, &t->worker[t->self], o->x);
}

atomo_status atomo_train(atomo_tensor *t, int64_t step, const float *x, atomo_error *err)
{
    return library_call_tensor(train, t, &(Order){.step = step, .x = x}, err);
}

const void *atomo_learned(atomo_tensor *t, size_t *size)
{
    *size = t->learned;
    return t->learned ? (const char *)t->worker[t->self].state + t->state - t->learned : NULL;
}

static Status learn(atomo_tensor *t, const Order *o, Error *err)
{
    const Bytes learned = o->in;
    const size_t want = t->learned;
    TRY(library_check_bytes(t, learned, err));
    if (learned.size != want)
        return FAIL(err, ERR_CORRUPT, "%s: %zu learned bytes, want %zu", t->name, learned.size, want);
    t->at = STEP_NONE;
    for (size_t w = 0; want && w < t->workers; w++)
        if (t->worker[w].state)
            memmove((char *)t->worker[w].state + t->state - want, learned.data, want);
    return OK;
}

atomo_status atomo_learn(atomo_tensor *t, const void *learned, size_t size, atomo_error *err)
{
    return library_call_tensor(learn, t, &(Order){.in = {learned, size}}, err);
}

/* ---- the functions of one step of several workers ---- */

static Status begin_step(atomo_tensor *t, const Order *o, Error *err)
{
    Exchange *x = &t->exchange;
    const int senders = o->worker;
    if (senders < 1 || (size_t)senders > t->workers)
        return FAIL(err, ERR_USAGE, "senders=%d: want 1 to %zu", senders, t->workers);
    if (!o->y && t->shape.n)
        return FAIL(err, ERR_USAGE, "%s: mean is NULL", t->name);
    TRY(library_check_state(t, err));
    t->at = STEP_NONE;
    arena_rewind(x->payloads, (ArenaMark){0});
    t->kept.found = NULL;
    memset(t->sent, 0, t->workers * sizeof *t->sent);
    memset(t->took, 0, t->workers * sizeof *t->took);
    t->taken = 0;
    t->single = 0;
    x->step = o->step;
    x->y = o->y;
    x->call.workers = senders;
    x->call.leader = exchange_leader(o->step, (size_t)senders);
    TRY(exchange_begin(x));
    t->at = STEP_ROUND;
    return OK;
}

atomo_status atomo_step_begin(atomo_tensor *t, int64_t step, int senders, float *mean, atomo_error *err)
{
    return library_call_tensor(begin_step, t, &(Order){.step = step, .worker = senders, .y = mean}, err);
}

/* Refuses x where it lies in `mean`, which is scratch memory until the step's end. */
static Status check_apart(const atomo_tensor *t, const float *x, Error *err)
{
    const uintptr_t at = (uintptr_t)x, mean = (uintptr_t)t->exchange.y, size = t->shape.n * sizeof *x;
    return size && at < mean + size && mean < at + size
               ? FAIL(err, ERR_USAGE, "%s: x and mean share memory", t->name)
               : OK;
}

static Status send(atomo_tensor *t, const Order *o, Error *err)
{
    Bytes sent = {0};
    TRY(check_at(t, STEP_ROUND, "atomo_step_begin", err));
    TRY(check_apart(t, o->x, err));
    TRY(library_check(t, o->x, err));
    const int round = t->exchange.call.round;
    if (t->sent[t->self][round].data)
        return FAIL(err, ERR_USAGE, "%s: the payload of this round was sent already", t->name);
    if (round && !t->sent[t->self][round - 1].data)
        return FAIL(err, ERR_USAGE, "%s: the payload of round %d was not sent", t->name, round - 1);
    TRY(exchange_send(&t->exchange, &t->worker[t->self], o->x, &sent));
    t->sent[t->self][round] = sent;
    *o->payload = sent.data;
    *o->size = sent.size;
    return OK;
}

atomo_status atomo_step_send(atomo_tensor *t, const float *x, const void **payload, size_t *size,
                             atomo_error *err)
{
    *payload = NULL;
    *size = 0;
    return library_call_tensor(send, t, &(Order){.x = x, .payload = payload, .size = size}, err);
}

/* Refuses the payload of a worker that has had its turn, or that took no part in an earlier round. */
static Status check_turn(const atomo_tensor *t, int worker, Error *err)
{
    const unsigned now = 1u << t->exchange.call.round, earlier = t->single & (now - 1);
    TRY(check_at(t, STEP_ROUND, "atomo_step_begin", err));
    if (worker < 0 || (size_t)worker >= t->workers)
        return FAIL(err, ERR_USAGE, "worker=%d: want 0 to %zu", worker, t->workers - 1);
    if (t->took[worker] & now || t->taken == t->exchange.call.workers)
        return FAIL(err, ERR_USAGE, "worker %d: %d payloads were taken in this round already", worker,
                    t->taken);
    return (t->took[worker] & earlier) == earlier
               ? OK
               : FAIL(err, ERR_USAGE, "worker %d: an earlier round took no payload of it", worker);
}

/* Moves the payload to memory that stays until the step's end, if it is read again after this call: by a merge,
 * by a later round, or by the worker's next state. */
static Status hold(atomo_tensor *t, int worker, Bytes *payload)
{
    const Exchange *x = &t->exchange;
    const Bytes own = t->sent[worker][x->call.round];
    const bool again = x->adds || x->call.round < x->rounds - 1 || t->worker[worker].state;
    if (!again || (own.data && own.data == payload->data && own.size == payload->size))
        return OK;
    uint8_t *copy = NEW(x->payloads, uint8_t, payload->size + 1);
    TRY(arena_check(copy, x->payloads, x->call.err));
    if (payload->size)
        memcpy(copy, payload->data, payload->size);
    payload->data = copy;
    return OK;
}

static Status take(atomo_tensor *t, const Order *o, Error *err)
{
    Exchange *x = &t->exchange;
    const int worker = o->worker;
    Bytes payload = o->in;
    TRY(check_turn(t, worker, err));
    TRY(library_check_bytes(t, payload, err));
    const ArenaMark mark = arena_mark(x->payloads);
    Status status = hold(t, worker, &payload);
    if (status == OK)
        status = exchange_take(x, &t->worker[worker], payload);
    if (status != OK) {
        arena_rewind(x->payloads, mark);
        return error_at(err, "%s: worker %d", t->name, worker);
    }
    t->took[worker] |= (uint8_t)(1u << x->call.round);
    t->single |= (uint8_t)(1u << x->call.round);
    t->taken++;
    if (t->worker[worker].state)
        t->sent[worker][x->call.round] = payload;
    return OK;
}

atomo_status atomo_step_take(atomo_tensor *t, int worker, const void *payload, size_t size, atomo_error *err)
{
    return library_call_tensor(take, t, &(Order){.worker = worker, .in = {payload, size}}, err);
}

static Status check_merges(const atomo_tensor *t, Error *err)
{
    TRY(check_at(t, STEP_ROUND, "atomo_step_begin", err));
    return codec_adds(t->codec->codec) ? OK
                                       : FAIL(err, ERR_USAGE, "payloads of %s do not merge", t->codec->spec);
}

static Status merge_round(atomo_tensor *t, const Order *o, Error *err)
{
    TRY(check_merges(t, err));
    const Call call = exchange_call(&t->exchange, &t->worker[t->self]);
    return library_merge(t, &call, o);
}

atomo_status atomo_step_merge(atomo_tensor *t, const void *const *in, const size_t *in_size, size_t count,
                              void *out, size_t room, size_t *size, atomo_error *err)
{
    const Order o = {.part = in, .part_size = in_size, .parts = count, .out = out, .room = room, .size = size};
    *size = 0;
    return library_call_tensor(merge_round, t, &o, err);
}

static Status take_merged(atomo_tensor *t, const Order *o, Error *err)
{
    Exchange *x = &t->exchange;
    TRY(check_merges(t, err));
    if (t->taken)
        return FAIL(err, ERR_USAGE, "%d payloads were taken in this round already", t->taken);
    TRY(library_check_bytes(t, o->in, err));
    const ArenaMark mark = arena_mark(x->payloads);
    Bytes copy = o->in;
    Status status = hold(t, (int)t->self, &copy);
    if (status == OK)
        status = exchange_take(x, &t->worker[t->self], copy);
    if (status != OK) {
        arena_rewind(x->payloads, mark);
        return error_at(err, "%s", t->name);
    }
    t->taken = x->call.workers;
    return OK;
}

atomo_status atomo_step_take_merged(atomo_tensor *t, const void *payload, size_t size, atomo_error *err)
{
    return library_call_tensor(take_merged, t, &(Order){.in = {payload, size}}, err);
}

/* Refuses a round that lacks a payload: one of the senders', or this worker's in a round after another or among
 * those that were taken. */
static Status check_complete(const atomo_tensor *t, Error *err)
{
    const int round = t->exchange.call.round;
    const Bytes *sent = t->sent[t->self];
    if (t->taken != t->exchange.call.workers)
        return FAIL(err, ERR_USAGE, "%d of %d payloads were taken in this round", t->taken,
                    t->exchange.call.workers);
    if (sent[0].data && !sent[round].data)
        return FAIL(err, ERR_USAGE, "%s: this worker has not sent its payload of round %d", t->name, round);
    if (sent[round].data && t->single >> round & 1 && !(t->took[t->self] >> round & 1))
        return FAIL(err, ERR_USAGE, "%s: the payload that this worker sent was not taken", t->name);
    return OK;
}

/* A round whose payloads do not merge cannot be mended, since any of them may be the bad one: the step is over. */
static Status end_round(atomo_tensor *t, const Order *o, Error *err)
{
    TRY(check_at(t, STEP_ROUND, "atomo_step_begin", err));
    TRY(check_complete(t, err));
    const int round = t->exchange.call.round;
    t->at = STEP_NONE;
    if (exchange_end_round(&t->exchange) != OK)
        return error_at(err, "%s", t->name);
    t->taken = 0;
    *o->more = t->exchange.call.round > round;
    t->at = *o->more ? STEP_ROUND : STEP_OVER;
    return OK;
}

atomo_status atomo_step_end_round(atomo_tensor *t, int *more, atomo_error *err)
{
    *more = 0;
    return library_call_tensor(end_round, t, &(Order){.more = more}, err);
}

/* ---- two shots ---- */

size_t atomo_shard(const atomo_codec *codec, size_t n, int workers, int shard)
{
    return workers < 1 || shard < 0 ? 0 : shots_cut(codec->codec, n, (size_t)workers, (size_t)shard);
}

static Status again(atomo_tensor *t, const Order *o, Error *err)
{
    const Codec *codec = t->codec->codec;
    const ExchangeWorker owner = {.index = t->self};
    Bytes sent;
    TRY(check_at(t, STEP_OVER, "atomo_step_end_round", err));
    if (codec_rounds(codec) > 1)
        return FAIL(err, ERR_USAGE, "%s sends %d payloads a step, so its sums are not quantised again", t->codec->spec,
                    codec_rounds(codec));
    TRY(shots_check(SHOTS_TWO, codec, t->exchange.senders, err));
    t->at = STEP_NONE; /* a mean that failed is lost */
    TRY(exchange_receive(&t->exchange));
    Exchange mean = shots_mean(&t->exchange, codec);
    TRY(exchange_send(&mean, &owner, t->exchange.y, &sent));
    t->at = STEP_AGAIN;
    *o->payload = sent.data;
    *o->size = sent.size;
    return OK;
}

atomo_status atomo_step_again(atomo_tensor *t, const void **payload, size_t *size, atomo_error *err)
{
    *payload = NULL;
    *size = 0;
    return library_call_tensor(again, t, &(Order){.payload = payload, .size = size}, err);
}

static Status hear(atomo_tensor *t, const Order *o, Error *err)
{
    if (t->at != STEP_AGAIN)
        TRY(check_at(t, STEP_ROUND, "atomo_step_begin", err));
    if (t->taken)
        return FAIL(err, ERR_USAGE, "%d payloads were taken in this round already", t->taken);
    TRY(library_check_bytes(t, o->in, err));
    Exchange mean = shots_mean(&t->exchange, t->codec->codec);
    if (exchange_decode(&mean, EXCHANGE_DECODE, &(ExchangeWorker){.index = t->self}, o->in) != OK)
        return error_at(err, "%s", t->name);
    t->at = STEP_HEARD;
    return OK;
}

atomo_status atomo_step_hear(atomo_tensor *t, const void *payload, size_t size, atomo_error *err)
{
    return library_call_tensor(hear, t, &(Order){.in = {payload, size}}, err);
}

/* ---- the end of a step ---- */

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

static Status finish_step(atomo_tensor *t, const Order *o, Error *err)
{
    const bool heard = t->at == STEP_HEARD;
    if (!heard)
        TRY(check_at(t, STEP_OVER, "atomo_step_end_round", err));
    if (t->state) { /* else x is not read */
        TRY(check_apart(t, o->x, err));
        TRY(library_check(t, o->x, err));
    }
    t->at = STEP_NONE;
    Status status = heard ? OK : exchange_receive(&t->exchange);
    if (status == OK && (status = settle(t, o->x)) != OK)
        t->lost = true;
    arena_rewind(t->exchange.payloads, (ArenaMark){0});
    return status == OK ? OK : error_at(err, "%s", t->name);
}

atomo_status atomo_step_finish(atomo_tensor *t, const float *x, atomo_error *err)
{
    return library_call_tensor(finish_step, t, &(Order){.x = x}, err);
}
