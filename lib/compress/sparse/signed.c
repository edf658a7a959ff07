/* signed.c -- stc, adaq and strom. A payload has the indices and the signs of a
 * set of elements, and one magnitude for all elements or one for each sign. Elements outside the set decode to
 * 0.
 *
 *     kind:8  set  [ { magnitude:f32 } x (1 or 2)  signs ]        the bracket only if the set is not empty
 *
 * indices.h describes the code of `set`, and planes.h the code of `signs`; sign k is the sign of the k-th
 * element of the set. If there are two magnitudes, the first is for positive elements and the second for
 * negative elements. A sign without elements has magnitude 0. Zeros are never in the set. The tensor is sent as
 * raw floats if raw floats are not longer. */
#include "compress/sparse/sparse.h"
#include "coder/indices.h"
#include "base/parallel.h"
#include "coder/planes.h"
#include "math/blockwise.h"

#include <float.h>
#include <math.h>

enum { PLUS, MINUS, SIDES };

typedef struct {
    const Call *c;
    Picks picks;
    size_t count[SIDES]; /* number of selected elements of each sign */
    double sum[SIDES];   /* sum of the magnitudes of the selected elements of each sign */
} SignedSet;

enum { WORDS = BLOCK / 64 };

/* The hook `bound` of a Compressor. */
static size_t signed_set_bound(const Call *c)
{
    const size_t n = c->shape->n;
    return 1 + indices_bound(n) + 4 * SIDES + signs_size(n);
}

/* Opens an empty set of elements of x (shape->n), which must outlive the set. To fill it, select elements in
 * s->picks (math/select.h), then call signed_set_count, which computes counts and sums. */
static Status signed_set_open(SignedSet *s, const Call *c, const float *x)
{
    *s = (SignedSet){.c = c};
    return select_open(&s->picks, x, c->shape->n, c->threads, c->scratch) ? OK
                                                                          : arena_fail(c->scratch, c->err);
}

/* ---- counting ---- */

typedef struct {
    size_t count[SIDES];
    double sum[SIDES];
} SidePart;

static void add_one(SidePart *part, float v)
{
    part->count[v < 0]++;
    part->sum[v < 0] += fabs((double)v);
}

static void add_part(SignedSet *s, const SidePart *part)
{
    for (int side = 0; side < SIDES; side++) {
        s->count[side] += part->count[side];
        s->sum[side] += part->sum[side];
    }
}

typedef struct {
    const Picks *picks;
    SidePart *part; /* for each block of 2^16 elements */
} SetCount;

static void count_block(void *data, size_t block)
{
    const SetCount *job = data;
    const Picks *p = job->picks;
    SidePart part = {0};
    for (size_t w = block * WORDS; w < (block + 1) * WORDS && 64 * w < p->n; w++)
        for (uint64_t left = p->bits[w]; left; left &= left - 1)
            add_one(&part, p->x[64 * w + (size_t)__builtin_ctzll(left)]);
    job->part[block] = part;
}

/* Like count_block, sums each block by itself, so that a list of indices and a bitmap give the same
 * rounding. */
static void count_list(SignedSet *s)
{
    const Picks *p = &s->picks;
    for (size_t i = 0, block; i < p->count;) {
        SidePart part = {0};
        for (block = p->place[i] / BLOCK; i < p->count && p->place[i] / BLOCK == block; i++)
            add_one(&part, p->value[i]);
        add_part(s, &part);
    }
}

static Status signed_set_count(SignedSet *s)
{
    const Call *c = s->c;
    const size_t blocks = blocks_of(s->picks.n);
    TRY(arena_check(select_list(&s->picks), c->scratch, c->err));
    if (s->picks.place) {
        count_list(s);
        return OK;
    }
    SetCount job = {&s->picks, NEW(c->scratch, SidePart, blocks)};
    TRY(arena_check(job.part, c->scratch, c->err));
    parallel_for(c->threads, blocks, count_block, &job);
    for (size_t b = 0; b < blocks; b++)
        add_part(s, &job.part[b]);
    return OK;
}

/* ---- writing ---- */

typedef struct {
    const Picks *picks;
    const size_t *before; /* select_before */
    uint8_t *out;
} SetSigns;

