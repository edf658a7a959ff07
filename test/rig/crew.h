/* crew.h -- a step of many workers: each sends its payloads, and all hear what they merge to. */
#ifndef ATOMO_CREW_H
#define ATOMO_CREW_H

#include "rig/every_codec.h"

enum { WORKERS = 17, APART = 1009 };

typedef struct {
    Arena *a, *scratch;
    Error err;
    const Codec *codec;
    Shape shape;
    int workers, rounds;
    Call call[WORKERS];
    void *state[WORKERS];
    const float *x[WORKERS];
    Bytes sent[ROUNDS_MAX][WORKERS], heard[ROUNDS_MAX];
} Crew;

/* Normal numbers; every worker's gradient begins at another of them. */
static float *pool;

static inline void crew_open(Crew *w, const Codec *codec, Shape shape)
{
    *w = (Crew){.a = arena_open(0), .scratch = arena_open(0), .codec = codec, .shape = shape};
    w->rounds = codec_rounds(w->codec);
    for (int k = 0; k < WORKERS; k++) {
        w->call[k] = (Call){.self = w->codec,
                            .shape = &w->shape,
                            .rng = rng_open(7, 0, k, 0, 3),
                            .rng_shared = rng_open(7, 0, RNG_EVERYONE, 0, 3),
                            .worker = k,
                            .threads = 1,
                            .scratch = w->scratch,
                            .err = &w->err};
        const size_t state = codec_state_size(&w->call[k]);
        w->call[k].state = w->state[k] = state ? arena_zeroed(w->a, 1, state) : NULL;
        w->x[k] = pool + APART * k;
    }
}

static inline void crew_close(Crew *w)
{
    arena_close(w->a);
    arena_close(w->scratch);
}

/* Whether payloads of this round can be merged: all but the last where estimates themselves do not merge. */
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
    Call c = w->call[worker];
    c.workers = w->workers;
    c.round = round;
    c.heard = w->heard;
    return c;
}

/* Room for more than any codec should take. */
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

/* The first worker learns what is learnt for all. */
static inline void crew_train(Crew *w)
{
    if (!w->state[0])
        return;
    check_ok(codec_train(&w->call[0], w->x[0], w->state[0]), &w->err);
    for (int k = 1; k < WORKERS; k++)
        memcpy(w->state[k], w->state[0], codec_state_size(&w->call[0]));
}

/* Everyone sends, and hears the merged payload of each round; the last one may not have any. */
static inline void crew_run(Crew *w, int workers)
{
    w->workers = workers;
    crew_train(w);
    for (int r = 0; r < w->rounds; r++) {
        for (int k = 0; k < workers; k++) {
            const Call c = call_of(w, k, r);
            Buf out = {.cap = codec_bound(&c)};
            out.data = NEW(w->a, uint8_t, out.cap + 1);
            check_ok(codec_encode(&c, w->x[k], &out), &w->err);
            w->sent[r][k] = buf_bytes(&out);
        }
        w->heard[r] = merges(w, r) ? merged(w, r, w->sent[r], (size_t)workers) : (Bytes){0};
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
