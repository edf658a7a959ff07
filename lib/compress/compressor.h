/* compressor.h -- for authors of a codec: struct Compressor holds a codec's promises and functions
 * (docs/adding-a-compressor.md).
 *
 * encode, decode and merge change no state. Besides their output, they write only the Call's Streams,
 * Kept, scratch memory and Error. Only settle and train write state. A receiver decodes a payload with
 * the spec, the shape, the payloads of earlier rounds (Call.heard) and the sources of random numbers
 * (Call.rng, Call.rng_shared). Only a codec that promises DECODES_STATE also reads the state (Call.state). A
 * payload begins with a kind byte, except payloads with the trait BARE. */
#ifndef ATOMO_COMPRESSOR_H
#define ATOMO_COMPRESSOR_H

#include "base/param.h"
#include "compress/harness.h"
#include "compress/numbers.h"
#include "coder/indices.h"
#include "math/blockwise.h"

enum { PART_SPEC = 64 }; /* bytes that a spec may take, its terminating 0 included */

/* How a codec is drawn in figures. A family of codecs has one hue, with a contrast to white of 4.5:1 or more; its codecs
 * differ by mark and dashes. Families whose hues are near in grey share no pair of mark and dashes. */
typedef struct {
    const char *colour; /* "#0072b2", or a hue below */
    int mark, dash;     /* 0 to 5, 0 to 4; plot_page.c has their shapes */
} CodecLook;

#define HUE_NONE "#000000"
#define HUE_ATOMS "#0072b2"
#define HUE_LEVELS "#c14a00"
#define HUE_FLOATS "#00254d"
#define HUE_SIGNS "#962a74"
#define HUE_SPARSE "#00704d"
#define HUE_LOWRANK "#7a4f00"
#define HUE_ROTATIONS "#5a3ec8"
#define HUE_SKETCH "#6e1440"

/* A member that is left out is zero: the codec does not have that promise or hook. */
struct Compressor {
    const char *name, *brief, *formula, *paper; /* formula: lines of plain text, printed by `list NAME` */
    /* plain, use_when and example are for people who are new to the codec; `list NAME` leaves out those that
     * are NULL */
    const char *plain;    /* what the codec does, in plain words: one paragraph */
    const char *use_when; /* completes the sentence "Use it when" */
    const char *example;  /* commands that run as they are, one a line; they write g.h5. A test runs them. */
    const Param *params;  /* the parameters; ends in {0}; NULL: none */
    CodecLook look; /* a spec is drawn as its last codec, so wrappers need none */
    /* a struct for hooks that several codecs share, which describes this codec: for example, a BucketLaw for
     * levels/buckets.c */
    const void *family;

    /* For every codec */
    unsigned promises;              /* promises that hold for all parameters: UNBIASED, RANDOM, ... */
    size_t (*bound)(const Call *c); /* upper bound on the bytes that encode writes */
    Status (*encode)(const Call *c, const float *x, Buf *out); /* encodes x (shape->n) */
    /* decodes a payload of kind PAYLOAD_METHOD or PAYLOAD_MERGED; refuses other kinds */
    Status (*decode)(const Call *c, Bytes in, float *x);

    /* For a codec with the promise LEAVES_OUT that sends coefficients of a transform. to_terms transforms x
     * (shape->n) to the coefficients, in the order in which `decode` writes them if c->terms is set;
     * from_terms transforms them back. NULL: the codec sends elements. */
    Status (*to_terms)(const Call *c, float *x);
    Status (*from_terms)(const Call *c, float *x);

    /* Parameters */
    unsigned (*traits)(const Codec *codec);          /* returns the promises that depend on the parameters */
    Status (*check)(const Codec *codec, Error *err); /* refuses parameter values that contradict each other */
    const char *(*caution)(const Codec *codec);      /* a warning for users of this spec, or NULL */
    /* Writes the spec of a second codec, which compresses parts of a tensor and becomes Codec.other. Returns
     * false if there is no second codec. */
    bool (*part)(const Codec *codec, char spec[PART_SPEC]);

    /* Hooks for several workers and steps; see codec.h */
    Status (*merge)(const Call *c, const Bytes *in, size_t n, Buf *out); /* merges one round's payloads */
    /* Returns the numbers in the payloads of one round. NULL: payloads are merged only as a whole. */
    Numbers (*numbers)(const Call *c);
    /* number of rounds; NULL: the inner codec's number, or 1 without an inner codec */
    int (*rounds)(const Codec *codec);
    /* Writes to `t` (shape->n) the vector that is encoded for x with the state, by a wrapper's inner codec. Sets *err on
     * failure. See state_input. */
    Status (*input)(const Call *c, const float *x, float *t, Error *err);
    size_t (*state_size)(const Call *c); /* returns the bytes of the codec's state, in a wrapper without the inner codec's */
    Status (*train)(const Call *c, const float *x, void *state);
    Status (*settle)(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state);

