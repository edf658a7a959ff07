/* try.h -- tests a codec on one vector: encodes and decodes it, in any number of threads. */
#ifndef ATOMO_TRY_H
#define ATOMO_TRY_H

#include "rig/check.h"

#include "compress/spec.h"
#include "math/blockwise.h"

typedef struct {
    Arena *arena, *scratch;
    const Codec *codec;
    Shape shape;
    Call call;
    Error err;
    Buf out;
    Message sent;
    float *x, *y;
} Try;

/* Opens a codec and a vector of n elements, all zero. */
static inline Try *try_open(const char *spec, size_t n)
{
    Arena *arena = arena_open(0);
    Try *t = NEW_ZERO(arena, Try, 1);
    t->arena = arena;
    t->scratch = arena_open(0);
    check_ok(codec_open(&t->codec, spec, arena, &t->err), &t->err);
    t->shape = shape_vector(n);
    t->call = (Call){.self = t->codec,
                     .shape = &t->shape,
                     .rng = rng_open(1, 0, 0, 0, 0),
                     .workers = 1,
                     .threads = 1,
                     .scratch = t->scratch,
                     .err = &t->err};
    t->out.cap = codec_message_bound(&t->call);
    t->out.data = NEW(arena, uint8_t, t->out.cap);
    t->x = NEW_ZERO(arena, float, n + 1);
    t->y = NEW_ZERO(arena, float, n + 1);
    return t;
}

static inline void try_close(Try *t)
{
    arena_close(t->scratch);
    arena_close(t->arena);
}

static inline Status try_send(Try *t)
{
    t->out.size = 0;
    return codec_send(&t->call, t->x, &t->out, &t->sent);
}

/* Encodes and decodes the vector. Afterwards, t->sent.round[rounds - 1] is the payload of the last round. */
static inline void try_both(Try *t)
{
    check_ok(try_send(t), &t->err);
    check_ok(codec_receive(&t->call, &t->sent, t->y), &t->err);
}

static inline Status try_payload(Try *t, Bytes payload)
{
    Message m = t->sent;
    m.round[m.rounds - 1] = payload;
    return codec_receive(&t->call, &m, t->y);
}

static inline void try_normal(Try *t, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 7);
    rng_normals(&rng, USE_TEST, 0, t->shape.n, 1, t->x);
}

static inline void try_laplace(Try *t, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 8);
    RngKey key = {0};
    for (size_t i = 0; i < t->shape.n; i++) {
        if (i % BLOCK == 0)
            key = rng_key(&rng, USE_TEST, i / BLOCK);
        const double u = 0x1p-31 * (rng_word(&key, (uint32_t)(i % BLOCK)) + 0.5) - 1;
        t->x[i] = (float)(u < 0 ? log1p(u) : -log1p(-u));
    }
}

static inline void try_repeat(Try *t, uint64_t repeat)
{
    t->call.rng = rng_open(1, repeat, 0, 0, 0);
}

/* Checks that 1, 2 and 8 threads give the same payload and the same estimate. */
static inline void try_any_threads(Try *t)
{
    t->call.threads = 1;
    try_both(t);
    const size_t size = t->out.size, bytes = t->shape.n * sizeof *t->y;
    uint8_t *first = NEW(t->scratch, uint8_t, size);
    float *first_y = NEW(t->scratch, float, t->shape.n);
    memcpy(first, t->out.data, size);
    memcpy(first_y, t->y, bytes);
    for (int threads = 2; threads <= 8; threads += 6) {
        t->call.threads = threads;
        memset(t->y, 0xff, bytes);
        try_both(t);
        assert_int_equal(t->out.size, size);
        assert_memory_equal(t->out.data, first, size);
        assert_memory_equal(t->y, first_y, bytes);
    }
    t->call.threads = 1;
}

#endif
