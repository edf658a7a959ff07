/* shift.c -- ef21 and diana: send the difference between the gradient and a learned shift, which approaches the
 * gradient over the steps.
 *
 *     t = x - h        the inner codec encodes t and decodes it to q        h' = h + alpha q
 *
 * x is the gradient, and h the shift, which is 0 before the first step. alpha, from 0 to 1, is the share of q
 * that is added to the shift.
 *
 * ef21 (Richtarik et al. 2021) decodes to the new shift h', for contractive codecs; diana (Mishchenko et al.
 * 2019) decodes to h + q, for unbiased codecs. Sender and receivers keep the same h, so decoding reads the
 * state. The state is a ShiftHead, this worker's h, the mean of all workers' h (n floats each), and the inner
 * codec's state.
 *
 * Payload of one worker: the inner codec's payload. If the inner payload has no kind byte, a kind byte 0
 * precedes it.
 *
 * Payloads can be merged if the inner codec is linear. A merged payload is kind:8 = 2, workers:varint (their
 * number), and the inner codec's merged payload, which decodes to the sum of all q. A merged payload decodes to
 * the sum of all estimates: the number of workers times the mean h from the state, plus the sum of all q (for
 * ef21: alpha times the sum). */
#include "compress/wrapper.h"

#include <math.h>

typedef struct {
    double alpha; /* NaN: alpha=auto */
} Shift;

static const Param schema[] = {
    PARAM(Shift, alpha, "auto", 0, 1, "share of what was decoded that the shift takes over", .above = true,
          .automatic = true),
    {0},
};

static const Compressor compressor_diana;

static bool is_diana(const Codec *codec)
{
    return codec->ops == &compressor_diana;
}

static bool wraps_unbiased(const Codec *codec)
{
    return codec_traits(codec->inner) & UNBIASED;
}

/* ---- omega, the relative variance of an unbiased codec Q: the smallest number with E|Q(x) - x|^2 <= omega |x|^2 for
 * all x ----
 *
 * The variance is measured on four vectors, each with a large variance for some codecs. `noise` is for codecs
 * that use a basis. `level`, whose elements all have the same magnitude, is for codecs with few levels and for
 * norms that grow with n. `peak`, one element of 1 among elements of 1/sqrt(n), is for codecs that scale by the
 * largest magnitude. `spikes`, one element of 1 and one of -1 in every 256, is for codecs with levels between
 * minimum and maximum and for codecs that rotate. */

enum { NOISE, LEVEL, PEAK, SPIKES, HARD_VECTORS };
enum { PAIR = 256, DRAWS = 3 };

/* Returns element i of a hard vector of n elements. */
static float hard(int vector, const Rng *rng, size_t n, size_t i)
{
    const float sign = rng_u32(rng, USE_DATA, i) & 1 ? 1 : -1;
    if (vector == SPIKES)
        return i % PAIR == 0 ? 1 : i % PAIR == PAIR / 2 ? -1 : 0;
    if (vector == PEAK)
        return i == n / 2 ? 1 : sign / sqrtf((float)n);
    return vector == NOISE ? (float)rng_normal(rng, USE_DATA, i) : sign;
}

/* Sets *variance to the mean squared error over DRAWS draws; for codecs without a closed form of the
 * variance. */
static Status measure_omega(const Call *c, const float *x, double *variance)
{
    const size_t n = c->shape->n;
    Buf payload = {.cap = codec_message_bound(c)};
    float *y = NEW(c->scratch, float, n);
    payload.data = NEW(c->scratch, uint8_t, payload.cap);
    TRY(arena_check(y && payload.data, c->scratch, c->err));
    Call draw = *c;
    *variance = 0;
    for (uint64_t r = 0; r < DRAWS; r++) {
        Message m;
        draw.rng = draw.rng_shared = rng_open(1, r, 0, 0, rng_hash("omega"));
        payload.size = 0;
        TRY(codec_send(&draw, x, &payload, &m));
        TRY(codec_receive(&draw, &m, y));
        for (size_t i = 0; i < n; i++)
            *variance += ((double)y[i] - (double)x[i]) * ((double)y[i] - (double)x[i]) / DRAWS;
    }
    return OK;
}

