/* joint.c -- divides one bit budget between all tensors of a step. The water levels are chosen so that one more
 * bit saves the same variance in every tensor (Wang et al. 2018 leave this for future work; offers.h has the
 * method).
 *
 * joint+CODEC sends CODEC's payload. `joint` without a codec chooses between two codecs for each tensor, and
 * sends
 *
 *     kind:8 = 0  { x:f32 } x n     or     kind:8 = 1  codec:8  the codec's payload without its kind byte */
#include "compress/atoms/offers.h"
#include "compress/wrapper.h"

#include <math.h>

typedef struct {
    double bits;
} Joint;

static const Param schema[] = {
    PARAM(Joint, bits, "1", 0, 64, "payload bits an element, over all tensors of a step", .above = true,
          .rate = true),
    {0},
};

/* ---- the plan: for each tensor an Offer, a point of a curve of variance against bits ---- */

static const Codec *codec_of(const Codec *self, int i)
{
    return i ? self->other : self->inner;
}

/* Turns one tensor's curves (variance against bits) into offers. For `joint` without a codec, adds the bits
 * of the byte that names the chosen codec. The second codec may have no curve: svd has none for matrices too
 * large for LAPACK. */
static Status make_offers(const Call *c, const float *x, CurvePoint *const room[OFFER_CODECS], Arena *a,
                          Offers *o)
{
    size_t count[OFFER_CODECS] = {0};
    for (int i = 0; i < OFFER_CODECS && codec_of(c->self, i); i++) {
        Call inner = call_inner(c, 0);
        inner.self = codec_of(c->self, i);
        const Status status = codec_curve(&inner, x, room[i], &count[i]);
        if (status != OK && (i == 0 || status == ERR_MEMORY))
            return status;
        if (status != OK)
            count[i] = 0;
        for (size_t k = 0; c->self->other && k < count[i]; k++)
            room[i][k].bits = fmin(room[i][k].bits + 8, 8 * (double)raw_size(c));
    }
    return offers_make(o, room, count, a, c->err);
}

static Status plan(const Step *step, void *records)
{
    const Call *c = step->call;
    const double bits = ((const Joint *)c->self->params)->bits;
    Offers *o = NEW(c->scratch, Offers, step->count);
    CurvePoint *const room[OFFER_CODECS] = {NEW(c->scratch, CurvePoint, CURVE_MOST),
                                            NEW(c->scratch, CurvePoint, CURVE_MOST)};
    double elements = 0;
    TRY(arena_check(o && room[0] && room[1], c->scratch, c->err));
    for (size_t j = 0; j < step->count; j++) {
        const float *x = step->load(step->data, j, c->err);
        if (!x)
            return c->err->status;
        TRY(make_offers(&step->call[j], x, room, c->scratch, &o[j]));
        elements += (double)step->call[j].shape->n;
    }
    return offers_choose(o, step->count, bits * elements, records, c->scratch, c->err);
}

/* ---- the hooks for one tensor ---- */

static const float *load_own(void *data, size_t j, Error *err)
{
    (void)j, (void)err;
    return data;
}

/* Makes the Call (arguments) of the inner codec, with the water level that the plan gives this tensor. Without
 * a plan, makes a plan for this tensor alone. */
static Status open_inner(const Call *c, const float *x, Offer *offer, Call *inner)
{
    if (c->plan) {
        *offer = *(const Offer *)c->plan;
    } else {
        const Step alone = {1, c, load_own, (void *)(uintptr_t)x};
        TRY(codec_plan(&alone, offer));
    }
    *inner = call_inner(c, 0);
    inner->self = codec_of(c->self, offer->codec);
    inner->plan = &offer->at;
    return OK;
}

static size_t bound(const Call *c)
{
    Call inner = call_inner(c, 0);
    const size_t first = codec_bound(&inner);
    if (!c->self->other)
        return first;
    inner.self = c->self->other;
    const size_t second = codec_bound(&inner);
    return 1 + (first > second ? first : second);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const size_t start = out->size;
    Offer offer;
    Call inner;
    TRY(open_inner(c, x, &offer, &inner));
    TRY(codec_encode(&inner, x, out));
    if (c->self->other && out->data[start] != PAYLOAD_RAW) {
        buf_u8(out, 0);
        memmove(out->data + start + 2, out->data + start + 1, out->size - start - 2);
        out->data[start + 1] = (uint8_t)offer.codec;
        streams_bits(c->streams, 8);
    }
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    Call inner = call_inner(c, 0);
    inner.plan = NULL;
    if (!c->self->other)
        return codec_decode(&inner, in, x);
    TRY(payload_kind(c, in.data[0], PAYLOAD_METHOD));
    if (in.size < 2 || in.data[1] >= OFFER_CODECS)
        return payload_bad(c, "it names no codec");
    inner.self = codec_of(c->self, in.data[1]);
    uint8_t *payload = NEW(c->scratch, uint8_t, in.size - 1);
    TRY(arena_check(payload, c->scratch, c->err));
    payload[0] = PAYLOAD_METHOD;
    memcpy(payload + 1, in.data + 2, in.size - 2);
    return codec_decode(&inner, (Bytes){payload, in.size - 1}, x);
}

