/* signed.c -- stc, adaq and strom. A payload of sparse.h has the signs of a set of elements, and as its head one magnitude
 * for all elements or one for each sign.
 *
 *     kind:8  set  [ { magnitude:f32 } x (1 or 2)  signs ]        the bracket only if the set is not empty
 *
 * planes.h describes the code of `signs`; sign k is the sign of the k-th element of the set. If there are two
 * magnitudes, the first is for positive elements and the second for negative elements. A sign without elements has
 * magnitude 0. Zeros are never in the set. */
#include "compress/sparse/sparse.h"
#include "coder/indices.h"
#include "base/parallel.h"
#include "coder/planes.h"
#include "math/blockwise.h"

#include <float.h>
#include <math.h>

enum { PLUS, MINUS, SIDES };

static ValueForm signs_after(size_t magnitudes)
{
    return (ValueForm){.head = 4 * magnitudes, .bits = 1};
}

/* The hook `bound` of a Compressor. */
static size_t signed_bound(const Call *c)
{
    return sparse_bound(c, signs_after(SIDES));
}

/* ---- writing ---- */

typedef struct {
    size_t count[SIDES]; /* number of selected elements of each sign */
    double sum[SIDES];   /* sum of the magnitudes of the selected elements of each sign */
} Sides;

/* Counts and sums the selected elements of each sign. */
static Status sum_sides(const Call *c, Picks *p, Sides *s)
{
    *s = (Sides){.count = {0}};
    TRY(arena_check(select_values(p), c->scratch, c->err));
    const float *value = p->value;
    for (size_t b = 0; b < blocks_of(p->n); value += p->in_block[b++]) {
        double sum[SIDES] = {0};
        for (size_t k = 0; k < p->in_block[b]; k++) {
            s->count[value[k] < 0]++;
            sum[value[k] < 0] += fabs((double)value[k]);
        }
        for (int side = 0; side < SIDES; side++)
            s->sum[side] += sum[side];
    }
    return OK;
}

/* Writes the payload; `magnitudes` is 1 or 2. */
static Status signed_put(const Call *c, Picks *p, const float *magnitude, size_t magnitudes, Buf *out)
{
    uint8_t *values;
    TRY(arena_check(select_values(p), c->scratch, c->err));
    const Indices set = picks_indices(p);
    TRY(sparse_put(c, &set, signs_after(magnitudes), p->x, out, &values));
    if (values && p->count) {
        floats_store(values, magnitude, magnitudes);
        signs_put(p->value, p->count, values + 4 * magnitudes);
    }
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
static Status signed_get(const Call *c, Bytes in, size_t magnitudes, size_t most, float *x, float magnitude[SIDES])
{
    SetFill f = {.n = c->shape->n, .x = x};
    const uint8_t *values;
    TRY(sparse_get(c, in, signs_after(magnitudes), &f.set, &values));
    if (f.set.count > most)
        return payload_bad(c, "%zu elements, want %zu at most", f.set.count, most);
    if (f.set.count) {
        f.sign = values + 4 * magnitudes;
        if (!signs_clean(f.sign, f.set.count))
            return payload_bad(c, "padding behind the signs is not zero");
        TRY(take_magnitudes(c, &f, values, magnitudes));
    }
    for (int side = 0; side < SIDES; side++)
        magnitude[side] = fabsf(f.value[side]);
    parallel_for(c->threads, blocks_of(f.n), fill_signed, &f);
    return OK;
}

/* ---- stc: sparse ternary compression (Sattler, Wiedemann, Mueller, Samek 2019): sends the k elements of
 * largest magnitude, each as its sign times the mean magnitude of the k elements. The payload has the format of
 * sparse.h with one magnitude. ---- */

static const Param stc_schema[] = {RATIO_KEY(Ratio, "0.01", "elements sent as a share of all"), {0}};

static Status stc_encode(const Call *c, const float *x, Buf *out)
{
    Picks p;
    Sides s;
    TRY(picks_open(c, x, &p));
    TRY(arena_check(select_top(&p, picks_wanted(c)), c->scratch, c->err));
    TRY(sum_sides(c, &p, &s));
    const float mean = p.count ? (float)((s.sum[PLUS] + s.sum[MINUS]) / (double)p.count) : 0;
    return signed_put(c, &p, &mean, 1, out);
}

static Status stc_decode(const Call *c, Bytes in, float *x)
{
    float magnitude[SIDES];
    return signed_get(c, in, 1, picks_wanted(c), x, magnitude);
}

static const Compressor compressor_stc = {
    .name = "stc",
    .brief = "sparse ternary: the k largest, each as its sign times their mean magnitude",
    .plain = "Sends the k largest elements as signs, all with their mean magnitude. An element costs a gap "
             "between indices and one bit.",
    .use_when = "the floats of topk take too many bytes: ef+stc.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
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
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = signed_bound,
    .encode = stc_encode,
    .decode = stc_decode,
};

/* ---- adaq: adaptive quantisation (Dryden, Moon, Jacobs, Van Essen 2016). Of the positive elements, sends the
 * share `ratio` of largest magnitude, each as their common mean; likewise of the negative elements. The payload
 * has the format of sparse.h with two magnitudes. ---- */

static const Param adaq_schema[] = {RATIO_KEY(Ratio, "0.01", "elements sent as a share of each sign's"), {0}};

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
    Picks p;
    Sides s;
    TRY(count_sides(c, x, of));
    const size_t wanted[SIDES] = {share_of(of[PLUS], ratio_of(c)), share_of(of[MINUS], ratio_of(c))};
    TRY(picks_open(c, x, &p));
    TRY(arena_check(select_sides(&p, wanted), c->scratch, c->err));
    TRY(sum_sides(c, &p, &s));
    for (int side = 0; side < SIDES; side++)
        if (s.count[side])
            mean[side] = (float)(s.sum[side] / (double)s.count[side]);
    return signed_put(c, &p, mean, SIDES, out);
}