/* Sets *rate to 1/(1 + omega), where omega is estimated by the largest E|Q(x) - x|^2 / |x|^2 over the four vectors. The
 * result depends only on spec and shape, so all workers compute the same number. Rounds it down to eight significant
 * bits, so that rounding errors of LAPACK do not change it. */
static Status omega_rate(const Call *call, double *rate)
{
    const size_t n = call->shape->n;
    const Rng rng = rng_open(1, 0, 0, 0, rng_hash("omega"));
    double omega = 0;
    Call c = *call;
    c.state = c.plan = NULL;
    c.heard = NULL;
    c.streams = NULL;
    c.round = 0;
    float *x = NEW(c.scratch, float, n);
    TRY(arena_check(x, c.scratch, c.err));
    for (int k = 0; k < HARD_VECTORS && n; k++) {
        const ArenaMark mark = arena_mark(c.scratch);
        double norm = 0;
        for (size_t i = 0; i < n; i++) {
            x[i] = hard(k, &rng, n, i);
            norm += (double)x[i] * (double)x[i];
        }
        double variance = codec_variance(&c, x);
        if (isnan(variance))
            TRY(measure_omega(&c, x, &variance));
        omega = fmax(omega, variance / norm);
        arena_rewind(c.scratch, mark);
    }
    int exponent;
    const double mantissa = frexp(1 / (1 + omega), &exponent);
    *rate = ldexp(floor(256 * mantissa), exponent - 8);
    return OK;
}

/* ---- the state of the codec ---- */

typedef struct {
    double alpha; /* diana's alpha (for alpha=auto: 1/(1 + omega)); 0 in ef21 and before the first step */
    double left;  /* |x - h'| (gradient minus next shift), computed by the sender only */
} ShiftHead;

static size_t state_size(const Call *c)
{
    return sizeof(ShiftHead) + 2 * sizeof(float) * c->shape->n;
}

/* Returns this worker's shift (n), followed in memory by the mean shift (n); NULL if c->state is NULL. */
static const float *shift_of(const Call *c)
{
    return c->state ? (const float *)((const ShiftHead *)c->state + 1) : NULL;
}

/* Returns the alpha of the spec, or 1 if alpha is auto. */
static double spec_alpha(const Call *c)
{
    const double alpha = ((const Shift *)c->self->params)->alpha;
    return isnan(alpha) ? 1 : alpha;
}

static Status learning_rate(const Call *c, const ShiftHead *head, double *alpha)
{
    const Call inner = call_inner(c);
    const bool automatic = isnan(((const Shift *)c->self->params)->alpha);
    *alpha = head->alpha > 0 ? head->alpha : spec_alpha(c);
    /* a biased codec has no relative variance omega */
    return head->alpha > 0 || !is_diana(c->self) || !automatic || !wraps_unbiased(c->self)
               ? OK
               : omega_rate(&inner, alpha);
}

/* ---- encoding ---- */

static bool adds_kind(const Call *c)
{
    return is_last_round(c) && codec_bare(c->self->inner);
}

static size_t bound(const Call *c)
{
    const Call inner = call_inner(c);
    return adds_kind(c) + codec_bound(&inner);
}

static Status subtract(const Call *c, const float *x, float *t, Error *err)
{
    const size_t n = c->shape->n;
    if (blockwise_add(x, shift_of(c), -1, n, c->threads, t))
        return OK;
    return FAIL(err, ERR_NUMERIC, "%s: gradient less shift is beyond float32 at element %zu",
                c->self->ops->name, first_nonfinite(t, n, NULL));
}

/* ---- decoding ---- */

enum { WORKERS_MOST = INT32_MAX };

