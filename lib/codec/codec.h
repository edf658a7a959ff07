/* codec.h -- a codec, which is a compressor with its parameters, for those who compress with it.
 *
 * A codec comes from a spec such as "qsgd:bits=4" (compress/spec.h). It encodes a tensor to a payload, the bytes that
 * travel, and decodes a payload to an estimate of the tensor. All that it may depend on is in a Call, so the same
 * Call gives the same bytes.
 *
 * Some codecs send in several rounds. A codec may keep a flat state for each tensor and worker. One step of all
 * workers is:
 *
 *     codec_train       one worker; the others copy its state
 *     each round:       every worker codec_encode; everyone hears all payloads, merged if the codec merges
 *     codec_decode      of the last round's payloads, or of their merge
 *     codec_settle      every worker: the state for the next step */
#ifndef ATOMO_CODEC_H
#define ATOMO_CODEC_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/rng.h"
#include "dump/tensor.h"

typedef struct Compressor Compressor; /* codec/compressor.h */
typedef struct Streams Streams;       /* codec/harness.h */

/* What a codec promises; tests hold every codec to its promises. */
enum {
    UNBIASED = 1 << 0,      /* the mean of decode(encode(x)) over random addresses is x */
    LINEAR = 1 << 1,        /* decode(merge(a, b)) = decode(a) + decode(b), to rounding */
    MERGEABLE = 1 << 2,     /* payloads merge undecoded; the estimate need not be linear */
    RANDOM = 1 << 3,        /* draws random numbers: payloads differ between repeats */
    EXACT_BYTES = 1 << 4,   /* same bytes on every machine: calls no BLAS, LAPACK or FFT */
    DECODES_STATE = 1 << 5, /* decode reads the state; a receiver has no x, so it settles with x = NULL */
    SHARED_DRAWS = 1 << 6,  /* linear in x for given draws, and all workers draw the same: averaging their
                             * estimates does not reduce the variance */
    LIBRARY_BYTES = 1 << 7, /* payloads depend on a library's version; decoded values as EXACT_BYTES says */
    GIVEN_DRAWS =
        1 << 8, /* codec_variance is conditional on rng_shared's draws, which each repeat makes anew */
};

/* A parsed spec. Only wrappers have an inner codec. */
typedef struct Codec {
    const Compressor *ops;
    const void *params;
    const struct Codec *inner;
    const struct Codec *other; /* a second codec that the compressor uses (Compressor.alone, a key of type
                                * PARAM_SPEC, Compressor.part), or NULL */
    uint64_t named;            /* bit i: the spec names params[i] */
} Codec;

enum { ROUNDS_MAX = 8 };

/* Everything that an encoder or decoder may depend on, for one tensor of one worker and step. */
typedef struct {
    const Codec *self;
    const void
        *state; /* (codec_state_size) as codec_settle left it; NULL before the first step, or without state */
    const void *plan; /* (codec_plan_size) from codec_plan; NULL: the tensor is compressed by itself.
                        * For a codec with a curve: a CurvePoint, whose level it keeps atoms at. */
    const Shape *shape;
    Rng rng;        /* address: seed, repeat, worker, step, tensor */
    Rng rng_shared; /* the same address for all workers */
    int worker, workers, threads;
    int round;          /* 0 .. codec_rounds - 1 */
    const Bytes *heard; /* (round) the payloads of earlier rounds, merged over all workers */
    Streams *streams;   /* NULL, or encode adds the entropy of its streams */
    Arena *scratch;     /* the codec_ functions below rewind it */
    Error *err;         /* the reason whenever a Status is not OK */
} Call;

unsigned codec_traits(const Codec *codec);  /* its promises */
int codec_rounds(const Codec *codec);       /* 1 or more */
bool codec_adds(const Codec *codec);        /* payloads of every round merge undecoded, the last included */
bool codec_keeps_state(const Codec *codec); /* the codec itself, or one that it wraps */
bool codec_trains(const Codec *codec);      /* codec_train has something to learn */
const char *codec_caution(const Codec *codec); /* a warning for users of this spec; NULL: none */

/* x (shape->n, finite) -> one round's payload, appended to `out`, which has room for codec_bound bytes.
 * ERR_NUMERIC: the payload or the estimate would be beyond float32. */
size_t codec_bound(const Call *c);
Status codec_encode(const Call *c, const float *x, Buf *out);

/* The last round's payload -> x (shape->n), all finite. ERR_CORRUPT: no encoder writes this payload. */
Status codec_decode(const Call *c, Bytes in, float *x);

/* One round's payloads of `count` workers -> one payload of their sum (or vote), without decoding.
 * Requires a merge hook. */
Status codec_merge(const Call *c, const Bytes *in, size_t count, Buf *out);

/* Bytes of state for this tensor and worker; all zero before the first step. */
size_t codec_state_size(const Call *c);

/* Before a step is encoded, on one worker: learns from its x what all workers must agree on, and writes that to
 * `state`, which the caller then copies to the other workers. Does nothing unless codec_trains. */
Status codec_train(const Call *c, const float *x, void *state);

/* After a step: `sent` (codec_rounds) are this worker's payloads, `agreed` (shape->n) the mean of the workers'
 * estimates. Updates `state`, which may be the memory of c->state. */
Status codec_settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state);

/* One worker by itself, which hears its own payloads only: all rounds, one after another, in `out`. */
typedef struct {
    Bytes round[ROUNDS_MAX]; /* slices of `out` */
    int rounds;
} Message;
size_t codec_message_bound(const Call *c);
Status codec_send(const Call *c, const float *x, Buf *out, Message *m);
Status codec_receive(const Call *c, const Message *m, float *x);

#endif