static void sign_block(void *data, size_t block)
{
    const SetSigns *job = data;
    const Picks *p = job->picks;
    SignPen pen = signs_pen(job->out, job->before[block]);
    for (size_t w = block * WORDS; w < (block + 1) * WORDS && 64 * w < p->n; w++)
        for (uint64_t left = p->bits[w]; left; left &= left - 1)
            signs_add(&pen, p->x[64 * w + (size_t)__builtin_ctzll(left)] < 0);
    signs_flush(&pen);
}

static Status put_signs(const Call *c, const Picks *p, uint8_t *out)
{
    if (p->place) {
        signs_put(p->value, p->count, out);
        return OK;
    }
    SetSigns job = {p, select_before(p), out};
    TRY(arena_check(job.before, c->scratch, c->err));
    memset(out, 0, signs_size(p->count));
    parallel_for(c->threads, blocks_of(p->n), sign_block, &job);
    return OK;
}

/* Writes the payload; `magnitudes` is 1 or 2. */
static Status signed_set_put(const SignedSet *s, const float *magnitude, size_t magnitudes, Buf *out)
{
    const Picks *p = &s->picks;
    const size_t start = out->size;
    const Call *c = s->c;
    buf_u8(out, PAYLOAD_METHOD);
    const Indices set = picks_indices(p);
    indices_put(&set, p->n, out);
    if (out->size - start + (p->count ? 4 * magnitudes + signs_size(p->count) : 0) >= raw_size(c)) {
        out->size = start;
        return raw_put(c, p->x, out);
    }
    for (size_t m = 0; p->count && m < magnitudes; m++)
        buf_f32(out, magnitude[m]);
    TRY(put_signs(c, p, buf_room(out, signs_size(p->count))));
    streams_floats(c->streams, p->count ? magnitudes : 0);
    streams_bits(c->streams, (double)p->count);
    streams_gaps(c, &set);
    return OK;
}

/* ---- reading ---- */

typedef struct {
    size_t n;
    Places set;
    const uint8_t *sign;
    float value[SIDES];
    float *x;
} SetFill;

static void fill_signed(void *data, size_t block)
{
    const SetFill *f = data;
    float *const x = f->x + block * BLOCK;
    memset(x, 0, block_size(f->n, block) * sizeof *x);
    for (size_t k = f->set.before[block]; k < f->set.before[block + 1]; k++)
        x[f->set.at[k]] = f->value[signs_bit(f->sign, k)];
}

/* Refuses a magnitude that is not positive and finite; for a sign without elements, refuses any magnitude but
 * 0. A single magnitude is used for both signs. */
static Status take_magnitudes(const Call *c, SetFill *f, const uint8_t *in, size_t magnitudes)
{
    const size_t minus = signs_count(f->sign, f->set.count), count[SIDES] = {f->set.count - minus, minus};
    for (size_t side = 0; side < SIDES; side++) {
        const float v = load_f32(in + (magnitudes == 1 ? 0 : 4 * side));
        const bool some = magnitudes == 1 || count[side];
        if (some ? !(v > 0 && isfinite(v)) : float_bits(v) != 0)
            return payload_bad(c, "magnitude %g, want %s", (double)v,
                               some ? "a finite number above 0" : "0 for a side without elements");
        f->value[side] = side == PLUS ? v : -v;
    }
    return OK;
}

/* Decodes a payload into x (shape->n). Refuses a set of more than `most` elements. Sets magnitude[] to the two
 * magnitudes, or to zeros if the set is empty. */
static Status signed_set_get(const Call *c, Bytes bytes, size_t magnitudes, size_t most, float *x,
                      float magnitude[SIDES])
{
    Reader in = reader_open(bytes);
    SetFill f = {.n = c->shape->n, .x = x};
    TRY(payload_kind(c, take_u8(&in), PAYLOAD_METHOD));
    TRY(payload_set(c, &in, f.n, &f.set));
    const bool some = !in.bad && f.set.count;
    const uint8_t *sizes = some ? take_bytes(&in, 4 * magnitudes) : NULL;
    f.sign = some ? take_bytes(&in, signs_size(f.set.count)) : NULL;
    TRY(payload_end(c, &in));
    if (f.set.count > most)
        return payload_bad(c, "%zu elements, want %zu at most", f.set.count, most);
    TRY(payload_shorter(c, bytes));
    if (some && !signs_clean(f.sign, f.set.count))
        return payload_bad(c, "padding behind the signs is not zero");
    if (some)
        TRY(take_magnitudes(c, &f, sizes, magnitudes));
    for (int side = 0; side < SIDES; side++)
        magnitude[side] = fabsf(f.value[side]);
    parallel_for(c->threads, blocks_of(f.n), fill_signed, &f);
    return OK;
}

