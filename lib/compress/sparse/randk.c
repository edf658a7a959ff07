/* randk.c -- sends k of n elements, multiplied by n/k, where all subsets of k elements are equally likely
 * (random sparsification with a fixed number of elements: Konecny and Richtarik 2018; Stich, Cordonnier, Jaggi
 * 2018).
 *
 *     kind:8  { x:f32 } x k                      their indices follow from the random numbers (select.h)
 *     merged: kind:8  workers:varint  { sum:f32 } x k        shared=on: all workers send the same elements
 *
 * k = max(1, floor(ratio n + 1/2)) depends on spec and shape only. The factor is n/k, not 1/ratio, so the
 * estimate is unbiased even if ratio n is not an integer. With k = n the tensor is sent raw. */
#include "compress/compressor.h"
#include "base/parallel.h"
#include "math/select.h"
#include "compress/lowrank/addends.h"
#include "compress/sparse/sparse.h"

#include <float.h>
#include <math.h>

typedef struct {
    double ratio;
    bool shared;
} Randk;

static const Param schema[] = {
    PARAM(Randk, ratio, "0.01", 0, 1, "elements sent as a share of all", .above = true, .rate = true),
    PARAM_SWITCH(Randk, shared, "on", "all workers send the same elements, so that payloads add"),
    {0},
};

static const Randk *params_of(const Codec *codec)
{
    return codec->params;
}

static unsigned traits(const Codec *codec)
{
    return params_of(codec)->shared ? LINEAR | MERGEABLE | SHARED_DRAWS : 0u;
}

static size_t kept_of(const Call *c)
{
    return picks_wanted(c->shape->n, params_of(c->self)->ratio);
}

static size_t bound(const Call *c)
{
    return 1 + 4 * kept_of(c);
}

/* ---- blocks ---- */

typedef struct {
    const Call *c;
    size_t n, k;
    double factor; /* n/k */
    Subset subset;
    const float *x;
    float *decoded;
    uint8_t *out;
    const uint8_t *in;
    /* for each block of 2^16 elements: number of values beyond float32's range when multiplied by n/k */
    size_t *bad;
} RandkJob;

static Status open_job(RandkJob *job, const Call *c)
{
    const size_t n = c->shape->n, k = kept_of(c);
    const Rng *rng = params_of(c->self)->shared ? &c->rng_shared : &c->rng;
    *job = (RandkJob){.c = c, .n = n, .k = k, .factor = n ? (double)n / (double)k : 1};
    job->bad = NEW_ZERO(c->scratch, size_t, blocks_of(n));
    TRY(arena_check(job->bad && subset_open(&job->subset, rng, n, k, c->scratch), c->scratch, c->err));
    return OK;
}

static inline bool fits(double v)
{
    return fabs(v) <= (double)FLT_MAX;
}

static void gather_block(void *data, size_t block)
{
    const RandkJob *job = data;
    const float *const x = job->x + block * BLOCK;
    const size_t words = (block_size(job->n, block) + 63) / 64;
    const double factor = job->factor;
    uint64_t member[BLOCK / 64];
    uint8_t *out = job->out + 4 * job->subset.before[block];
    size_t bad = 0;
    subset_mark(&job->subset, block, member);
    for (size_t w = 0; w < words; w++)
        for (uint64_t left = member[w]; left; left &= left - 1)
            __builtin_prefetch(&x[64 * w + (size_t)__builtin_ctzll(left)]);
    for (size_t w = 0; w < words; w++)
        for (uint64_t left = member[w]; left; left &= left - 1, out += 4) {
            const float v = x[64 * w + (size_t)__builtin_ctzll(left)];
            bad += !fits((double)v * factor);
            store_f32(out, v);
        }
    job->bad[block] = bad;
}

static void scatter_block(void *data, size_t block)
{
    const RandkJob *job = data;
    float *const x = job->decoded + block * BLOCK;
    const double factor = job->factor;
    uint64_t member[BLOCK / 64];
    const uint8_t *in = job->in + 4 * job->subset.before[block];
    size_t bad = 0;
    subset_mark(&job->subset, block, member);
    memset(x, 0, block_size(job->n, block) * sizeof *x);
    for (size_t w = 0; w < (block_size(job->n, block) + 63) / 64; w++)
        for (uint64_t left = member[w]; left; left &= left - 1, in += 4) {
            const double v = (double)load_f32(in) * factor;
            bad += !fits(v);
            x[64 * w + (size_t)__builtin_ctzll(left)] = fits(v) ? (float)v : 0;
        }
    job->bad[block] = bad;
}

/* Returns false if a value times n/k is beyond float32's range. */
static bool run_blocks(RandkJob *job, void (*block)(void *data, size_t block))
{
    size_t bad = 0;
    parallel_for(job->c->threads, blocks_of(job->n), block, job);
    for (size_t b = 0; b < blocks_of(job->n); b++)
        bad += job->bad[b];
    return bad == 0;
}

/* ---- the hooks of the codec ---- */

