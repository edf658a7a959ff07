/* joint.c -- divides one bit budget between all tensors of a step. The water levels are chosen so that one more
 * bit saves the same variance in every tensor (Wang et al. 2018 leave this for future work).
 *
 * Minimises sum_j V_j subject to sum_j bits_j = B (V_j: variance of tensor j, B: budget). Each tensor gets bits
 * until one more bit would lower its variance by less than mu; mu is the same for all tensors. At water level
 * tau the variance is V = tau T1 - T2. T1 and T2 are the sums of |lambda| and lambda^2 over the light atoms (p
 * < 1), where lambda is an atom's coefficient. So dV / dtau = T1, and dbits / dtau = -c T1 / tau^2, where c is
 * the bits of one more expected atom. Hence tau_j = sqrt(mu c_j), and an atom is kept with p = min(1, |lambda|
 * / (sqrt(c_j) t)), t = sqrt(mu).
 *
 * Curves need not be convex: raw floats may become shorter than atoms, or the curves of two codecs may cross.
 * So mu is searched on their lower convex hulls.
 *
 * joint+CODEC sends CODEC's payload. `joint` without a codec chooses between two codecs for each tensor, and
 * sends
 *
 *     kind:8 = 0  { x:f32 } x n     or     kind:8 = 1  codec:8  the codec's payload without its kind byte */
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

typedef struct {
    CurvePoint at;
    int codec; /* index (0 or 1) of the codec whose curve the point is on */
} Offer;

/* All offers for one tensor: points of one or two curves. */
typedef struct {
    Offer *item; /* `count` offers, by rising bits */
    /* `corners` indices in `item`: the corners of the lower convex hull, with rising bits and falling
     * variance */
    size_t *corner;
    size_t count, corners;
} Offers;

enum { OFFER_CODECS = 2 };

enum { JUMPS_MOST = 16 };

/* Offers that save less than the share LEAST_SAVING of the variance are ignored: so small a saving may be
 * rounding error. */
#define LEAST_SAVING 1e-9

/* ---- the offers for one tensor: points of its curve of variance against bits. A tensor's hull is the lower convex hull of
 * its offers; mu is the variance that one more bit must save ---- */

static const CurvePoint *corner(const Offers *o, size_t k)
{
    return &o->item[o->corner[k]].at;
}

static double saving(const CurvePoint *from, const CurvePoint *to)
{
    return (from->variance - to->variance) / (to->bits - from->bits);
}

/* Returns the variance saved per bit from corner k - 1 to corner k > 0 of the lower convex hull. The saving
 * falls as k grows. */
static double saving_at(const Offers *o, size_t k)
{
    return saving(corner(o, k - 1), corner(o, k));
}

static void find_corners(Offers *o)
{
    for (size_t i = 0; i < o->count; i++) {
        const CurvePoint *p = &o->item[i].at;
        while (o->corners && p->bits <= corner(o, o->corners - 1)->bits &&
               p->variance < corner(o, o->corners - 1)->variance)
            o->corners--;
        if (o->corners && p->variance >= corner(o, o->corners - 1)->variance * (1 - LEAST_SAVING))
            continue;
        while (o->corners > 1 && saving_at(o, o->corners - 1) <= saving(corner(o, o->corners - 1), p))
            o->corners--;
        o->corner[o->corners++] = i;
    }
}

/* Joins the curves of one tensor into offers, in memory of `a`. A curve with count 0 is absent. Leaves out
 * points of the second curve that have fewer bits than every point of the first curve. At such points less than
 * one atom is expected, so most draws would be empty. */