/* Removes what precedes the inner codec's payload: the kind byte 0, which encode adds if that payload has no kind byte,
 * or of a merged payload the kind byte and the number of workers. Sets *merged to this number; 0: one worker's payload. */
static Status take_head(const Call *c, Bytes *in, uint64_t *merged)
{
    Reader r = reader_open(*in);
    const bool several = in->size && in->data[0] == PAYLOAD_MERGED;
    *merged = 0;
    if (!several && !adds_kind(c))
        return OK;
    const unsigned kind = take_u8(&r);
    if (several)
        *merged = take_varint(&r);
    if (r.bad || (several ? *merged < 1 || *merged > WORKERS_MOST : kind != PAYLOAD_RAW))
        return payload_bad(c, "%zu bytes, neither one worker's nor merged", in->size);
    *in = (Bytes){r.at, reader_left(&r)};
    return OK;
}

typedef struct {
    const float *h; /* the shift; NULL: the shift is 0 */
    double count, gain;
} Estimate;

static void estimate(const void *data, size_t from, size_t n, float *x)
{
    const Estimate *e = data;
    const float *const h = e->h ? e->h + from : NULL;
    const double count = e->count, gain = e->gain;
    if (h)
        for (size_t i = 0; i < n; i++)
            x[i] = (float)(count * (double)h[i] + gain * (double)x[i]);
    else
        for (size_t i = 0; i < n; i++)
            x[i] = (float)(0 + gain * (double)x[i]); /* -0 becomes 0, as with a shift of zeros */
}

static Status add_shift(const Call *c, const float *h, double count, double gain, float *x)
{
    const size_t n = c->shape->n;
    if (!h && gain == 1)
        return OK;
    /* the sum of two floats in double, rounded to float32, is the sum in float32 */
    if (count == 1 && gain == 1 ? blockwise_add(h, x, 1, n, c->threads, x)
                                : blockwise_fill(x, n, c->threads, estimate, &(Estimate){h, count, gain}))
        return OK;
    return payload_bad(c, "with the shift, element %zu is beyond float32", first_nonfinite(x, n, NULL));
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const Call inner = call_inner(c);
    const float *h = shift_of(c);
    uint64_t merged;
    TRY(take_head(c, &in, &merged));
    if (h && merged)
        h += c->shape->n;
    TRY(codec_decode(&inner, in, x));
    return add_shift(c, h, merged ? (double)merged : 1, is_diana(c->self) ? 1 : spec_alpha(c), x);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const Call inner = call_inner(c);
    const size_t start = out->size, n = c->shape->n;
    const float *t, *h = shift_of(c);
    TRY(state_input(c, x, &t));
    if (adds_kind(c))
        buf_u8(out, PAYLOAD_RAW);
    TRY(codec_encode(&inner, t, out));
    if (!is_last_round(c) || !h || sum_is_safe(h, n, c->threads))
        return OK;
    /* the estimate may be beyond float32's range, so decode it */
    float *y = NEW(c->scratch, float, n);
    TRY(arena_check(y, c->scratch, c->err));
    if (decode(c, (Bytes){out->data + start, out->size - start}, y) != OK)
        return FAIL(c->err, ERR_NUMERIC, "%s: the estimate is beyond float32", c->self->ops->name);
    return OK;
}

static Status merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const Call inner = call_inner(c);
    if (!is_last_round(c))
        return codec_merge(&inner, in, count, out);
    Bytes *part = NEW(c->scratch, Bytes, count);
    uint64_t total = 0;
    TRY(arena_check(part, c->scratch, c->err));
    for (size_t i = 0; i < count; i++) {
        uint64_t merged;
        part[i] = in[i];
        TRY(take_head(c, &part[i], &merged));
        total += merged ? merged : 1;
    }
    if (total > WORKERS_MOST)
        return payload_bad(c, "%llu workers, want %d or fewer", (unsigned long long)total, WORKERS_MOST);
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, total);
    return codec_merge(&inner, part, count, out);
}