static Status encode(const Call *c, const float *x, Buf *out)
{
    RandkJob job;
    if (kept_of(c) == c->shape->n)
        return raw_put(c, x, out);
    TRY(open_job(&job, c));
    job.x = x;
    buf_u8(out, PAYLOAD_METHOD);
    job.out = buf_room(out, 4 * job.k);
    if (!run_blocks(&job, gather_block))
        return FAIL(c->err, ERR_NUMERIC, "randk: an element times n/k = %.4g is beyond float32", job.factor);
    streams_floats(c->streams, job.k);
    return OK;
}

static unsigned own_kind(const Call *c)
{
    return kept_of(c) == c->shape->n ? PAYLOAD_RAW : PAYLOAD_METHOD;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    RandkJob job;
    uint64_t workers;
    const uint8_t *values =
        addends_open(c, in, own_kind(c), params_of(c->self)->shared, kept_of(c), "value", &workers);
    if (!values)
        return ERR_CORRUPT;
    TRY(open_job(&job, c));
    job.in = values;
    job.decoded = x;
    if (!run_blocks(&job, scatter_block))
        return payload_bad(c, "a value that is not finite, or not once it is multiplied by %.4g", job.factor);
    return OK;
}

static Numbers numbers(const Call *c)
{
    const size_t n = c->shape->n, k = kept_of(c);
    const double factor = n ? (double)n / (double)k : 1;
    return addends_numbers(params_of(c->self)->shared ? k : 0, factor, (double)FLT_MAX / factor);
}

static Status merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const uint8_t **values;
    const Numbers m = numbers(c);
    if (!params_of(c->self)->shared)
        return FAIL(c->err, ERR_USAGE, "randk: with shared=off each worker sends elements of its own");
    TRY(addends_open_all(c, in, count, own_kind(c), m.count, "value", &values, out));
    return addends_sum(c, values, count, m.count, m.factor, m.most, "value", buf_room(out, 4 * m.count));
}

typedef struct {
    double squares, fourths; /* sum x^2, sum x^4 */
} Powers;

static Powers powers_of(const float *x, size_t n)
{
    Powers p = {0};
    for (size_t i = 0; i < n; i++) {
        const double v = (double)x[i] * (double)x[i];
        p.squares += v;
        p.fourths += v * v;
    }
    return p;
}

static double omega(const Call *c)
{
    return c->shape->n ? (double)c->shape->n / (double)kept_of(c) - 1 : 0;
}

static double variance(const Call *c, const float *x)
{
    return omega(c) * powers_of(x, c->shape->n).squares;
}

/* The number of sent elements is fixed, so the errors of elements are dependent. With w = n/k - 1, their
 * covariance matrix is C = w (n diag(x^2) - x x') / (n - 1). Sets m->squares to tr C^2, and m->weighted to x' C
 * x. If all elements have the same magnitude, x' C x is 0, because <estimate, x> is then |x|^2 in every
 * draw. */
static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    const double n = (double)c->shape->n, w = omega(c);
    const Powers p = powers_of(x, c->shape->n);
    const double squared = p.squares * p.squares, rest = n > 1 ? n - 1 : 1;
    const double spread = n * p.fourths - squared;
    m->squares = w * w * (n * (n - 2) * p.fourths + squared) / (rest * rest);
    m->weighted = spread > 1e-6 * squared ? w * spread / rest : 0;
    m->fourths = p.fourths * w * ((w + 1) * (w + 1) - 6 * w);
    m->none = 0;
    return ATOMWISE;
}

const Compressor compressor_randk = {
    .name = "randk",
    .brief = "k of n elements, all subsets equally likely, times n/k",
    .plain = "Sends some elements, all equally likely, times n/k. All workers choose the same ones, so that"
             " no indices travel and payloads add. The mean over draws is the gradient.",
    .use_when = "an all-reduce adds the payloads, or you need the simplest unbiased sparsifier as a "
                "baseline.",
    .example = "atomo-bench synth -o g.h5 --workers 4\n"
               "atomo-bench merge g.h5 -c randk:ratio=0.05 --workers 4",
    .formula = "k = max(1, floor(ratio n + 1/2)); S uniform among the subsets of k elements\n"
               "decode (n/k) g_i for i in S, else 0; variance (n/k - 1) |g|^2\n"
               "Only values travel: S follows from the seed. shared=on: the same S for all workers, so\n"
               "payloads add, but averaging over workers does not lessen the variance of their mean:\n"
               "(n/k - 1) |mean g|^2. shared=off: an S for each worker.",
    .paper =
        "Konecny, Richtarik: Randomized Distributed Mean Estimation: Accuracy vs. Communication,\n"
        "Frontiers in Applied Mathematics and Statistics 2018; Stich, Cordonnier, Jaggi: Sparsified SGD\n"
        "with Memory, NeurIPS 2018",
    .look = {HUE_SPARSE, 5, 4},
    .params = schema,
    .params_size = sizeof(Randk),
    .promises = UNBIASED | RANDOM | EXACT_BYTES | FIXED_SIZE,
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .merge = merge,
    .numbers = numbers,
    .variance = variance,
    .moments = moments,
};
