/* codec_rig.h -- a codec and a tensor for tests, with the Call (the arguments of encode and decode) for the
 * tensor. */
#ifndef ATOMO_CODEC_RIG_H
#define ATOMO_CODEC_RIG_H

#include "rig/check.h"
#include "compress/spec.h"

typedef struct {
    Arena *forever, *scratch;
    Error err;
    const Codec *codec;
    Shape shape;
    Call call;
    Buf payload;
    Message message;
    float *decoded;
    void *state;
    uint64_t seed;
} Rig;

enum { RIG_SEED = 7 };

static inline Rng rig_rng(uint64_t repeat)
{
    return rng_open(RIG_SEED, repeat, 0, 0, rng_hash("rig"));
}

/* Selects the random numbers of this repeat: the worker's own random numbers, and those that all workers
 * share. */
static inline void rig_address(Rig *rig, uint64_t repeat, int worker)
{
    rig->call.rng = rng_open(rig->seed, repeat, worker, 0, rng_hash("rig"));
    rig->call.rng_shared = rng_open(rig->seed, repeat, RNG_EVERYONE, 0, rng_hash("rig"));
    rig->call.worker = worker;
}

static inline Status rig_try_open(Rig *rig, const char *spec, Shape shape)
{
    *rig = (Rig){.forever = arena_open(0), .scratch = arena_open(0), .shape = shape, .seed = RIG_SEED};
    TRY(codec_open(&rig->codec, spec, rig->forever, &rig->err));
    rig->call = (Call){.self = rig->codec, .workers = 1, .threads = 1, .scratch = rig->scratch};
    rig_address(rig, 0, 0);
    return OK;
}

/* Opens a codec for a tensor of this shape. The rig must not be moved afterwards, as its Call has pointers into
 * the rig. */
static inline void rig_open(Rig *rig, const char *spec, Shape shape)
{
    check_ok(rig_try_open(rig, spec, shape), &rig->err);
    rig->call.shape = &rig->shape;
    rig->call.err = &rig->err;
    rig->payload.cap = codec_message_bound(&rig->call);
    rig->payload.data = NEW(rig->forever, uint8_t, rig->payload.cap + 1);
    rig->decoded = NEW(rig->forever, float, shape.n + 1);
    const size_t state = codec_state_size(&rig->call);
    rig->state = state ? NEW_ZERO(rig->forever, uint8_t, state) : NULL;
    rig->call.state = rig->state;
}

static inline void rig_close(Rig *rig)
{
    arena_close(rig->forever);
    arena_close(rig->scratch);
}

static inline Status rig_encode_as(Rig *rig, const float *x, uint64_t repeat, int worker)
{
    rig_address(rig, repeat, worker);
    rig->payload.size = 0;
    return codec_send(&rig->call, x, &rig->payload, &rig->message);
}

static inline Status rig_encode(Rig *rig, const float *x, uint64_t repeat)
{
    return rig_encode_as(rig, x, repeat, 0);
}

static inline Status rig_decode(Rig *rig)
{
    return codec_receive(&rig->call, &rig->message, rig->decoded);
}

/* Decodes the last encoded message, with its last round's payload replaced by `data`. */
static inline Status rig_decode_bytes(Rig *rig, const uint8_t *data, size_t size, float *x)
{
    Message m = rig->message;
    m.round[m.rounds - 1] = (Bytes){data, size};
    return codec_receive(&rig->call, &m, x);
}

#endif