/* The only key of stc and adaq. */
typedef struct {
    double ratio;
} Ratio;

static double ratio_of(const Call *c)
{
    return ((const Ratio *)c->self->params)->ratio;
}

/* ---- stc: sparse ternary compression (Sattler, Wiedemann, Mueller, Samek 2019): sends the k elements of
 * largest magnitude, each as its sign times the mean magnitude of the k elements. The payload has the format of
 * sparse.h with one magnitude. ---- */

static const Param stc_schema[] = {
    PARAM(Ratio, ratio, "0.01", 0, 1, "elements sent as a share of all", .above = true, .rate = true),
    {0},
};

static size_t wanted(const Call *c)
{
    return picks_wanted(c->shape->n, ratio_of(c));
}

static Status stc_encode(const Call *c, const float *x, Buf *out)
{
    SignedSet s;
    TRY(signed_set_open(&s, c, x));
    TRY(arena_check(select_top(&s.picks, wanted(c)), c->scratch, c->err));
    TRY(signed_set_count(&s));
    const size_t count = s.picks.count;
    const float mean = count ? (float)((s.sum[PLUS] + s.sum[MINUS]) / (double)count) : 0;
    return signed_set_put(&s, &mean, 1, out);
}

static Status stc_decode(const Call *c, Bytes in, float *x)
{
    float magnitude[SIDES];
    return signed_set_get(c, in, 1, wanted(c), x, magnitude);
}

const Compressor compressor_stc = {
    .name = "stc",
    .brief = "sparse ternary: the k largest, each as its sign times their mean magnitude",
    .plain = "Sends the k largest elements as signs, all with their mean magnitude. An element costs a gap "
             "between indices and one bit.",
    .use_when = "the floats of topk take too many bytes: ef+stc.",
    .example = "atomo-bench synth -o g.h5 --steps 4\n"
               "atomo-bench compare g.h5 -c ef+stc:ratio=0.01 -c ef+topk:ratio=0.01",
    .formula = "k = max(1, floor(ratio n + 1/2)); S = the k largest |g_i|, of equal ones the first\n"
               "mu = mean of |g_i| over S;  decode mu sgn(g_i) for i in S, else 0\n"
               "|g^ - g|^2 = |g|^2 - k mu^2. An element costs its gap and its sign.\n"
               "Zeros never travel: where fewer than k elements are not zero, those are sent.\n"
               "Biased: meant for ef+stc.",
    .paper =
        "Sattler, Wiedemann, Mueller, Samek: Robust and Communication-Efficient Federated Learning from\n"
        "Non-IID Data, IEEE TNNLS 2019",
    .look = {HUE_SPARSE, 2, 1},
    .params = stc_schema,
    .params_size = sizeof(Ratio),
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = signed_set_bound,
    .encode = stc_encode,
    .decode = stc_decode,
};

/* ---- adaq: adaptive quantisation (Dryden, Moon, Jacobs, Van Essen 2016). Of the positive elements, sends the
 * share `ratio` of largest magnitude, each as their common mean; likewise of the negative elements. The payload
 * has the format of sparse.h with two magnitudes. ---- */

static const Param adaq_schema[] = {
    PARAM(Ratio, ratio, "0.01", 0, 1, "elements sent as a share of each sign's", .above = true, .rate = true),
    {0},
};

/* ---- number of positive and of negative elements ---- */

typedef struct {
    const float *x;
    size_t n, (*of)[SIDES]; /* of: for each block, the numbers of positive and of negative elements */
} AdaqSides;

