/* induced.c -- makes a biased codec C unbiased (Horvath and Richtarik, ICLR 2021). It sends C(x), and the error
 * x - C(x) encoded with an unbiased codec Q.
 *
 *     decoded = C(x) + Q(x - C(x))          C is the inner codec, Q the parameter `with`
 *
 * Payload: kind:8 = 1 | size:varint | C's payload (size bytes) | Q's payload (docs/FORMAT.md)
 *
 * If C has several rounds, only the last round has this payload; earlier rounds send C's payload alone. */
#include "compress/wrapper.h"
#include "math/blockwise.h"

#include <math.h>

typedef struct {
    const char *with;
} Induced;

static const Param schema[] = {
    PARAM(Induced, with, "qsgd", 0, 0, "the unbiased codec, with its keys"),
    {0},
};

/* Returns the Call for the codec Q, with random numbers independent of those of C. */
static Call call_with(const Call *c)
{
    Call with = *c;
    with.self = c->self->other;
    with.state = with.plan = NULL;
    with.heard = NULL;
    with.kept = NULL; /* x - C(x) is another vector in each draw of C */
    with.round = 0;
    with.rng = rng_below(&c->rng, 1);
    with.rng_shared = rng_below(&c->rng_shared, 1);
    return with;
}

static size_t bound(const Call *c)
{
    const Call inner = call_inner(c), with = call_with(c);
    return is_last_round(c) ? 1 + VARINT_MAX + codec_bound(&inner) + codec_bound(&with) : codec_bound(&inner);
}

/* C's payload of x in the last round, its estimate C(x), and the error x - C(x) */
typedef struct {
    Buf payload;
    float *decoded, *rest; /* (shape->n) */
} First;

/* Encodes x with C; the result is in scratch memory. */
static Status encode_first(const Call *c, const float *x, First *f)
{
    const Call inner = call_inner(c);
    const size_t n = c->shape->n;
    *f = (First){{.cap = codec_bound(&inner)}, NEW(c->scratch, float, n), NEW(c->scratch, float, n)};
    f->payload.data = NEW(c->scratch, uint8_t, f->payload.cap);
    TRY(arena_check(f->payload.data && f->decoded && f->rest, c->scratch, c->err));
    TRY(codec_encode(&inner, x, &f->payload));
    TRY(codec_decode(&inner, buf_bytes(&f->payload), f->decoded));
    if (blockwise_add(x, f->decoded, -1, n, c->threads, f->rest))
        return OK;
    return FAIL(c->err, ERR_NUMERIC, "induced: what is left of element %zu is beyond float32",
                first_nonfinite(f->rest, n, NULL));
}

static Status decode(const Call *c, Bytes in, float *x);

static Status encode(const Call *c, const float *x, Buf *out)
{
    const Call inner = call_inner(c), with = call_with(c);
    const size_t start = out->size, n = c->shape->n;
    const bool raw = c->streams && c->streams->raw;
    First first;
    if (!is_last_round(c))
        return codec_encode(&inner, x, out);
    TRY(encode_first(c, x, &first));
    buf_u8(out, PAYLOAD_METHOD);
    buf_varint(out, first.payload.size);
    buf_copy(out, first.payload.data, first.payload.size);
    TRY(codec_encode(&with, first.rest, out));
    if (c->streams) {
        c->streams->raw = raw; /* if C or Q sends raw floats, the whole payload still is not raw floats */
        c->streams->mean_known = false;
    }
    if (!sum_is_safe(first.decoded, n, c->threads) &&
        decode(c, (Bytes){out->data + start, out->size - start}, first.decoded) != OK)
        return FAIL(c->err, ERR_NUMERIC, "induced: the estimate is beyond float32");
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const Call inner = call_inner(c), with = call_with(c);
    const size_t n = c->shape->n;
    Reader r = reader_open(in);
    const uint8_t kind = take_u8(&r);
    const uint64_t size = take_varint(&r);
    float *q = NEW(c->scratch, float, n);
    TRY(arena_check(q, c->scratch, c->err));
    TRY(payload_kind(c, kind, PAYLOAD_METHOD));
    if (r.bad || size > reader_left(&r))
        return payload_bad(c, "its first part is cut");
    TRY(codec_decode(&inner, (Bytes){r.at, (size_t)size}, x));
    TRY(codec_decode(&with, (Bytes){r.at + size, reader_left(&r) - (size_t)size}, q));
    if (blockwise_add(x, q, 1, n, c->threads, x))
        return OK;
    return payload_bad(c, "element %zu of both parts is beyond float32", first_nonfinite(x, n, NULL));
}

/* Updates C's state as if C had been used alone. Encodes C's payload again: the sent payload may be raw floats,
 * and then contains no payload of C. */
