/* compressor.h -- what the author of a codec writes: a table of promises and functions
 * (docs/adding-a-compressor.md).
 *
 * encode, decode and merge are pure: they read the Call and write their output, nothing else. Only settle and train
 * write state. A payload is all that a receiver needs besides spec, shape and random address. It begins with a kind
 * byte (except that of `none`). */
#ifndef ATOMO_COMPRESSOR_H
#define ATOMO_COMPRESSOR_H

#include "base/param.h"
#include "codec/harness.h"
#include "num/finite.h"

enum { PART_SPEC = 64 }; /* room for a spec */

/* Members that are left out are zero, and zero means: not this codec. */
struct Compressor {
    const char *name, *brief, *formula, *paper; /* formula: lines of plain text for `list NAME` */
    const Param *params;                        /* ends in {0}; NULL: none */
    size_t params_size;
    const void *family; /* a table for hooks that several codecs share, such as those of buckets.h */

    /* Every codec */
    unsigned promises;              /* UNBIASED, RANDOM, ... whatever the parameters */
    size_t (*bound)(const Call *c); /* most bytes that encode writes */
    Status (*encode)(const Call *c, const float *x, Buf *out); /* x (shape->n) -> payload */
    Status (*decode)(const Call *c, Bytes in, float *x); /* payload of kind 1 or 2 -> x; refuses all others */

    /* Parameters */
    unsigned (*traits)(const Codec *codec);          /* further promises, which depend on parameters */
    Status (*check)(const Codec *codec, Error *err); /* rules between parameters */
    const char *(*caution)(const Codec *codec);      /* a warning for users of this spec, or NULL */
    /* Writes the spec of a codec for parts of a tensor, which becomes Codec.other; false: none. */
    bool (*part)(const Codec *codec, char spec[PART_SPEC]);

    /* Several workers and steps; see codec.h */
    Status (*merge)(const Call *c, const Bytes *in, size_t n, Buf *out); /* one round's payloads */
    int (*rounds)(const Codec *codec);   /* NULL: 1, or a wrapper's inner codec's */
    size_t (*state_size)(const Call *c); /* bytes of flat state */
    Status (*train)(const Call *c, const float *x, void *state);
    Status (*settle)(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state);

    /* Error and budgets; see harness.h */
    double (*variance)(const Call *c, const float *x); /* NaN: unknown, or UNBIASED does not hold for x */
    ErrorLaw (*moments)(const Call *c, const float *x, AtomMoments *m); /* NULL: ELEMENTWISE */
    double (*residual)(const Call *c);
    Status (*curve)(const Call *c, const float *x, CurvePoint *point, size_t *count);
    size_t plan_size; /* bytes of plan for each tensor */
    Status (*plan)(const Step *step, void *plan);

    /* Wrappers; see wrapper.h */
    bool wraps;           /* takes an inner codec */
    bool marks;           /* its payloads begin with a byte of its own even if the inner codec is `none` */
    const char *alone[2]; /* specs of the inner codec and of the other one if the user's spec wraps nothing */

    bool bare; /* payloads have no kind byte: `none` alone */
};

/* Payload kinds. RAW: the floats themselves, either x (spec, shape and x decide so before any draw) or a drawn
 * estimate whose payload would be longer. */
enum { PAYLOAD_RAW, PAYLOAD_METHOD, PAYLOAD_MERGED };

/* Writes x as raw floats: a kind byte and 4 n bytes. For codecs whose own form would not be shorter. */
Status raw_put(const Call *c, const float *x, Buf *out);
static inline size_t raw_size(const Call *c)
{
    return 4 * c->shape->n + 1;
}

/* Fails with ERR_CORRUPT and "NAME payload: ...". */
Status payload_bad(const Call *c, const char *format, ...) PRINTF(2);

/* Fails unless `kind` is `want`; the second accepts PAYLOAD_MERGED as well. */
Status payload_kind(const Call *c, unsigned kind, unsigned want);
Status payload_kind_or_merged(const Call *c, unsigned kind, unsigned want);

/* *total += more, the workers of one more merged payload; fails on overflow. */
Status payload_add_workers(const Call *c, uint64_t more, uint64_t *total);

/* Fails unless the Call's round is the last: only its payloads are decoded. */
static inline Status payload_last_round(const Call *c)
{
    return c->round == codec_rounds(c->self) - 1 ? OK : payload_bad(c, "round %d is not the last", c->round);
}

/* What encode reports of its streams; s may be NULL. */
void streams_symbols(Streams *s, const uint64_t *count, size_t symbols); /* n times their order-0 entropy */
void streams_floats(Streams *s, size_t count);                           /* 32 bits each */
void streams_bits(Streams *s, double bits);                              /* incompressible: signs, counts */
void streams_subset(Streams *s, uint64_t n, uint64_t k);                 /* k places of n: log2 C(n, k) */

#endif