static void adaq_count_block(void *data, size_t block)
{
    const AdaqSides *s = data;
    const float *x = s->x + block * BLOCK;
    uint32_t above = 0, below = 0;
    for (size_t i = 0; i < block_size(s->n, block); i++) {
        above += x[i] > 0;
        below += x[i] < 0;
    }
    s->of[block][PLUS] = above;
    s->of[block][MINUS] = below;
}

static Status count_sides(const Call *c, const float *x, size_t of[SIDES])
{
    const size_t n = c->shape->n, blocks = blocks_of(n);
    AdaqSides s = {x, n, arena_take(c->scratch, blocks + 1, sizeof *s.of)};
    TRY(arena_check(s.of, c->scratch, c->err));
    parallel_for(c->threads, blocks, adaq_count_block, &s);
    for (int side = 0; side < SIDES; side++) {
        of[side] = 0;
        for (size_t b = 0; b < blocks; b++)
            of[side] += s.of[b][side];
    }
    return OK;
}

/* ---- the hooks of the codec ---- */

static Status adaq_encode(const Call *c, const float *x, Buf *out)
{
    float mean[SIDES] = {0};
    size_t of[SIDES] = {0, 0};
    SignedSet s;
    TRY(count_sides(c, x, of));
    TRY(signed_set_open(&s, c, x));
    TRY(arena_check(select_sides(&s.picks, (const size_t[SIDES]){picks_wanted(of[PLUS], ratio_of(c)),
                                                                 picks_wanted(of[MINUS], ratio_of(c))}),
                    c->scratch, c->err));
    TRY(signed_set_count(&s));
    for (int side = 0; side < SIDES; side++)
        if (s.count[side])
            mean[side] = (float)(s.sum[side] / (double)s.count[side]);
    return signed_set_put(&s, mean, SIDES, out);
}

/* Of m elements of a sign, an encoder sends picks_wanted(m, ratio), which is at most ratio m + 1. */
static Status adaq_decode(const Call *c, Bytes in, float *x)
{
    const size_t n = c->shape->n, most = (size_t)(ratio_of(c) * (double)n) + 2;
    float magnitude[SIDES];
    return signed_set_get(c, in, SIDES, most, x, magnitude);
}

const Compressor compressor_adaq = {
    .name = "adaq",
    .brief = "the largest of each sign, at that sign's mean",
    .plain = "Sends the largest positive elements as their mean and the largest negative elements as "
             "theirs. An element costs a gap between indices and one bit.",
    .use_when = "positive and negative elements are distributed differently, and floats take too many "
                "bytes: ef+adaq.",
    .example = "atomo-bench synth -o g.h5 --steps 4\n"
               "atomo-bench compare g.h5 -c ef+adaq:ratio=0.01 -c ef+stc:ratio=0.01",
    .formula =
        "S+ = the max(1, floor(ratio n+ + 1/2)) largest of the n+ positive elements, S- alike;\n"
        "of equal ones the first. decode mean of S+ for i in S+, mean of S- for i in S-, else 0.\n"
        "Both thresholds adapt to the gradient; zeros never travel. An element costs its gap and its sign.\n"
        "Biased: meant for ef+adaq.",
    .paper =
        "Dryden, Moon, Jacobs, Van Essen: Communication Quantization for Data-Parallel Training of Deep\n"
        "Neural Networks, MLHPC 2016",
    .look = {HUE_SPARSE, 3, 2},
    .params = adaq_schema,
    .params_size = sizeof(Ratio),
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = signed_set_bound,
    .encode = adaq_encode,
    .decode = adaq_decode,
};

/* ---- strom: threshold quantisation (Strom 2015): an element whose accumulated value reaches tau is sent as
 * plus or minus tau; the remainder is added to the gradients of later steps.
 *
 *     t = x + r        decode tau sgn(t_i) where |t_i| >= tau, else 0        r = t - decoded
 *
 * The payload has the format of sparse.h with one magnitude, tau. State: r (n floats). ---- */

typedef struct {
    double tau;
} Strom;

static const Param strom_schema[] = {
    PARAM(Strom, tau, NULL, 0, 3.4028234663852886e38,
          "the threshold and what is sent; if unset, half the root mean square of t", .above = true,
          .rate = true),
    {0},
};