static Status offers_make(Offers *o, CurvePoint *const curve[OFFER_CODECS], const size_t count[OFFER_CODECS],
                   Arena *a, Error *err)
{
    size_t next[OFFER_CODECS] = {0};
    while (count[0] && next[1] < count[1] && curve[1][next[1]].bits < curve[0][0].bits &&
           curve[1][next[1]].variance > 0)
        next[1]++;
    *o = (Offers){.item = NEW(a, Offer, count[0] + count[1]), .corner = NEW(a, size_t, count[0] + count[1])};
    TRY(arena_check(o->item && o->corner, a, err));
    while (next[0] < count[0] || next[1] < count[1]) {
        const bool second =
            next[0] == count[0] || (next[1] < count[1] && curve[1][next[1]].bits < curve[0][next[0]].bits);
        o->item[o->count++] = (Offer){curve[second][next[second]], second};
        next[second]++;
    }
    find_corners(o);
    return OK;
}

/* Returns the index of the last corner k > 0 of the hull with saving_at(k) >= mu, or 0 if there is none. */
static size_t corner_of(const Offers *o, double mu)
{
    /* invariant: saving_at(low) >= mu or low = 0, and saving_at(high) < mu */
    size_t low = 0, high = o->corners;
    while (high - low > 1) {
        const size_t mid = (low + high) / 2;
        if (saving_at(o, mid) >= mu)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Interpolates the curve at `bits` between its neighbouring points a and b. Returns a if b has water level 0: b
 * is then raw floats or all atoms, with no levels in between. */
static CurvePoint between(const CurvePoint *a, const CurvePoint *b, double bits)
{
    const double share = (bits - a->bits) / (b->bits - a->bits);
    if (b->level == 0 || !(share > 0))
        return *a;
    return (CurvePoint){a->level + share * (b->level - a->level), bits,
                        a->variance + share * (b->variance - a->variance)};
}

/* Returns the offer with the least variance among the offers that take at most `bits`. The offer item[0]
 * must take at most `bits`. */
static Offer best_within(const Offers *o, double bits)
{
    Offer best = o->item[0];
    for (int codec = 0; codec < OFFER_CODECS; codec++) {
        const Offer *last = NULL, *next = NULL;
        for (size_t i = 0; i < o->count && !next; i++)
            if (o->item[i].codec == codec) {
                if (o->item[i].at.bits <= bits)
                    last = &o->item[i];
                else
                    next = &o->item[i];
            }
        if (!last)
            continue;
        const Offer offer = {next ? between(&last->at, &next->at, bits) : last->at, codec};
        best = offer.at.variance < best.at.variance ? offer : best;
    }
    return best;
}

/* ---- dividing the budget between all tensors ---- */

typedef struct {
    const Offers *o;
    size_t tensors;
    const bool *fixed; /* for each tensor: true if its offer is already chosen */
} Market;

static double bits_of(const Market *m, double mu)
{
    double bits = 0;
    for (size_t j = 0; j < m->tensors; j++)
        if (!m->fixed[j])
            bits += corner(&m->o[j], corner_of(&m->o[j], mu))->bits;
    return bits;
}

/* Bounds of the Lagrange multiplier mu at which all tensors without a fixed offer together take `bits`. The
 * bounds are as close as doubles allow. With mu = high the tensors take at most `bits`. With mu = low the
 * tensors take more, unless `bits` suffices for the last corner of every tensor. */
typedef struct {
    double high, low;
} Multiplier;

static Multiplier find_multiplier(const Market *m, double bits)
{
    /* bounds of log2 mu: enough for variances from 2^-300 to 2^300 and for up to 2^70 bits */
    double low = -1000, high = 1000;
    for (int i = 0; i < 100; i++) {
        const double mid = (low + high) / 2;
        if (bits_of(m, exp2(mid)) > bits)
            low = mid;
        else
            high = mid;
    }
    return (Multiplier){exp2(high), exp2(low)};
}

typedef struct {
    double bits, variance;
    /* Index of the first tensor whose next hull corner did not fit in the budget while bits were left; the number
     * of tensors if there is none. */
    size_t cut;
    size_t corner; /* last hull corner of tensor `cut` that fits in the budget */
} Spending;

/* Goes through the tensors without a fixed offer. Moves each tensor from its hull's corner for mu = high
 * towards its corner for mu = low, while the next corner fits in the budget. The first tensor whose next
 * corner does not fit gets the bits that are left, as far as one of its offers can use them. */
static Spending spend(const Market *m, double bits, Offer *chosen)
{
    const Multiplier mu = find_multiplier(m, bits);
    double left = bits - bits_of(m, mu.high);
    Spending spent = {.cut = m->tensors};
    for (size_t j = 0; j < m->tensors; j++) {
        const Offers *o = &m->o[j];
        if (m->fixed[j])
            continue;
        size_t k = corner_of(o, mu.high);
        const size_t end = corner_of(o, mu.low);
        while (k < end && corner(o, k + 1)->bits - corner(o, k)->bits <= left) {
            left -= corner(o, k + 1)->bits - corner(o, k)->bits;
            k++;
        }
        chosen[j] = o->item[o->corner[k]];
        if (k < end && left > 0 && spent.cut == m->tensors) {
            spent.cut = j;
            spent.corner = k;
            chosen[j] = best_within(o, corner(o, k)->bits + left);
            left -= chosen[j].at.bits - corner(o, k)->bits;
        }
        spent.bits += chosen[j].at.bits;
        spent.variance += chosen[j].at.variance;
    }
    return spent;
}

/* Returns the total variance if tensor j takes corner k of its hull and the other tensors share the remaining
 * budget; infinity if that budget is too small. */
static double variance_with(const Market *m, double bits, size_t j, size_t k, Offer *chosen)
{
    const CurvePoint *p = corner(&m->o[j], k);
    const Spending spent = spend(m, bits - p->bits, chosen);
    return spent.bits + p->bits <= bits * (1 + 1e-9) ? p->variance + spent.variance : INFINITY;
}

/* A hull may have a long edge without offers, for example from atoms to raw floats. If the budget ends within
 * the edge, the tensor's best offer may have much more variance than the edge. Then the tensor's offer is fixed
 * at one end of the edge, if that lowers the total variance. The search is repeated for the other tensors,
 * since the budget may then end within an edge of another tensor.
 *
 * Chooses an offer for every tensor and writes them to `chosen`. The bits of the chosen offers add up to
 * `bits`, as nearly as the offers allow. */
static Status offers_choose(const Offers *o, size_t tensors, double bits, Offer *chosen, Arena *a, Error *err)
{
    bool *fixed = NEW_ZERO(a, bool, tensors);
    const Market m = {o, tensors, fixed};
    TRY(arena_check(fixed, a, err));
    for (size_t rounds = 0;; rounds++) {
        const Spending spent = spend(&m, bits, chosen);
        const size_t j = spent.cut, k = spent.corner;
        if (j == tensors || rounds == JUMPS_MOST)
            return OK;
        fixed[j] = true;
        const double below = variance_with(&m, bits, j, k, chosen);
        const double above = variance_with(&m, bits, j, k + 1, chosen);
        if (spent.variance <= fmin(below, above)) {
            fixed[j] = false;
            spend(&m, bits, chosen);
            return OK;
        }
        chosen[j] = o[j].item[o[j].corner[below < above ? k : k + 1]];
        bits -= chosen[j].at.bits;
    }
}

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
        Call inner = call_inner(c);
        inner.self = codec_of(c->self, i);
        const ArenaMark mark = arena_mark(c->scratch);
        const Status status = inner.self->ops->curve(&inner, x, room[i], &count[i]);
        arena_rewind(c->scratch, mark);
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
    *inner = call_inner(c);
    inner->self = codec_of(c->self, offer->codec);
    inner->plan = &offer->at;
    inner->kept = c->kept; /* the inner codec gets the same x */
    return OK;
}

static size_t bound(const Call *c)
{
    Call inner = call_inner(c);
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
    Call inner = call_inner(c);
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
    .example = "atomo-bench synth -o g.h5 --force\n"
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