static Status settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    Call inner = call_inner(c);
    Bytes own[ROUNDS_MAX];
    First first;
    /* C gets this worker's C(x) in place of `agreed`, which is the mean of C(x) + Q(x - C(x)) over all
     * workers. No state depends on this mean: `check` refuses codecs C that learn from all workers. */
    (void)agreed;
    if (!codec_state_size(&inner))
        return OK;
    TRY(encode_first(c, x, &first));
    for (int r = 0; r < c->round; r++)
        own[r] = sent[r];
    own[c->round] = buf_bytes(&first.payload);
    inner.heard = own;
    return codec_settle(&inner, x, own, first.decoded, state);
}

/* ---- traits, variance and checks ---- */

static unsigned traits(const Codec *codec)
{
    const unsigned first = codec_traits(codec->inner), with = codec_traits(codec->other);
    const bool first_own = first & RANDOM && !(first & SHARED_DRAWS);
    return (with & (UNBIASED | GIVEN_DRAWS | PART_SHARED)) | ((first | with) & RANDOM) |
           (first & with & EXACT_BYTES) |
           (!(with & SHARED_DRAWS) ? 0u
            : first_own            ? PART_SHARED
                                   : SHARED_DRAWS);
}

/* Returns the error x - C(x), or NULL if C is random or has several rounds, or if encoding failed. */
static const float *fixed_rest(const Call *c, const float *x)
{
    Call last = *c;
    First first;
    last.round = 0;
    const bool fixed = !(codec_traits(c->self->inner) & RANDOM) && codec_rounds(c->self) == 1;
    return fixed && encode_first(&last, x, &first) == OK ? first.rest : NULL;
}

static double variance(const Call *c, const float *x)
{
    Call with = call_with(c), quiet = *c;
    /* If all workers share Q's random draws, the variance depends on x - C(x) of all workers; one worker knows
     * only its own. */
    if (c->workers > 1 && codec_traits(with.self) & SHARED_DRAWS)
        return NAN;
    quiet.streams = with.streams = NULL;
    const float *rest = fixed_rest(&quiet, x);
    return rest ? codec_variance(&with, rest) : NAN;
}

/* The estimate's error is Q's error on x - C(x). Its component along x is not computed, so `weighted` is
 * NaN. */
static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    const Call with = call_with(c);
    const float *rest = fixed_rest(c, x);
    if (!rest)
        return codec_moments(&with, x, m) == ELEMENTWISE ? ELEMENTWISE : DEPENDENT;
    const ErrorLaw law = codec_moments(&with, rest, m);
    m->weighted = NAN;
    m->none = 0;
    return law;
}

static Status check(const Codec *codec, Error *err)
{
    const char *with = codec->other->ops->name, *first = codec->inner->ops->name;
    if (codec_rounds(codec->other) > 1)
        return FAIL(err, ERR_USAGE, "induced: with=%s takes %d rounds, want a codec of one", with,
                    codec_rounds(codec->other));
    if (codec_keeps_state(codec->other))
        return FAIL(err, ERR_USAGE, "induced: with=%s keeps a state, want a codec that keeps none", with);
    if (codec_traits(codec->inner) & DECODES_STATE)
        return FAIL(err, ERR_USAGE,
                    "induced: %s learns from what it decodes to, which is here one part of two", first);
    if (codec_learns_sums(codec->inner))
        return FAIL(err, ERR_USAGE, "induced: %s learns from all workers' sum, which is not made of its part",
                    first);
    return OK;
}

static const char *caution(const Codec *codec)
{
    return codec_traits(codec->other) & UNBIASED
               ? NULL
               : "the codec of the key with is biased, and so is the sum: want an unbiased one, as qsgd is";
}

const Compressor compressor_induced = {
    .name = "induced",
    .brief = "a biased codec, and an unbiased one of what it left",
    .plain = "Sends the gradient with a biased codec, and what that lost with an unbiased one. The mean of "
             "the sum is the gradient.",
    .use_when = "a biased codec suits the gradient, but no bias and no state is allowed.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c induced:with=qsgd:bits=2+topk:ratio=0.01",
    .formula =
        "decoded = C(g) + Q(g - C(g)), C the codec behind the +, Q that of the key with.\n"
        "E decoded = g where Q is unbiased. Where C draws nothing, the variance is Q's own at g - C(g); else it\n"
        "is that on average over C's draws, and has no closed form here.\n"
        "with is the last key and takes the rest of its stage: induced:with=qsgd:bits=2,bucket=64+topk.\n"
        "Q is a codec of one round without a state. C may not be powersgd, ef21 or diana, which learn from what\n"
        "everyone decodes.",
    .paper =
        "Horvath, Richtarik: A Better Alternative to Error Feedback for Communication-Efficient Distributed\n"
        "Learning, ICLR 2021",
    .params = schema,
    .wraps = true,
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .check = check,
    .variance = variance,
    .moments = moments,
    .settle = settle,
    .caution = caution,
};