/* Returns the spec's tau. NaN: the spec sets no tau, and half the root mean square of t is used. */
static double tau_of(const Call *c)
{
    return ((const Strom *)c->self->params)->tau;
}

static float threshold(double tau)
{
    const float nearest = (float)tau;
    return nearest > 0 ? nearest : FLT_TRUE_MIN;
}

/* ---- accumulated values: the gradient plus the residual ---- */

static size_t state_size(const Call *c)
{
    return sizeof(float) * c->shape->n;
}

/* Returns t = x + r in scratch, or x if there is no state. Returns NULL on an error, which is in c->err. */
static const float *gathered(const Call *c, const float *x)
{
    const size_t n = c->shape->n;
    const float *r = c->state;
    if (!r)
        return x;
    float *t = NEW(c->scratch, float, n);
    if (!t) {
        arena_fail(c->scratch, c->err);
        return NULL;
    }
    if (blockwise_add(x, r, 1, n, c->threads, t))
        return t;
    FAIL(c->err, ERR_NUMERIC, "strom: gradient plus residual is beyond float32 at element %zu",
         first_nonfinite(t, n, NULL));
    return NULL;
}

static float half_rms(const float *t, size_t n, int threads)
{
    return threshold(n ? 0.5 * sqrt(blockwise_squares(t, n, threads) / (double)n) : 0);
}

/* ---- the hooks of the codec ---- */

static Status strom_encode(const Call *c, const float *x, Buf *out)
{
    const float *t = gathered(c, x);
    SignedSet s;
    if (!t)
        return c->err->status;
    const float tau = isnan(tau_of(c)) ? half_rms(t, c->shape->n, c->threads) : threshold(tau_of(c));
    TRY(signed_set_open(&s, c, t));
    select_from(&s.picks, (double)tau);
    TRY(signed_set_count(&s));
    return signed_set_put(&s, &tau, 1, out);
}

static Status strom_decode(const Call *c, Bytes in, float *x)
{
    float tau[SIDES] = {0};
    TRY(signed_set_get(c, in, 1, c->shape->n, x, tau));
    if (!isnan(tau_of(c)) && tau[PLUS] > 0 && tau[PLUS] != threshold(tau_of(c)))
        return payload_bad(c, "magnitude %g, want tau = %g", (double)tau[PLUS], tau_of(c));
    return OK;
}

static Status settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    const size_t n = c->shape->n;
    const float *t = gathered(c, x);
    float *r = state, *decoded = NEW(c->scratch, float, n);
    (void)agreed;
    if (!t)
        return c->err->status;
    TRY(arena_check(decoded, c->scratch, c->err));
    TRY(codec_decode(c, sent[0], decoded));
    blockwise_add(t, decoded, -1, n, c->threads, r);
    return OK;
}

static double residual(const Call *c)
{
    return c->state ? sqrt(blockwise_squares(c->state, c->shape->n, c->threads)) : 0;
}

const Compressor compressor_strom = {
    .name = "strom",
    .brief = "elements that have gathered tau or more send plus or minus tau, the rest waits",
    .plain = "Adds gradients up at each worker. An element whose sum has reached tau sends plus or minus "
             "tau, and the rest of the sum waits.",
    .use_when = "you reproduce Strom's method, or payloads should be small whenever little has gathered.",
    .example = "atomo-bench synth -o g.h5 --steps 4\n"
               "atomo-bench compare g.h5 -c strom",
    .formula =
        "t = g + r;  decode tau sgn(t_i) where |t_i| >= tau, else 0;  r = t - decoded\n"
        "The state r starts at zero, one per worker and tensor: error feedback is part of the method.\n"
        "tau = half the root mean square of t unless it is given; it travels with each payload.\n"
        "An element costs its gap and its sign. Biased in each step; nothing is lost over steps.",
    .paper = "Strom: Scalable Distributed DNN Training Using Commodity GPU Cloud Computing, Interspeech 2015",
    .look = {HUE_SPARSE, 4, 3},
    .params = strom_schema,
    .params_size = sizeof(Strom),
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = signed_set_bound,
    .encode = strom_encode,
    .decode = strom_decode,
    .state_size = state_size,
    .settle = settle,
    .residual = residual,
};
