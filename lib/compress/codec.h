/* codec.h -- a codec: a compressor with its parameters. For callers that compress with a codec.
 *
 * A codec comes from a spec such as "qsgd:bits=4" (compress/spec.h). It encodes a tensor to a payload (the
 * bytes that a worker sends), and decodes a payload to an estimate of the tensor. The payload and the estimate
 * depend on nothing but the Call, so equal Calls give equal bytes.
 *
 * Some codecs send in several rounds. A codec may keep a flat state for each tensor and worker. One step of all
 * workers is:
 *
 *     codec_train       on one worker; the other workers copy the innermost codec's part of the state
 *     in each round:    codec_encode on every worker; all workers get all payloads, merged if the codec merges
 *     codec_decode      decodes the last round's payloads, or their merge
 *     codec_settle      on every worker: computes the state for the next step */
#ifndef ATOMO_CODEC_H
#define ATOMO_CODEC_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/rng.h"
#include "base/shape.h"

typedef struct Compressor Compressor; /* compress/compressor.h */
typedef struct Streams Streams;       /* compress/harness.h */

/* Promises of a codec, as bits. Tests check most of them for every codec. */
enum {
    UNBIASED = 1 << 0, /* the mean of decode(encode(x)) over the random draws (Call.rng) is x */
    LINEAR = 1 << 1,   /* decode(merge(a, b)) = decode(a) + decode(b), up to rounding */
    /* payloads can be added without decoding them; the merged payload need not decode to the sum of the
     * estimates */
    MERGEABLE = 1 << 2,
    RANDOM = 1 << 3, /* draws random numbers: payloads differ between repeats */
    /* encode writes the same bytes on every machine, as it calls no BLAS, LAPACK or FFT */
    EXACT_BYTES = 1 << 4,
    /* decode reads the state. So a receiver calls codec_settle too. The receiver has no x, and passes NULL. */
    DECODES_STATE = 1 << 5,
    /* all random numbers are those that all workers share (Call.rng_shared): workers with equal gradients send equal
     * payloads, and averaging their estimates does not reduce the variance. If codec_variance is known, the estimate
     * is linear in x for given draws. */
    SHARED_DRAWS = 1 << 6,
    /* payloads depend on the version of a library (zstd, blosc); EXACT_BYTES then promises equal decoded values
     * only */
    LIBRARY_BYTES = 1 << 7,
    /* codec_variance is conditional on the draws of rng_shared, which differ between repeats */
    GIVEN_DRAWS = 1 << 8,
    /* all workers share some of the random numbers, and for given shared numbers the estimate is biased. So
     * averaging over workers reduces only a part of the variance */
    PART_SHARED = 1 << 9,
    /* sends some of the elements, or some coefficients of a transform, each at about its own value. The
     * elements or coefficients that are not sent decode to 0. So the mean of an element or coefficient over
     * only the workers that sent it is a useful estimate (Call.terms). */
    LEAVES_OUT = 1 << 10,
    /* the codec's paper takes this mean; only with LEAVES_OUT */
    SENDERS_MEAN = 1 << 11,
    /* the payloads of a vector have the same size in every draw */
    FIXED_SIZE = 1 << 12,
    /* compresses the tensor as a matrix, so that it loses much if the tensor is cut into pieces (exchange/shots.h) */
    WHOLE = 1 << 13,
    /* some rows of a tensor do not tell the result on all of them: it goes by extremes, by a size that does not grow with the tensor, or
     * by a matrix of all rows (compare --sample) */
    NEEDS_ALL = 1 << 14,
    BARE = 1 << 15, /* payloads have no kind byte: those of `none` with code=fixed */
};

/* A parsed spec. `inner`: the codec inside a wrapper; NULL for other codecs. */
typedef struct Codec {
    const Compressor *ops;
    const void *params;
    const struct Codec *inner;
    /* a second codec that the compressor uses, or NULL: from Compressor.alone, Compressor.part, or a key of
     * type PARAM_SPEC */
    const struct Codec *other;
    uint64_t named; /* bit i is set if the spec names the key ops->params[i] */
    /* the whole spec as it was typed; after rate_set, with the keys that were named. NULL in a codec inside a wrapper */
    const char *typed;
    const char *alias; /* the name of the literature in `typed` (Literature.title); NULL: none */
} Codec;

enum { ROUNDS_MAX = 8 };

/* Room for what a codec would otherwise compute again in each call for one gradient: in rounds and in codec_settle the
 * gradient plus the residual, in repeats the singular vectors. The owner of a Kept clears `found` before each step. A Kept is of
 * one codec and one x; a wrapper passes it on only with the same x. */
typedef struct {
    Arena *arena;      /* its memory, which outlives the step */
    const void *found; /* NULL: not computed yet */
    const float *x;    /* the gradient from which it was computed */
} Kept;