/* ---- updating the state ---- */

/* Updates the inner codec's state. The inner codec has encoded t = x - h, so its agreed mean is the mean of all
 * workers' q. */
static Status settle_inner(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    Call inner = call_inner(c);
    const float *mean = (const float *)((const ShiftHead *)state + 1) + c->shape->n, *t = NULL;
    const double gain = is_diana(c->self) ? 1 : spec_alpha(c);
    Bytes heard[ROUNDS_MAX], own[ROUNDS_MAX];
    uint64_t merged;
    if (!codec_state_size(&inner) || (!x && !(codec_traits(inner.self) & DECODES_STATE)))
        return OK;
    float *decoded = NEW(c->scratch, float, c->shape->n);
    TRY(arena_check(decoded, c->scratch, c->err));
    for (size_t i = 0; i < c->shape->n; i++)
        decoded[i] = (float)(((double)agreed[i] - (double)mean[i]) / gain);
    for (int r = 0; r <= c->round; r++) {
        heard[r] = c->heard[r];
        own[r] = sent[r];
    }
    TRY(take_head(c, &own[c->round], &merged));
    TRY(take_head(c, &heard[c->round], &merged));
    inner.heard = heard;
    if (x)
        TRY(state_input(c, x, &t));
    return codec_settle(&inner, t, own, decoded, state_inner(c, state));
}

static Status settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    const Call inner = call_inner(c);
    const size_t n = c->shape->n;
    ShiftHead *head = state;
    float *own = (float *)(head + 1), *mean = own + n, *q = NEW(c->scratch, float, n);
    double alpha, left = 0;
    uint64_t merged;
    Bytes last = sent[c->round];
    TRY(arena_check(q, c->scratch, c->err));
    TRY(take_head(c, &last, &merged));
    TRY(codec_decode(&inner, last, q));
    TRY(learning_rate(c, head, &alpha));
    /* before the update of the shifts: settle_inner reads the shifts of this step */
    TRY(settle_inner(c, x, sent, agreed, state));
    const double toward = is_diana(c->self) ? alpha : 1;
    for (size_t i = 0; i < n; i++) {
        own[i] = (float)((double)own[i] + alpha * (double)q[i]);
        mean[i] = (float)((double)mean[i] + toward * ((double)agreed[i] - (double)mean[i]));
        left += x ? ((double)x[i] - (double)own[i]) * ((double)x[i] - (double)own[i]) : 0;
    }
    head->alpha = is_diana(c->self) ? alpha : 0;
    head->left = sqrt(left);
    return OK;
}

static double residual(const Call *c)
{
    return ((const ShiftHead *)c->state)->left;
}

/* ---- traits and variance ---- */

/* Payloads merge only if the inner codec is linear. A merged majority vote, for example, does not decode to the
 * sum of all workers' q. */
static unsigned traits(const Codec *codec)
{
    const double alpha = ((const Shift *)codec->params)->alpha;
    unsigned all = (codec_traits(codec->inner) & ~(unsigned)LEAVES_OUT) | DECODES_STATE;
    if (!(all & LINEAR))
        all &= ~(unsigned)MERGEABLE;
    return is_diana(codec) || isnan(alpha) || alpha == 1 ? all : all & ~(unsigned)UNBIASED;
}

/* Returns E|h + a q - x|^2 = (1 - a)^2 |t|^2 + a^2 V(t), with a = alpha (1 for diana) and V the variance of an
 * unbiased inner codec. */
static double variance(const Call *c, const float *x)
{
    const Call inner = call_inner(c);
    const double a = is_diana(c->self) ? 1 : spec_alpha(c);
    const float *t;
    if (state_input(c, x, &t) != OK || (a < 1 && !wraps_unbiased(c->self)))
        return NAN;
    double norm2 = 0;
    for (size_t i = 0; a < 1 && i < c->shape->n; i++)
        norm2 += (double)t[i] * (double)t[i];
    return (1 - a) * (1 - a) * norm2 + a * a * codec_variance(&inner, t);
}

