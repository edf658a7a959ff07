/* crew.h -- runs one step of several workers through an exchange, and keeps the workers' payloads and the
 * merged payload of each round. */
#ifndef ATOMO_CREW_H
#define ATOMO_CREW_H

#include "exchange/exchange.h"
#include "exchange/states.h"
#include "rig/every_codec.h"

enum { WORKERS = 17, APART = 1009 };

typedef struct {
    Arena *a, *scratch;
    Error err;
    const Codec *codec;
    Shape shape;
    int workers, rounds;
    CodecStates states;
    Exchange step;
    ExchangeWorker worker[WORKERS];
    const float *x[WORKERS];
    Bytes sent[ROUNDS_MAX][WORKERS];
} Crew;

/* An array of normal numbers; worker k's gradient begins at element APART * k. */
static float *pool;

static inline void crew_open(Crew *w, const Codec *codec, Shape shape)
{
    *w = (Crew){.a = arena_open(0), .scratch = arena_open(0), .codec = codec, .shape = shape};
    w->rounds = codec_rounds(w->codec);
    w->step = (Exchange){
        .call = {.self = codec, .shape = &w->shape, .threads = 1, .scratch = w->scratch, .err = &w->err},
        .seed = 7,
        .tensor = 3,
        .keep = true,
        .y = NEW(w->a, float, shape.n + 1),
        .payloads = w->a};
    for (int k = 0; k < WORKERS; k++) {
        w->worker[k].index = (size_t)k;
        check_ok(codec_states_find(&w->states, &w->step.call, k, "w", &w->worker[k].state), &w->err);
        w->x[k] = pool + APART * k;
    }
}

static inline void crew_close(Crew *w)
{
    codec_states_forget(&w->states);
    arena_close(w->a);
    arena_close(w->scratch);
}

/* True if the payloads of this round can be merged. LINEAR and MERGEABLE codecs merge in every round. Other
 * codecs with a merge function merge in every round but the last. */
static inline bool codec_merges(const Codec *codec, int round)
{
    return codec->ops->merge &&
           (codec_traits(codec) & (LINEAR | MERGEABLE) || round < codec_rounds(codec) - 1);
}

static inline bool merges(const Crew *w, int round)
{
    return codec_merges(w->codec, round);
}

static inline Call call_of(const Crew *w, int worker, int round)
{
    Call c = exchange_call(&w->step, &w->worker[worker]);
    c.round = round;
    return c;
}

/* Returns an empty buffer for a merged payload, larger than any codec needs. */
static inline Buf room_for(Crew *w, const Bytes *in, size_t count)
{
    size_t size = 8 * w->shape.n + 4096;
    for (size_t k = 0; k < count; k++)
        size += in[k].size;
    return (Buf){NEW(w->a, uint8_t, size), 0, size};
}

static inline Bytes merged(Crew *w, int round, const Bytes *in, size_t count)
{
    const Call c = call_of(w, 0, round);
    Buf out = room_for(w, in, count);
    check_ok(codec_merge(&c, in, count, &out), &w->err);
    return buf_bytes(&out);
}

/* Runs all rounds of one step: every worker encodes, and the round's payloads are merged if the codec allows
 * it. */
static inline void crew_run(Crew *w, int workers)
{
    Exchange *e = &w->step;
    w->workers = e->call.workers = workers;
    check_ok(exchange_train(e, &w->worker[0], w->x[0]), &w->err);
    for (int k = 1; k < WORKERS; k++)
        exchange_share_training(e, &w->worker[0], &w->worker[k]);
    check_ok(exchange_begin(e), &w->err);
    for (int r = 0; r < w->rounds; r++) {
        for (int k = 0; k < workers; k++) {
            check_ok(exchange_send(e, &w->worker[k], w->x[k], &w->sent[r][k]), &w->err);
            check_ok(exchange_take(e, &w->worker[k], w->sent[r][k]), &w->err);
        }
        check_ok(exchange_end_round(e), &w->err);
    }
}

static inline float *decoded(Crew *w, Bytes payload)
{
    const Call c = call_of(w, 0, w->rounds - 1);
    float *y = NEW(w->a, float, w->shape.n + 1);
    check_ok(codec_decode(&c, payload, y), &w->err);
    return y;
}

static inline bool is_codec(const Crew *w, const char *name)
{
    const Codec *c = w->codec->ops->wraps && w->codec->inner ? w->codec->inner : w->codec;
    return !strcmp(c->ops->name, name);
}

#endif
