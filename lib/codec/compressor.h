/* compressor.h -- what a gradient compressor is: a table of functions and promises
 * (docs/adding-a-compressor.md).
 *
 * encode, decode and merge are pure: they read the Call and write their output, nothing else, so a timing
 * loop may run them a million times. Only settle and train write state. A payload begins with a kind byte (`none`'s
 * excepted) and is all that a receiver needs beside what both sides know: spec, shape and random address. */
#ifndef ATOMO_COMPRESSOR_H
#define ATOMO_COMPRESSOR_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/param.h"
#include "base/rng.h"
#include "dump/tensor.h"

/* Promises; the property tests hold every codec to its own. UNBIASED is tested by drawing, so only where RANDOM
 * stands beside it. */
enum {
    UNBIASED = 1 << 0,    /* over seeds, the mean of decode(encode(x)) is x */
    LINEAR = 1 << 1,      /* decode(merge(a, b)) == decode(a) + decode(b), to rounding */
    MERGEABLE = 1 << 2,   /* payloads merge undecoded; the estimate need not be linear */
    RANDOM = 1 << 3,      /* draws random numbers: repeats differ */
    EXACT_BYTES = 1 << 4, /* same bytes on every machine: calls no BLAS, LAPACK or FFT */
    DECODES_STATE =
        1 << 5, /* decode reads the state; settle then does with x = NULL, which no receiver has */
    SHARED_DRAWS =
        1 << 6, /* linear in x for the random numbers drawn, and all workers draw the same: the mean of
                            * their estimates is one estimate of the mean, and errs no less for their number */
    LIBRARY_BYTES =
        1 << 7, /* payloads differ with a library's version, what they decode to as EXACT_BYTES says */
    GIVEN_DRAWS = 1 << 8, /* the closed form is that given what rng_shared draws, another in each repeat */
};

typedef struct Compressor Compressor;

/* A parsed spec. `inner` is what a wrapper wraps, NULL otherwise: the only composition there is. A wrapper
 * that stands alone has two codecs of its own choice, and its payloads say which of them made them. */
typedef struct Codec {
    const Compressor *ops;
    const void *params;
    const struct Codec *inner;
    const struct Codec
        *other;     /* the second of these, or the one that a key of the wrapper names; else NULL */
    uint64_t named; /* bit i: the spec names params[i], be it at its default */
} Codec;

/* What encode tells about the streams it chose to send, for entropy_bits, coding_efficiency and raw_fallbacks. */
typedef struct {
    double entropy_bits;
    bool reported;
    bool raw;
} Streams;

/* Every function takes NULL for "nobody asked". */
void streams_symbols(Streams *s, const uint64_t *count, size_t symbols); /* n times the order-0 entropy */
void streams_floats(Streams *s, size_t count);                           /* 32 bits each */
void streams_bits(Streams *s, double bits);                              /* incompressible: signs, counts */
void streams_subset(Streams *s, uint64_t n, uint64_t k);                 /* which k of n: log2 C(n, k) */

enum { ROUNDS_MAX = 8 };

/* All that a compressor may depend on. */
typedef struct {
    const Codec *self;
    const void *state; /* as settle left it; NULL when the codec keeps none */
    const void *plan;  /* what the codec's plan hook left for this tensor; NULL: this tensor is all there is.
                        * A codec with a curve gets a CurvePoint, and keeps atoms at its level. */
    const Shape *shape;
    Rng rng;        /* addressed by (seed, repeat, worker, step, tensor) */
    Rng rng_shared; /* the same with worker = everyone */
    int worker, workers, threads;
    int round;          /* which exchange this is, 0 .. rounds - 1 */
    const Bytes *heard; /* what everyone heard in the rounds before this one */
    Streams *streams;   /* NULL, or where encode reports */
    Arena *scratch;     /* the caller rewinds it */
    Error *err;         /* says why whenever a Status is not OK */
} Call;

/* Sums over independent parts of an estimate, each with variance v and size lambda: they give the degrees of
 * freedom of its error, (sum v)^2 / sum v^2, and the variance of its gain, sum v lambda^2 / |g|^4. */
typedef struct {
    double squares, weighted; /* sum v^2, sum v lambda^2 */
} AtomMoments;