/* Around its mean, the estimate's error is a times the inner codec's error on t = x - h, with a = alpha (1 for
 * diana). The error's component along x is unknown, so m->weighted is NaN. */
static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    const Call inner = call_inner(c);
    const double a = is_diana(c->self) ? 1 : spec_alpha(c);
    const float *t;
    if (state_input(c, x, &t) != OK)
        return DEPENDENT;
    const ErrorLaw law = codec_moments(&inner, t, m);
    if (law == ATOMWISE && (c->state || a < 1)) {
        m->squares *= a * a * a * a;
        m->fourths *= a * a * a * a;
        m->weighted = NAN;
        m->none = 0;
    }
    return law;
}

static const char *caution(const Codec *codec)
{
    const bool whole = !(((const Shift *)codec->params)->alpha < 1),
               noisy = codec_traits(codec->inner) & RANDOM;
    if (is_diana(codec))
        return wraps_unbiased(codec) ? NULL : "diana is for unbiased codecs; for a biased one take ef21";
    return whole && noisy && wraps_unbiased(codec)
               ? "ef21 round an unbiased codec diverges wherever its variance exceeds |g|^2: take diana"
               : NULL;
}

#define SHIFT                                                                                                \
    .params = schema, .wraps = true, .marks = true, .traits = traits,          \
    .bound = bound, .encode = encode, .decode = decode, .merge = merge, .variance = variance,                \
    .moments = moments, .input = subtract, .state_size = state_size, .settle = settle,            \
    .residual = residual, .caution = caution

static const Compressor compressor_ef21 = {
    .name = "ef21",
    .brief = "differences to a shift that learns, for biased codecs",
    .plain = "Keeps a shift that sender and receivers learn together, and sends the difference from it "
             "through the codec behind it. The result is the shift plus that.",
    .use_when = "the codec behind it is biased, and gradients change little from step to step.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
               "atomo-bench compare g.h5 -c ef21+topk:ratio=0.05 -c ef+topk:ratio=0.05",
    .formula =
        "q = decoded inner codec of g - h; decoded = h + alpha q, which is the next h. alpha = auto is 1.\n"
        "The shift h starts at zero, one per worker and tensor; residual_norm is |g - h| after the step.",
    .paper = "Richtarik, Sokolov, Fatkhullin: EF21: A New, Simpler, Theoretically Better, and Practically\n"
             "Faster Error Feedback, NeurIPS 2021",
    SHIFT,
};

static const Compressor compressor_diana = {
    .name = "diana",
    .brief = "differences to a shift that learns, for unbiased codecs",
    .plain = "Keeps a shift that sender and receivers learn together, and sends the difference from it "
             "through the codec behind it. The mean stays the gradient.",
    .use_when = "the codec behind it is unbiased, and its variance should fade as gradients settle.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
               "atomo-bench compare g.h5 -c diana+qsgd:bits=2 -c qsgd:bits=2",
    .formula =
        "q = decoded inner codec of g - h; decoded = h + q; the next h = h + alpha q.\n"
        "alpha = auto: 1/(1 + omega), omega the largest variance over |x|^2 that the inner codec has on\n"
        "four hard vectors of the tensor's shape (noise, one size, a peak, spikes); 1 round a biased codec.\n"
        "variance: the inner codec's at g - h. The shift h starts at zero, one per worker and tensor;\n"
        "residual_norm is |g - h| after the step.",
    .paper = "Mishchenko, Gorbunov, Takac, Richtarik: Distributed Learning with Compressed Gradient\n"
             "Differences, arXiv 1901.09269, 2019",
    SHIFT,
};

const Compressor *const compressors_shifts[] = {&compressor_ef21, &compressor_diana, NULL};