/* Of m elements of a sign, an encoder sends share_of(m, ratio), which is at most ratio m + 1. */
static Status adaq_decode(const Call *c, Bytes in, float *x)
{
    const size_t n = c->shape->n, most = (size_t)(ratio_of(c) * (double)n) + 2;
    float magnitude[SIDES];
    return signed_get(c, in, SIDES, most, x, magnitude);
}

static const Compressor compressor_adaq = {
    .name = "adaq",
    .brief = "the largest of each sign, at that sign's mean",
    .plain = "Sends the largest positive elements as their mean and the largest negative elements as "
             "theirs. An element costs a gap between indices and one bit.",
    .use_when = "positive and negative elements are distributed differently, and floats take too many "
                "bytes: ef+adaq.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
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
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = signed_bound,
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

/* t = x + r */
static Status add_residual(const Call *c, const float *x, float *t, Error *err)
{
    const size_t n = c->shape->n;
    if (blockwise_add(x, c->state, 1, n, c->threads, t))
        return OK;
    return FAIL(err, ERR_NUMERIC, "strom: gradient plus residual is beyond float32 at element %zu",
                first_nonfinite(t, n, NULL));
}

static float half_rms(const float *t, size_t n, int threads)
{
    return threshold(n ? 0.5 * sqrt(blockwise_squares(t, n, threads) / (double)n) : 0);
}

/* ---- the hooks of the codec ---- */

static Status strom_encode(const Call *c, const float *x, Buf *out)
{
    const float *t;
    Picks p;
    TRY(state_input(c, x, &t));
    const float tau = isnan(tau_of(c)) ? half_rms(t, c->shape->n, c->threads) : threshold(tau_of(c));
    TRY(picks_open(c, t, &p));
    select_from(&p, (double)tau);
    return signed_put(c, &p, &tau, 1, out);
}

static Status strom_decode(const Call *c, Bytes in, float *x)
{
    float tau[SIDES] = {0};
    TRY(signed_get(c, in, 1, c->shape->n, x, tau));
    if (!isnan(tau_of(c)) && tau[PLUS] > 0 && tau[PLUS] != threshold(tau_of(c)))
        return payload_bad(c, "magnitude %g, want tau = %g", (double)tau[PLUS], tau_of(c));
    return OK;
}

static Status settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    const size_t n = c->shape->n;
    const float *t;
    float *r = state, *decoded = NEW(c->scratch, float, n);
    (void)agreed;
    TRY(state_input(c, x, &t));
    TRY(arena_check(decoded, c->scratch, c->err));
    TRY(codec_decode(c, sent[0], decoded));
    blockwise_add(t, decoded, -1, n, c->threads, r);
    return OK;
}

static double residual(const Call *c)
{
    return c->state ? sqrt(blockwise_squares(c->state, c->shape->n, c->threads)) : 0;
}

static const Compressor compressor_strom = {
    .name = "strom",
    .brief = "elements that have gathered tau or more send plus or minus tau, the rest waits",
    .plain = "Adds gradients up at each worker. An element whose sum has reached tau sends plus or minus "
             "tau, and the rest of the sum waits.",
    .use_when = "you reproduce Strom's method, or payloads should be small whenever little has gathered.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
               "atomo-bench compare g.h5 -c strom",
    .formula =
        "t = g + r;  decode tau sgn(t_i) where |t_i| >= tau, else 0;  r = t - decoded\n"
        "The state r starts at zero, one per worker and tensor: error feedback is part of the method.\n"
        "tau = half the root mean square of t unless it is given; it travels with each payload.\n"
        "An element costs its gap and its sign. Biased in each step; nothing is lost over steps.",
    .paper = "Strom: Scalable Distributed DNN Training Using Commodity GPU Cloud Computing, Interspeech 2015",
    .look = {HUE_SPARSE, 4, 3},
    .params = strom_schema,
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = signed_bound,
    .encode = strom_encode,
    .decode = strom_decode,
    .input = add_residual,
    .state_size = state_size,
    .settle = settle,
    .residual = residual,
};

const Compressor *const compressors_signed[] = {&compressor_stc, &compressor_adaq, &compressor_strom, NULL};