/* The tensors of one step and worker, for codecs that weigh them against each other. Models are large, so
 * their values come one tensor at a time. */
typedef struct {
    size_t count;     /* 1 or more */
    const Call *call; /* (count) as encode will get them, but for `plan` */
    /* The values, good until the next load; NULL when err says why not. */
    const float *(*load)(void *data, size_t j, Error *err);
    void *data;
} Step;

/* What a draw at a water level costs and leaves, on average: atom a is kept with p = min(1, |a| / level).
 * Level 0 is the vector itself, in the shortest form that the codec has for it. */
typedef struct {
    double level;
    double bits;     /* of the payload, kind byte included */
    double variance; /* E |decode(encode(x)) - x|^2 */
} CurvePoint;

enum { CURVE_MOST = 4200 }; /* points of a curve at most: all of float32 at 16 to the octave, and a few */

/* What is independent in the error of one draw: each element, each of other atoms, or nothing (one offset
 * draws all). The bias z of a comparison rests on it. */
typedef enum { ELEMENTWISE, ATOMWISE, DEPENDENT } ErrorLaw;

struct Compressor {
    const char *name, *brief, *formula, *paper; /* formula: lines of plain text for `list NAME` */
    const Param *params;                        /* ends in {0}; NULL: none */
    size_t params_size;
    bool wraps;           /* takes an inner codec */
    const char *alone[2]; /* what a wrapper chooses from when its spec names nothing to wrap; NULL: refused */
    bool bare;            /* payloads without a kind byte: `none` alone */
    bool marks;           /* a wrapper whose payloads begin with a kind or form whatever it wraps */
    const struct Packer *packer; /* of packed.h, for the hooks that serve several wrappers */
    const struct Basis *basis;   /* for the hooks of basis.h, which serve several codecs */
    const struct BucketLaw *law; /* for those of compress/buckets.h */

    unsigned (*traits)(const Codec *codec);
    int (*rounds)(const Codec *codec);                         /* NULL: one */
    size_t (*bound)(const Call *c);                            /* most bytes encode writes */
    Status (*encode)(const Call *c, const float *x, Buf *out); /* x (shape->n) -> payload */
    Status (*decode)(const Call *c, Bytes in, float *x); /* payload -> x, or refuse; kinds 1 and 2 only */

    /* NULL means "not this one" */
    Status (*check)(const Codec *codec, Error *err);                     /* rules between parameters */
    Status (*merge)(const Call *c, const Bytes *in, size_t n, Buf *out); /* one round's payloads, undecoded */
    /* E |decode(encode(x)) - x|^2. NaN: unknown, or x is beyond the range in which UNBIASED holds (fp16 saturates). */
    double (*variance)(const Call *c, const float *x);
    ErrorLaw (*moments)(const Call *c, const float *x, AtomMoments *m); /* NULL: ELEMENTWISE */
    /* Once per step and worker, before its tensors are encoded: leaves plan_size bytes for each of them, which
     * their Calls then have as `plan`. decode needs none. A wrapper without this hook passes it on. */
    size_t plan_size;
    Status (*plan)(const Step *step, void *plan);
    /* Points of falling level and variance and rising bits, the last of level 0. */
    Status (*curve)(const Call *c, const float *x, CurvePoint *point, size_t *count);
    size_t (*state_size)(const Call *c); /* bytes, flat, starts zeroed */
    /* Before a step is encoded, on one worker: what all workers are to know beforehand, learned from its x, into
     * its state; the harness then gives the others the same state. Without a state, or where nobody trains, encode
     * learns from its own x. */
    Status (*train)(const Call *c, const float *x, void *state);
    /* After everyone has decoded: `sent` has this worker's payload of every round, `agreed` the common
     * estimate, the mean over the workers. */
    Status (*settle)(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state);
    double (*residual)(const Call *c);          /* l2 norm of what the state still owes */
    const char *(*caution)(const Codec *codec); /* what a user of this spec should know; NULL: nothing */
};

extern const Compressor *const compressors[]; /* compress/all.c, ends in NULL */
const Compressor *compressor_find(const char *name);

/* ---- specs: [WRAPPER[:KEYS]+]...CODEC[:KEYS] ---- */