static double variance(const Call *c, const float *x)
{
    Offer offer;
    Call inner;
    return open_inner(c, x, &offer, &inner) == OK ? codec_variance(&inner, x) : NAN;
}

static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    Offer offer;
    Call inner;
    return open_inner(c, x, &offer, &inner) == OK ? codec_moments(&inner, x, m) : DEPENDENT;
}

/* ---- checking the spec ---- */

static unsigned traits(const Codec *codec)
{
    return codec_traits(codec->inner) & (codec->other ? codec_traits(codec->other) : ~0u);
}

/* Refuses keys of the inner codec that set its rate, because joint sets the rate. Also refuses keys that
 * change the inner codec's variance at given bits, because joint's curves assume the defaults of these keys. */
static Status check_inner(const Codec *inner, Error *err)
{
    static const char *const kept[][2] = {{"probs", "optimal"}, {"empty", "send"}};
    const Param *keys = inner->ops->params, *rate = param_rate(keys);
    char value[32];
    for (const Param *p = keys; p->key; p++) {
        const char *now = param_value(p, inner->params, value);
        if (param_is_default(p, inner->params))
            continue;
        if (p == rate || (rate->group && p->group == rate->group)) {
            FAIL(err, ERR_USAGE, "joint: %s=%s has no effect, the common budget sets every level", p->key,
                 now);
            return error_hint(err, "write joint:bits=B+%s, with B payload bits an element", inner->ops->name);
        }
        for (size_t k = 0; k < countof(kept); k++)
            if (!strcmp(p->key, kept[k][0]) && strcmp(now, kept[k][1]))
                return FAIL(err, ERR_USAGE, "joint: %s=%s has no curve of least variance, want %s=%s", p->key,
                            now, p->key, kept[k][1]);
    }
    return OK;
}

static Status check(const Codec *codec, Error *err)
{
    if (!codec->inner->ops->curve) {
        FAIL(err, ERR_USAGE, "joint: %s has no curve of bits and variance by level", codec->inner->ops->name);
        return error_hint(
            err,
            "joint+CODEC takes entry, svd, dct, wavelet or hadamard; joint alone takes the better of entry and svd for each tensor");
    }
    return check_inner(codec->inner, err);
}

const Compressor compressor_joint = {
    .name = "joint",
    .brief = "one bit budget for all tensors of a step",
    .plain = "Divides one budget of bits among all tensors of a step, so that one more bit saves as much "
             "variance in any tensor as in any other. Alone it chooses between elements and singular "
             "vectors for each tensor.",
    .use_when = "layers differ much in size or structure, and only the bytes of the whole model count.",
    .example = "atomo-bench synth -o g.h5\n"
               "atomo-bench compare g.h5 -c joint:bits=1 -c joint:bits=1+entry",
    .formula =
        "min sum lambda^2 / p over all atoms of all tensors, sum of expected payload bits = bits n:\n"
        "p = min(1, |lambda| / (sqrt(c_j) t)), c_j = bits of one more atom in tensor j; one t for the model\n"
        "variance: the sum of the tensors' variances\n"
        "joint+CODEC has CODEC's atoms (entry, svd, wavelet, hadamard, dct). joint alone chooses entry or svd\n"
        "for each tensor, whichever has less variance, and decomposes each tensor as svd does to find out.\n"
        "Tensors that --min-elements sends as floats are not part of the budget.",
    .paper = "Wang et al., ATOMO, NeurIPS 2018, which leaves joint budgets for future work",
    .look = {HUE_ATOMS, 2, 3},
    .params = schema,
    .params_size = sizeof(Joint),
    .wraps = true,
    .alone = {"entry", "svd"},
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .check = check,
    .variance = variance,
    .moments = moments,
    .plan_size = sizeof(Offer),
    .plan = plan,
};
