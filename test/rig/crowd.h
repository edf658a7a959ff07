/* crowd.h -- runs one step of several workers with a codec of two rounds. Keeps each worker's payloads, and
 * the payloads merged over the workers. */
#ifndef ATOMO_CROWD_H
#define ATOMO_CROWD_H

#include "exchange/exchange.h"
#include "rig/try.h"

enum { CROWD_MOST = 9 };

typedef struct {
    int workers;
    Try *t[CROWD_MOST]; /* for each worker: its vector x, and the estimate y of its own payload */
    Exchange step;
    Call call[CROWD_MOST]; /* for each worker: the arguments for decoding and merging payloads of the last
                            * round */
    Bytes first[CROWD_MOST], last[CROWD_MOST];
    Bytes heard, merged; /* the merged payloads: `heard` of the first round, `merged` of the last round */
    float *sum;          /* decoded from `merged` */
} Crowd;

static inline Bytes crowd_merge(const Call *c, Arena *a, const Bytes *in, size_t count)
{
    Buf out = {NEW(a, uint8_t, 8 * c->shape->n + 4096), 0, 8 * c->shape->n + 4096};
    check_ok(codec_merge(c, in, count, &out), c->err);
    return buf_bytes(&out);
}

/* Returns a crowd of workers; the caller must fill the workers' vectors. */
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

/* Runs both rounds, then decodes each worker's payload and the merged payload separately. */
static inline void crowd_run(Crowd *k)
{
    Try *own = k->t[0];
    Exchange *e = &k->step;
    const size_t n = own->shape.n;
    *e = (Exchange){.call = own->call,
                    .seed = 1,
                    .keep = true,
                    .y = NEW(own->arena, float, n + 1),
                    .payloads = own->arena};
    check_ok(exchange_begin(e), &own->err);
    for (int round = 0; round < 2; round++) {
        Bytes *sent = round ? k->last : k->first;
        for (size_t w = 0; w < (size_t)k->workers; w++) {
            const ExchangeWorker worker = {.index = w};
            check_ok(exchange_send(e, &worker, k->t[w]->x, &sent[w]), &own->err);
            check_ok(exchange_take(e, &worker, sent[w]), &own->err);
        }
        check_ok(exchange_end_round(e), &own->err);
    }
    k->heard = e->heard[0];
    for (size_t w = 0; w < (size_t)k->workers; w++) {
        k->call[w] = exchange_call(e, &(ExchangeWorker){.index = w});
        k->call[w].heard = &k->heard;
        check_ok(codec_decode(&k->call[w], k->last[w], k->t[w]->y), &own->err);
    }
    k->merged = e->heard[1];
    k->sum = NEW(own->arena, float, n + 1);
    check_ok(codec_decode(&k->call[0], k->merged, k->sum), &own->err);
}

/* Checks that merging the payloads in another order, or merging two halves first, gives the same bytes. */
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

/* Checks that the decoder refuses wrong lengths of the merged payload. These are prefixes of the payload
 * (all prefixes if it is short, else some), and the payload with one more byte. */
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