    /* Hooks for errors and budgets; see harness.h */
    double (*variance)(const Call *c, const float *x); /* NaN: no closed form, or none that holds for x */
    /* Returns which parts of the estimate's error are independent of each other. If these parts are the atoms
     * (the terms of the decomposition of x from which the codec draws), sets *m to their moments. NULL: the
     * errors of single elements are independent. */
    ErrorLaw (*moments)(const Call *c, const float *x, AtomMoments *m);
    double (*residual)(const Call *c);
    Status (*curve)(const Call *c, const float *x, CurvePoint *point, size_t *count);
    size_t plan_size; /* bytes of a tensor's record from codec_plan */
    Status (*plan)(const Step *step, void *plan);

    /* Members for wrappers; see wrapper.h */
    bool wraps; /* true: a wrapper, which has an inner codec */
    bool
        marks; /* true: a wrapper whose payloads begin with the wrapper's own byte, also if it wraps `none` */
    /* Specs of the default `Codec.inner` and `Codec.other`, for a wrapper that a spec may use without an inner
     * codec, such as `joint`. */
    const char *alone[2];
};

/* Kinds of payload. RAW: raw floats. METHOD: the codec's own format. MERGED: merged payloads in the codec's
 * format. If spec, shape and x show, before any random draw, that raw floats are shorter, the raw floats are
 * the input x itself. Otherwise the codec first makes its own payload. If this payload is longer than raw
 * floats, the raw floats are its decoded values. */
enum { PAYLOAD_RAW, PAYLOAD_METHOD, PAYLOAD_MERGED };

/* Values of the key `rounding` of codecs that round at random: the workers' random numbers are independent, or correlated
 * (rng_round), so that the workers' errors partly cancel. With one worker both are the same. */
enum { ROUNDING_INDEPENDENT, ROUNDING_CORRELATED };
extern const char *const rounding_names[];
#define WORKERS_ROUNDING_HELP "independent of other workers, or correlated with theirs, so that errors cancel in the mean"

/* Returns the key of the words that round the elements of a block. */
RngKey rounding_key(const Call *c, bool correlated, uint64_t block);

/* Writes x as raw floats: a kind byte and 4 n bytes. A codec calls raw_put when its own payload would not be
 * shorter. */
Status raw_put(const Call *c, const float *x, Buf *out);
static inline size_t raw_size(const Call *c)
{
    return 4 * c->shape->n + 1;
}

/* True if raw floats take no more bytes than the codec's bound. A codec whose payloads all take as many bytes as its
 * bound says then sends raw floats; own_kind returns the kind of its payloads. */
static inline bool sends_raw(const Call *c)
{
    return c->self->ops->bound(c) >= raw_size(c);
}
static inline unsigned own_kind(const Call *c)
{
    return sends_raw(c) ? PAYLOAD_RAW : PAYLOAD_METHOD;
}

/* Fails with ERR_CORRUPT and the message "NAME payload: ...". */
Status payload_bad(const Call *c, const char *format, ...) PRINTF(2);

/* Fails unless the kind byte `kind` is `want`. */
Status payload_kind(const Call *c, unsigned kind, unsigned want);
/* Fails unless the kind byte `kind` is `want` or PAYLOAD_MERGED. */
Status payload_kind_or_merged(const Call *c, unsigned kind, unsigned want);

/* Fails if one of the decoded elements (shape->n) is not finite. */
Status payload_finite(const Call *c, const float *x);
/* Reads the elements of x (shape->n) from little-endian floats; fails if one is not finite. */
Status payload_floats(const Call *c, const uint8_t *bytes, float *x);

/* Reads a set of indices below n. If the bytes do not code a set, sets in->bad and returns OK. */
Status payload_set(const Call *c, Reader *in, size_t n, Places *set);
/* Fails unless all bytes of a payload with sets were read. */
static inline Status payload_end(const Call *c, const Reader *in)
{
    return reader_done(in) ? OK : payload_bad(c, "%s", in->bad ? "it is cut short or holds no index set" : "bytes are left over");
}
/* Fails if the payload takes as many bytes as raw floats. */
static inline Status payload_shorter(const Call *c, Bytes in)
{
    return in.size < raw_size(c) ? OK : payload_bad(c, "%zu bytes, where floats would take no more", in.size);
}

/* Adds `more`, the number of workers of a merged payload, to *total; fails on overflow. */
Status payload_add_workers(const Call *c, uint64_t more, uint64_t *total);

/* Sets *t to the vector of the hook `input`, which is computed once for all calls with the same c->kept. Without a state
 * it is x. */
Status state_input(const Call *c, const float *x, const float **t);

static inline bool is_last_round(const Call *c)
{
    return c->round == codec_rounds(c->self) - 1;
}

/* Fails unless c->round is the last round: payloads of earlier rounds are not decoded. */
static inline Status payload_last_round(const Call *c)
{
    return is_last_round(c) ? OK : payload_bad(c, "round %d is not the last", c->round);
}

/* The streams_ functions let an encoder report the entropy of its streams. They do nothing if s is NULL. */
/* adds the entropy of a stream of symbols: number of symbols times order-0 entropy */
void streams_symbols(Streams *s, const uint64_t *count, size_t symbols);
void streams_bits(Streams *s, double bits); /* adds incompressible bits: signs, counts; NaN: the entropy is unknown */
static inline void streams_floats(Streams *s, size_t count)
{
    streams_bits(s, 32.0 * (double)count);
}
void streams_gaps(const Call *c, const Indices *set); /* adds the order-0 entropy of an index set's gaps */

#endif
