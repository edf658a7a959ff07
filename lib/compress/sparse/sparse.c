/* sparse.c -- writes and reads the indices and the values of selected elements (sparse.h), and the codecs that only select
 * them: threshold, gaussiank and sidco. */
#include "compress/sparse/sparse.h"
#include "coder/indices.h"
#include "coder/planes.h"
#include "base/parallel.h"
#include "math/blockwise.h"
#include "math/vec/kernels.h"

#include <math.h>

/* ---- the payload ---- */

static size_t values_size(ValueForm f, size_t count)
{
    return !count ? 0 : f.head + (f.bits < 8 ? planes_size(count, f.bits) : count * (size_t)f.bits / 8);
}

size_t sparse_bound(const Call *c, ValueForm form)
{
    return 1 + indices_bound(c->shape->n) + values_size(form, c->shape->n);
}

Status sparse_put(const Call *c, const Indices *set, ValueForm form, const float *x, Buf *out, uint8_t **values)
{
    const size_t start = out->size, size = values_size(form, set->count);
    *values = NULL;
    buf_u8(out, PAYLOAD_METHOD);
    if (size < raw_size(c))
        indices_put(set, c->shape->n, out);
    if (out->size - start + size >= raw_size(c)) {
        out->size = start;
        return raw_put(c, x, out);
    }
    *values = buf_room(out, size);
    streams_bits(c->streams, set->count ? 8.0 * (double)form.head + form.bits * (double)set->count : 0);
    streams_gaps(c, set);
    return OK;
}

Status sparse_get(const Call *c, Bytes bytes, ValueForm form, Places *set, const uint8_t **values)
{
    Reader in = reader_open(bytes);
    TRY(payload_kind(c, take_u8(&in), PAYLOAD_METHOD));
    TRY(payload_set(c, &in, c->shape->n, set));
    *values = in.bad ? NULL : take_bytes(&in, values_size(form, set->count));
    TRY(payload_end(c, &in));
    return payload_shorter(c, bytes);
}

/* ---- selected elements as floats ---- */

static const ValueForm floats = {.bits = 32};

size_t picks_bound(const Call *c)
{
    return sparse_bound(c, floats);
}

Status picks_put(const Call *c, Picks *s, Buf *out)
{
    uint8_t *values;
    TRY(arena_check(select_values(s), c->scratch, c->err));
    const Indices set = picks_indices(s);
    TRY(sparse_put(c, &set, floats, s->x, out, &values));
    if (values)
        floats_store(values, s->value, s->count);
    return OK;
}

/* Writes the payload of a selection. If the selection is empty, first selects the elements of largest
 * magnitude. */
static Status picks_put_some(const Call *c, Picks *s, Buf *out)
{
    if (s->count == 0)
        select_from(s, (double)blockwise_most(s->x, s->n, s->threads));
    return picks_put(c, s, out);
}

/* ---- reading ---- */

static const uint32_t INFINITE = UINT32_C(0x7f800000);