/* All inputs of an encoder or decoder, for one tensor of one worker and step. */
typedef struct {
    const Codec *self;
    /* (codec_state_size bytes) the state that codec_train or codec_settle wrote; all zero before these calls.
     * NULL: the codec keeps no state, or works as in its first step */
    const void *state;
    /* (codec_plan_size bytes) this tensor's record from codec_plan; NULL: the tensor is compressed without
     * regard to other tensors. For a codec with a curve hook the record is a CurvePoint (harness.h). */
    const void *plan;
    const Shape *shape;
    Rng rng; /* source of the random numbers: depends on seed, repeat, worker, step, tensor */
    /* source of random numbers that are the same on all workers: depends on seed, repeat, step, tensor */
    Rng rng_shared;
    int worker, workers, threads;
    size_t leader; /* the worker that leads in this step, of those that send (exchange_leader) */
    int round; /* number of the current round, 0 .. codec_rounds - 1 */
    /* the payloads of rounds 0 .. round - 1: each is merged over all workers, or the worker's own if the
     * worker trains alone (Message) */
    const Bytes *heard;
    /* true: codec_decode gives what the payload holds, elements or coefficients, before any transform back
     * (codec_from_terms); only with LEAVES_OUT */
    bool terms;
    Streams *streams; /* encode adds the entropy of its streams to these sums; NULL: no sums wanted */
    Kept *kept;       /* NULL: nothing is kept between calls */
    Arena *scratch;   /* for temporary memory; the codec_ functions below rewind it */
    Error *err;       /* set whenever a function returns another Status than OK */
} Call;

unsigned codec_traits(const Codec *codec); /* the codec's promises, as bits */
int codec_rounds(const Codec *codec);      /* number of rounds, 1 or more */
/* True if workers' payloads can be merged without decoding in every round of this codec */
bool codec_adds(const Codec *codec);
/* Returns "as sums" if codec_adds is true, else "to each worker": the field `travels` of results */
const char *codec_travels(const Codec *codec);
bool codec_keeps_state(const Codec *codec); /* True if the codec or a codec inside it keeps a state */
/* True if the codec or a codec inside it has an empty state on its first step */
bool codec_starts_cold(const Codec *codec);
bool codec_trains(const Codec *codec);         /* True if codec_train does something for this codec */
bool codec_shares_state(const Codec *codec);   /* True if all workers have the same state, as powersgd's */
const char *codec_caution(const Codec *codec); /* a warning for users of this spec; NULL: none */

/* Returns an upper bound on the bytes that codec_encode appends. */
size_t codec_bound(const Call *c);
/* Encodes for one round the shape->n finite numbers x. Appends a payload to `out`, which has room for
 * codec_bound bytes. Returns ERR_NUMERIC if a number in the payload or the estimate would be beyond float32's
 * range. */
Status codec_encode(const Call *c, const float *x, Buf *out);

/* Decodes the last round's payload into shape->n finite numbers x. Returns ERR_CORRUPT if no encoder writes
 * such a payload. */
Status codec_decode(const Call *c, Bytes in, float *x);

/* Turns the result of codec_decode with `c->terms` (coefficients or elements) into elements (shape->n), in
 * place. ERR_NUMERIC: an element is beyond float32. */
Status codec_from_terms(const Call *c, float *x);

/* Merges one round's payloads of `count` workers into one payload, without decoding: the payload of their
 * sum, of their majority vote, or of their largest scales. Requires a merge hook. */
Status codec_merge(const Call *c, const Bytes *in, size_t count, Buf *out);

/* Returns the bytes of state for this tensor and worker. The caller sets a new state to zeros. */
size_t codec_state_size(const Call *c);

/* Called before a step, for one worker only. Learns from this worker's x the parameters that all workers must
 * share. Writes them to the innermost codec's part of `state`, which is at the end of `state`; the caller
 * copies this part to the other workers. Does nothing if codec_trains is false. */
Status codec_train(const Call *c, const float *x, void *state);

/* Called after a step: changes `state` into the state for the next step. On entry, `state` is the memory of
 * `c->state`, or zeros if `c->state` is NULL. `sent` has this worker's payload of each round. `agreed` is the
 * mean of all workers' estimates (shape->n numbers). */
Status codec_settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state);

/* The payloads of all rounds of a worker that trains alone: it receives no other worker's payloads. */
typedef struct {
    Bytes round[ROUNDS_MAX]; /* the payload of each round, in the buffer `out` of codec_send */
    int rounds;
} Message;
size_t codec_message_bound(const Call *c);
Status codec_send(const Call *c, const float *x, Buf *out, Message *m);
Status codec_receive(const Call *c, const Message *m, float *x);

#endif
