/* crowd.h -- several workers and one codec of two rounds whose payloads add up: what each sends, what they hear, and
 * the sum, undecoded. */
#ifndef ATOMO_CROWD_H
#define ATOMO_CROWD_H

#include "rig/try.h"

enum { CROWD_MOST = 9 };

typedef struct {
    int workers;
    Try *t[CROWD_MOST]; /* their vectors, and what each one's own payload decodes to */
    Call call[CROWD_MOST];
    Bytes first[CROWD_MOST], last[CROWD_MOST];
    Bytes heard, merged;
    float *sum; /* what the merged payload decodes to */
} Crowd;

static inline Bytes crowd_merge(const Call *c, Arena *a, const Bytes *in, size_t count)
{
    Buf out = {NEW(a, uint8_t, 8 * c->shape->n + 4096), 0, 8 * c->shape->n + 4096};
    check_ok(codec_merge(c, in, count, &out), c->err);
    return buf_bytes(&out);
}

/* Workers that have vectors of their own, to be filled in. */
static inline Crowd crowd_open(const char *spec, size_t n, int workers)
{
    Crowd k = {.workers = workers};
    for (int w = 0; w < workers; w++) {
        k.t[w] = try_open(spec, n);
        k.t[w]->call.worker = w;
        k.t[w]->call.workers = workers;
        k.t[w]->call.rng = rng_open(1, 0, w, 0, 0);
        k.t[w]->call.rng_shared = rng_open(1, 0, RNG_EVERYONE, 0, 0);
    }
    return k;
}

static inline void crowd_close(Crowd *k)
{
    for (int w = 0; w < k->workers; w++)
        try_close(k->t[w]);
}

static inline Bytes crowd_encode(Try *t, const Call *c)
{
    const size_t start = t->out.size;
    check_ok(codec_encode(c, t->x, &t->out), &t->err);
    return (Bytes){t->out.data + start, t->out.size - start};
}

/* Both rounds, and what is decoded: each by itself, and the sum. */
static inline void crowd_run(Crowd *k)
{
    Try *own = k->t[0];
    for (int w = 0; w < k->workers; w++)
        k->first[w] = crowd_encode(k->t[w], &k->t[w]->call);
    k->heard = crowd_merge(&own->call, own->arena, k->first, (size_t)k->workers);
    for (int w = 0; w < k->workers; w++) {
        Call *c = &k->call[w];
        *c = k->t[w]->call;
        c->round = 1;
        c->heard = &k->heard;
        k->last[w] = crowd_encode(k->t[w], c);
        check_ok(codec_decode(c, k->last[w], k->t[w]->y), c->err);
    }
    k->merged = crowd_merge(&k->call[0], own->arena, k->last, (size_t)k->workers);
    k->sum = NEW(own->arena, float, own->shape.n + 1);
    check_ok(codec_decode(&k->call[0], k->merged, k->sum), &own->err);
}

/* Any order and any halves give the same bytes. */
static inline void crowd_merges_in_any_order(Crowd *k)
{
    Arena *a = k->t[0]->arena;
    const Call *c = &k->call[0];
    Bytes back[CROWD_MOST];
    for (int w = 0; w < k->workers; w++)
        back[k->workers - 1 - w] = k->last[w];
    const size_t half = (size_t)k->workers / 2, rest = (size_t)k->workers - half;
    const Bytes halves[] = {crowd_merge(c, a, back, half ? half : 1), crowd_merge(c, a, back + half, rest)};
    const Bytes again = half ? crowd_merge(c, a, halves, 2) : halves[1];
    assert_int_equal(again.size, k->merged.size);
    assert_memory_equal(again.data, k->merged.data, again.size);
}

/* Every prefix of the merged payload, some of them where it is long, and a byte more, are refused. */
static inline void crowd_refuses_other_lengths(Crowd *k)
{
    Try *t = k->t[0];
    uint8_t *copy = NEW(t->arena, uint8_t, k->merged.size + 1);
    memcpy(copy, k->merged.data, k->merged.size);
    copy[k->merged.size] = 0;
    for (size_t size = 0; size < k->merged.size; size += k->merged.size / 300 + 1)
        check(codec_decode(&k->call[0], (Bytes){copy, size}, t->y) == ERR_CORRUPT);
    check(codec_decode(&k->call[0], (Bytes){copy, k->merged.size + 1}, t->y) == ERR_CORRUPT);
}

#endif