/* Refuses values that are 0 or not finite. As integers, the bits of magnitudes have the order of the magnitudes. */
static Status check_values(const Call *c, const uint8_t *value, size_t count, PicksRead *read)
{
    uint32_t least = INFINITE, most = 0;
    for (size_t k = 0; k < count; k++) {
        const uint32_t v = load_u32(value + 4 * k) & INT32_MAX;
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    *read = (PicksRead){count, bits_float(least), bits_float(most)};
    for (size_t k = 0; k < count && !(least > 0 && most < INFINITE); k++) {
        const double v = fabs((double)load_f32(value + 4 * k));
        if (!(v > 0 && isfinite(v)))
            return payload_bad(c, "value %zu is %g, want a finite number that is not 0", k, v);
    }
    return OK;
}

typedef struct {
    size_t n;
    Places set;
    const uint8_t *value;
    float *x;
} PicksFill;

static void fill_block(void *data, size_t block)
{
    const PicksFill *f = data;
    float *const x = f->x + block * BLOCK;
    memset(x, 0, block_size(f->n, block) * sizeof *x);
    for (size_t k = f->set.before[block]; k < f->set.before[block + 1]; k++)
        x[f->set.at[k]] = load_f32(f->value + 4 * k);
}

Status picks_get(const Call *c, Bytes in, float *x, PicksRead *read)
{
    PicksFill f = {.n = c->shape->n, .x = x};
    TRY(sparse_get(c, in, floats, &f.set, &f.value));
    TRY(check_values(c, f.value, f.set.count, read));
    parallel_for(c->threads, blocks_of(f.n), fill_block, &f);
    return OK;
}

/* The hook `decode` of codecs without further rules on their payloads. */
static Status picks_decode(const Call *c, Bytes in, float *x)
{
    PicksRead read;
    return picks_get(c, in, x, &read);
}

/* ---- threshold: sends every element whose magnitude reaches a threshold (Strom 2015 without accumulation;
 * Dutta et al. 2020). The payload has the format of sparse.h. ---- */

typedef struct {
    double tau, rel;
} Threshold;

static const Param threshold_schema[] = {
    PARAM(Threshold, tau, NULL, 0, 3.4028234663852886e38, "least magnitude that is sent", .above = true,
          .group = 1),
    PARAM(Threshold, rel, "0.01", 0, 1, "the same as a share of the largest magnitude", .above = true,
          .rate = true, .group = 1),
    {0},
};

static double least_of(const Call *c, double largest)
{
    const Threshold *t = c->self->params;
    return t->tau > 0 ? t->tau : t->rel * largest;
}

static Status threshold_encode(const Call *c, const float *x, Buf *out)
{
    const Threshold *t = c->self->params;
    Picks s;
    TRY(picks_open(c, x, &s));
    select_from(&s, least_of(c, t->tau > 0 ? 0 : (double)blockwise_most(x, c->shape->n, c->threads)));
    return picks_put(c, &s, out);
}

/* Decodes, and checks that no sent magnitude is below the threshold. For a threshold relative to the largest
 * magnitude, the decoder knows that magnitude: the largest element is always sent. */
static Status threshold_decode(const Call *c, Bytes in, float *x)
{
    PicksRead read = {0};
    TRY(picks_get(c, in, x, &read));
    if (!((double)read.least >= least_of(c, (double)read.largest)))
        return payload_bad(c, "a value of %g is under the threshold", (double)read.least);
    return OK;
}

const Compressor compressor_threshold = {
    .name = "threshold",
    .brief = "all magnitudes from a threshold on",
    .plain = "Sends all elements whose magnitude reaches a threshold, and drops the others. Nothing is "
             "sorted, but the size of the payload changes from step to step.",
    .use_when = "choosing the k largest takes too long, and payloads may vary in size: ef+threshold.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
               "atomo-bench compare g.h5 -c ef+threshold:rel=0.3 -c ef+topk:ratio=0.01",
    .formula =
        "decode g_i where |g_i| >= t, else 0; t = tau, or rel max|g|\n"
        "The size of the payload is the gradient's to say: a fixed tau sends less as training settles.\n"
        "Biased: meant for ef+threshold.",
    .paper =
        "Strom: Scalable Distributed DNN Training Using Commodity GPU Cloud Computing, Interspeech 2015;\n"
        "Dutta et al.: On the Discrepancy between the Theoretical Analysis and Practical Implementations\n"
        "of Compressed Communication for Distributed Deep Learning, AAAI 2020",
    .look = {HUE_SPARSE, 3, 1},
    .params = threshold_schema,
    .promises = EXACT_BYTES | LEAVES_OUT | NEEDS_ALL,
    .bound = picks_bound,
    .encode = threshold_encode,
    .decode = threshold_decode,
};

/* ---- gaussiank: sends the elements whose magnitudes reach a threshold (Shi, Chu, Cheung, See 2019). The
 * threshold is computed from a normal distribution fitted to the elements. If it selects too few or too many
 * elements, it is multiplied by 0.5 or 1.5, up to ROUNDS times. The payload has the format of sparse.h. ---- */

static const Param gaussiank_schema[] = {RATIO_KEY(Ratio, "0.01", "elements aimed at as a share of all"), {0}};

enum { ROUNDS = 4 };

/* Returns the threshold |mean| + z sigma of the fitted normal distribution, where z satisfies P(|N(0, 1)| > z)
 * = ratio. */
static double fitted_level(const Call *c, const float *x, double ratio)
{
    const double n = (double)c->shape->n;
    double sum, squares;
    blockwise_moments(x, c->shape->n, c->threads, &sum, &squares, NULL);
    const double mean = sum / n, variance = fmax(squares / n - mean * mean, 0);
    return fabs(mean) - normal_lower_quantile(0.5 * ratio) * sqrt(variance);
}

static Status gaussiank_encode(const Call *c, const float *x, Buf *out)
{
    const double ratio = ratio_of(c);
    const double k = (double)picks_wanted(c);
    double level = k < (double)c->shape->n ? fitted_level(c, x, ratio) : 0;
    Picks s;
    TRY(picks_open(c, x, &s));
    select_from(&s, level);
    for (int round = 0; round < ROUNDS && level > 0; round++) {
        if ((double)s.count >= 2 * k / 3 && (double)s.count <= 4 * k / 3)
            break;
        level *= (double)s.count < k ? 0.5 : 1.5;
        select_from(&s, level);
    }
    return picks_put_some(c, &s, out);
}

static const Compressor compressor_gaussiank = {
    .name = "gaussiank",
    .brief = "about k elements, above the threshold of a fitted normal distribution",
    .plain = "Sends about the k largest elements. A normal distribution fitted to the tensor gives the "
             "threshold, so that nothing is sorted.",
    .use_when = "choosing the k largest takes too long, and their number may be inexact: ef+gaussiank.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
               "atomo-bench compare g.h5 -c ef+gaussiank:ratio=0.01 -c ef+topk:ratio=0.01",
    .formula = "k = max(1, floor(ratio n + 1/2)); t = |mean| + z sigma, P(|N(0, 1)| > z) = ratio\n"
               "up to four times: t/2 where fewer than 2k/3 elements reach t, 3t/2 where more than 4k/3 do\n"
               "decode g_i where |g_i| >= t, else 0; where none reaches t, the largest magnitude is t.\n"
               "No selection and no sort, but the number of elements is not k on tails that are not normal.\n"
               "Biased: meant for ef+gaussiank.",
    .paper = "Shi, Chu, Cheung, See: Understanding Top-k Sparsification in Distributed Deep Learning, 2019\n"
             "(arXiv:1911.08772)",
    .look = {HUE_SPARSE, 5, 3},
    .params = gaussiank_schema,
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = picks_bound,
    .encode = gaussiank_encode,
    .decode = picks_decode,
};

/* ---- sidco: sends the elements above a threshold that is found in stages (Abdelmoniem et al. 2021). Each stage
 * fits an exponential distribution to the magnitudes above the threshold of the previous stage, and so finds a
 * higher threshold. The payload has the format of sparse.h.
 *
 * The paper adapts the number of stages to the number of elements sent in past steps. The codec here has no
 * state: it tries every number of stages (1 to 4) on the tensor itself. ---- */

static const Param sidco_schema[] = {RATIO_KEY(Ratio, "0.01", "elements aimed at as a share of all"), {0}};

enum { STAGES = 4 };
/* With several stages, the first stage's threshold is set to select about the share FIRST_SHARE of all
 * elements. */
#define FIRST_SHARE 0.25

/* The magnitudes above the first stage's threshold, for each block; later stages read no others. */
typedef struct {
    size_t listed, count; /* number of magnitudes in `value`, and of those that reach Tail.level */
    double sum;           /* of the magnitudes that reach the level */
    float value[BLOCK + ROOM_BEHIND];
} TailBlock;

typedef struct {
    const Picks *s;
    float level;
    TailBlock *block;
} Tail;

static void list_block(void *data, size_t block)
{
    const Tail *t = data;
    double sum[3];
    t->block[block].listed = kernels()->sums_around(t->s->x + block * BLOCK, block_size(t->s->n, block), t->level,
                                                    INFINITY, t->block[block].value, sum);
}

static void reach_block(void *data, size_t block)
{
    const Tail *t = data;
    TailBlock *b = &t->block[block];
    float above[BLOCK + ROOM_BEHIND];
    double sum[3];
    b->count = kernels()->sums_around(b->value, b->listed, t->level, INFINITY, above, sum);
    b->sum = kernels()->sum_magnitudes(above, b->count);
}

static bool tail_open(Tail *t, const Picks *s, double level)
{
    *t = (Tail){s, select_level(level), NEW(s->scratch, TailBlock, blocks_of(s->n))};
    if (t->block)
        parallel_for(s->threads, blocks_of(s->n), list_block, t);
    return t->block;
}

/* Returns how many magnitudes are at least `level`, and sets *mean to their mean. */
static size_t reach(Tail *t, double level, double *mean)
{
    const size_t blocks = blocks_of(t->s->n);
    size_t count = 0;
    double sum = 0;
    t->level = select_level(level);
    parallel_for(t->s->threads, blocks, reach_block, t);
    for (size_t b = 0; b < blocks; b++) {
        count += t->block[b].count;
        sum += t->block[b].sum;
    }
    *mean = sum / (double)count;
    return count;
}

/* Returns the threshold of the last stage, and sets *count to the number of magnitudes that reach that
 * threshold. `first` is the threshold of the first stage. Each later stage fits an exponential distribution to
 * the magnitudes above the previous threshold, and selects the same share of them. Ends early if no magnitude
 * reaches a threshold. */
static double run_stages(Tail *t, double first, double ratio, int stages, size_t *count)
{
    const double share = pow(ratio / FIRST_SHARE, 1.0 / (stages - 1));
    double level = first, mean;
    *count = reach(t, level, &mean);
    for (int stage = 1; stage < stages && *count > 0; stage++) {
        level -= fmax(mean - level, 0) * log(share);
        *count = reach(t, level, &mean);
    }
    return level;
}

/* Returns the factor, 1 or more, by which `count` differs from the desired count k. */
static double miss(size_t count, double k)
{
    return count == 0 ? INFINITY : fmax((double)count / k, k / (double)count);
}

static void total_block(void *data, size_t block)
{
    const Picks *s = data;
    s->part[block] = kernels()->sum_magnitudes(s->x + block * BLOCK, block_size(s->n, block));
}

/* Returns the sum of the magnitudes of all elements of x. */
static double total_of(const Picks *s)
{
    double sum = 0;
    parallel_for(s->threads, blocks_of(s->n), total_block, (void *)(uintptr_t)s);
    for (size_t b = 0; b < blocks_of(s->n); b++)
        sum += s->part[b];
    return sum;
}

/* Tries all numbers of stages, or one stage alone if `ratio` is FIRST_SHARE or more. Returns the threshold
 * for which the number of selected elements is nearest to k, or NaN if memory runs out. */
static double best_level(Picks *s, double ratio, double k)
{
    const double mean = total_of(s) / (double)s->n, first = -mean * log(FIRST_SHARE);
    double best = -mean * log(ratio);
    Tail t;
    select_from(s, best);
    double least = miss(s->count, k);
    if (!(least < INFINITY))
        best = INFINITY;
    if (ratio >= FIRST_SHARE)
        return best;
    if (!tail_open(&t, s, first))
        return NAN;
    for (int stages = 2; stages <= STAGES; stages++) {
        size_t count;
        const double level = run_stages(&t, first, ratio, stages, &count);
        if (miss(count, k) < least) {
            least = miss(count, k);
            best = level;
        }
    }
    return best;
}

static Status sidco_encode(const Call *c, const float *x, Buf *out)
{
    const double ratio = ratio_of(c);
    const size_t k = picks_wanted(c);
    Picks s;
    TRY(picks_open(c, x, &s));
    const double level = k < c->shape->n ? best_level(&s, ratio, (double)k) : 0;
    if (isnan(level))
        return arena_fail(c->scratch, c->err);
    select_from(&s, level);
    return picks_put_some(c, &s, out);
}

static const Compressor compressor_sidco = {
    .name = "sidco",
    .brief = "about k elements, above the threshold of fitted exponential tails",
    .plain = "Sends about the k largest elements. Exponential distributions fitted to the tails give the "
             "threshold, so that nothing is sorted.",
    .use_when = "choosing the k largest takes too long, and large elements are more frequent than in a "
                "normal distribution: ef+sidco.",
    .example = "atomo-bench synth -o g.h5 --force --law laplace --steps 4\n"
               "atomo-bench compare g.h5 -c ef+sidco:ratio=0.01 -c ef+topk:ratio=0.01",
    .formula =
        "k = max(1, floor(ratio n + 1/2)). With M stages t_0 = 0 and\n"
        "t_m = t_(m-1) + b ln(1/d_m), b = the mean of |g_i| - t_(m-1) over all |g_i| >= t_(m-1)\n"
        "d = ratio for M = 1; else d_1 = 1/4 and (4 ratio)^(1/(M-1)) for the others.\n"
        "M is the one of 1 to 4 whose number of elements comes nearest to k.\n"
        "decode g_i where |g_i| >= t_M, else 0; where none reaches it, the largest magnitude is t_M.\n"
        "Biased: meant for ef+sidco.\n"
        "Differs from the paper: its M adapts from step to step, this one has no state; of its three laws\n"
        "(exponential, gamma, generalised Pareto) this is the exponential one, SIDCo-E.",
    .paper = "Abdelmoniem, Elzanaty, Alouini, Canini: An Efficient Statistical-based Gradient Compression\n"
             "Technique for Distributed Training Systems (SIDCo), MLSys 2021",
    .look = {HUE_SPARSE, 0, 4},
    .params = sidco_schema,
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = picks_bound,
    .encode = sidco_encode,
    .decode = picks_decode,
};

const Compressor *const compressors_tails[] = {&compressor_gaussiank, &compressor_sidco, NULL};