Status codec_open(const Codec **out, const char *spec, Arena *a, Error *err);
char *codec_text(const Codec *codec, Arena *a); /* canonical spec */
bool codec_alone(const Codec *codec);           /* a wrapper round what its spec does not name */
unsigned codec_traits(const Codec *codec);
int codec_rounds(const Codec *codec);
bool codec_adds(const Codec *codec);           /* payloads merge undecoded, those of the last round too */
bool codec_keeps_state(const Codec *codec);    /* itself or what it wraps */
bool codec_learns_sums(const Codec *codec);    /* its state is made of the sum of all workers' payloads */
bool codec_bare(const Codec *codec);           /* payloads without a kind byte: `none`'s, passed on or not */
const char *codec_caution(const Codec *codec); /* the first caution of its stages, or NULL */

/* One codec per alternative of each spec ("qsgd:bits=1/2/4"), each canonical spec once, in order of appearance. */
Status codec_list(const Codec ***out, size_t *count, const TextList *specs, Arena *a, Error *err);

/* The two halves of it: every alternative, equal ones too; and the first of those that are equal in canonical form. */
Status codec_alternatives(const Codec ***out, size_t *count, const TextList *specs, Arena *a, Error *err);
Status codec_unique(const Codec **codec, size_t *count, Arena *a, Error *err);

/* ---- running: these wrap the hooks with the checks every codec would repeat ---- */

/* Payload kinds. RAW carries the floats themselves: x where the spec and x say so before any draw, or a drawn
 * estimate whose payload would have been longer. */
enum { PAYLOAD_RAW, PAYLOAD_METHOD, PAYLOAD_MERGED };

size_t codec_bound(const Call *c);
Status codec_encode(const Call *c, const float *x, Buf *out);
Status codec_decode(const Call *c, Bytes in, float *x);
Status codec_merge(const Call *c, const Bytes *in, size_t count, Buf *out); /* the codec has a merge hook */
double codec_variance(const Call *c, const float *x);                  /* NaN where there is no closed form */
ErrorLaw codec_moments(const Call *c, const float *x, AtomMoments *m); /* fills m for ATOMWISE */
/* Bytes of plan that each tensor of a step has; 0: the codec needs none. */
size_t codec_plan_size(const Codec *codec);
Status codec_plan(const Step *step, void *plan); /* (count x codec_plan_size), for a codec that has one */
Status codec_curve(const Call *c, const float *x, CurvePoint *point, size_t *count); /* if it has the hook */
size_t codec_state_size(const Call *c);
double codec_residual(const Call *c);                           /* NaN where the codec keeps none */
Status codec_train(const Call *c, const float *x, void *state); /* nothing to do for most codecs */
Status codec_settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state);

/* One worker by itself: every round's payload, one after another in `out`; what is heard is its own. */
typedef struct {
    Bytes round[ROUNDS_MAX];
    int rounds;
} Message;
size_t codec_message_bound(const Call *c);
Status codec_send(const Call *c, const float *x, Buf *out, Message *m);
Status codec_receive(const Call *c, const Message *m, float *x);

/* ---- for codecs ---- */

/* The Call of what a wrapper wraps; its state stands behind `own` bytes (rounded up to 64) of the wrapper's. */
Call call_inner(const Call *c, size_t own_state);
/* The Calls of a whole step, `own` as above; in scratch. */
Status step_inner(const Step *step, size_t (*own_state)(const Call *c), Step *inner);
size_t state_round(size_t bytes);

/* Sends x as floats: kind byte and 4 n bytes. A codec whose method's form would not be smaller ends with this. */
Status raw_put(const Call *c, const float *x, Buf *out);
static inline size_t raw_size(const Call *c)
{
    return 4 * c->shape->n + 1;
}

/* ERR_CORRUPT with "NAME payload: ..." */
Status payload_bad(const Call *c, const char *format, ...) PRINTF(2);

/* payload_bad unless `kind` is the one wanted, or PAYLOAD_MERGED where that is read too. */
Status payload_kind(const Call *c, unsigned kind, unsigned want);
Status payload_kind_or_merged(const Call *c, unsigned kind, unsigned want);

/* Adds the workers of one more merged payload; payload_bad where no number holds them. */
Status payload_add_workers(const Call *c, uint64_t more, uint64_t *total);

/* payload_bad unless the Call's round is the last, which alone is decoded. */
Status payload_last_round(const Call *c);

#endif
