/* ef.c -- error feedback for any codec: the error of a step is added to the next gradient.
 *
 *     t = x + decay e        the inner codec encodes t        e = t - decoded
 *
 * Seide et al. 2014 introduced error feedback for one-bit codes; Stich et al. 2018 and Karimireddy et al. 2019
 * prove convergence for contractive codecs. With lowpass = b below 1 the residual is smoothed (ScaleCom, Chen et al. 2020):
 *
 *     e = (1 - b) e + b (t - decoded)
 *
 * The payload is the inner codec's, unchanged. State: e (n floats),
 * then the inner codec's state. */
#include "compress/wrapper.h"
#include "math/blockwise.h"

#include <math.h>

typedef struct {
    double decay, lowpass;
} Ef;

static const Param schema[] = {
    PARAM(Ef, decay, "1", 0, 1, "share of the residual that is carried over"),
    PARAM(Ef, lowpass, "1", 0, 1, "weight of a step's error in the residual, the rest is the old residual", .above = true),
    {0},
};

static unsigned traits(const Codec *codec)
{
    return codec_traits(codec->inner) & ~(unsigned)UNBIASED;
}

static size_t state_size(const Call *c)
{
    return sizeof(float) * c->shape->n;
}

static size_t bound(const Call *c)
{
    const Call inner = call_inner(c);
    return codec_bound(&inner);
}

/* Sets t to the gradient x plus the decayed residual, and refuses sums beyond float32. */
static Status add_residual(const Call *c, const float *x, float *t, Error *err)
{
    const size_t n = c->shape->n;
    const float decay = (float)((const Ef *)c->self->params)->decay;
    if (blockwise_add(x, c->state, decay, n, c->threads, t))
        return OK;
    return FAIL(err, ERR_NUMERIC, "ef: gradient plus residual is beyond float32 at element %zu",
                first_nonfinite(t, n, NULL));
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const Call inner = call_inner(c);
    const float *t;
    TRY(state_input(c, x, &t));
    return codec_encode(&inner, t, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const Call inner = call_inner(c);
    return codec_decode(&inner, in, x);
}

static Status merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const Call inner = call_inner(c);
    return codec_merge(&inner, in, count, out);
}

static Numbers numbers(const Call *c)
{
    const Call inner = call_inner(c);
    return codec_numbers(&inner);
}

static void smooth(const Call *c, float *e, const float *t, const float *decoded, double weight)
{
    for (size_t i = 0; i < c->shape->n; i++)
        e[i] = (float)((1 - weight) * (double)e[i] + weight * ((double)t[i] - (double)decoded[i]));
}

static Status settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    const Call inner = call_inner(c);
    void *behind = state_inner(c, state);
    /* a receiver (x = NULL) has no residual; only the inner codec's state is updated */
    if (!x)
        return codec_settle(&inner, NULL, sent, agreed, behind);
    const float *t;
    const double weight = ((const Ef *)c->self->params)->lowpass;
    /* without lowpass the estimate may overwrite the old residual in `state`: state_input first adds the residual to t */
    float *decoded = weight < 1 ? NEW(c->scratch, float, c->shape->n) : state;
    TRY(arena_check(decoded, c->scratch, c->err));
    TRY(state_input(c, x, &t));
    Call last = inner;
    last.round = codec_rounds(inner.self) - 1;
    TRY(codec_decode(&last, sent[last.round], decoded));
    TRY(codec_settle(&inner, t, sent, agreed, behind));
    if (weight < 1)
        smooth(c, state, t, decoded, weight);
    else
        blockwise_add(t, decoded, -1, c->shape->n, c->threads, state); /* e = t - decoded */
    return OK;
}

static double residual(const Call *c)
{
    return c->state ? sqrt(blockwise_squares(c->state, c->shape->n, c->threads)) : 0;
}

/* Error feedback converges if the inner codec C is a contraction, E|C(x) - x|^2 < |x|^2. Unbiased random codecs
 * are contractions only at high rates. */
static const char *caution(const Codec *codec)
{
    return codec_traits(codec->inner) & UNBIASED && codec_traits(codec->inner) & RANDOM
               ? "error feedback round an unbiased codec diverges wherever that codec's variance exceeds |g|^2"
               : NULL;
}

const Compressor compressor_ef = {
    .name = "ef",
    .brief = "error feedback for any codec",
    .plain = "Keeps at each worker what the codec behind it lost, and adds that to the gradient of the next"
             " step. Nothing is lost for good.",
    .use_when = "the codec behind it is biased, as topk, scaledsign and powersgd are, and takes part in "
                "every step.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
               "atomo-bench compare g.h5 -c topk:ratio=0.05 -c ef+topk:ratio=0.05",
    .formula = "t = g + decay e is encoded by the inner codec; then e = t - decode(sent), or with\n"
               "lowpass = b below 1, as ScaleCom, e = (1 - b) e + b (t - decode(sent)).\n"
               "The state e starts at zero, one per worker and tensor.",
    .paper = "Seide et al., Interspeech 2014; Karimireddy et al., ICML 2019",
    .params = schema,
    .wraps = true,
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .merge = merge,
    .numbers = numbers,
    .input = add_residual,
    .state_size = state_size,
    .settle = settle,
    .residual = residual,
    .caution = caution,
};
