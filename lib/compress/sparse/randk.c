/* randk.c -- sends k of n elements, multiplied by n/k, where all subsets of k elements are equally likely
 * (random sparsification with a fixed number of elements: Konecny and Richtarik 2018; Stich, Cordonnier, Jaggi
 * 2018).
 *
 *     kind:8  { x:f32 } x k                      their indices follow from the random numbers
 *     merged: kind:8  workers:varint  { sum:f32 } x k        shared=on: all workers send the same elements
 *
 * k = max(1, floor(ratio n + 1/2)) depends on spec and shape only. The factor is n/k, not 1/ratio, so the
 * estimate is unbiased even if ratio n is not an integer. With k = n the tensor is sent raw. */
#include "compress/compressor.h"
#include "base/parallel.h"
#include "math/select.h"
#include "compress/lowrank/addends.h"
#include "compress/sparse/sparse.h"
#include "math/vec/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct {
    double ratio;
    bool shared;
} Randk;

static const Param schema[] = {
    RATIO_KEY(Randk, "0.01", "elements sent as a share of all"),
    PARAM_SWITCH(Randk, shared, "on", "all workers send the same elements, so that payloads add"),
    {0},
};

/* ---- a random subset ----
 *
 * Draws a random subset with k of n elements from the random numbers of an Rng (rng.h), every
 * subset with equal probability.
 *
 * First the number of members in each block of 2^16 elements is drawn, block after block, from the
 * hypergeometric distribution; then the members within a block by Floyd's algorithm. So a block's members
 * depend on the random numbers of the Rng, n and k alone, and blocks can be drawn in any order and on any
 * thread. The draws use only sums, products and quotients of doubles, so they are the same on every machine. */

typedef struct {
    Rng rng;
    size_t n, k;
    size_t *before; /* (blocks + 1) number of the subset's members before each block */
} Subset;

/* ---- the number of members of a random subset in each block ---- */

/* The counts of a hypergeometric distribution: `drawn` of `all` elements are drawn, and `marked` of `all` are
 * marked. */
typedef struct {
    double all, marked, drawn;
} Urn;

#define NEGLIGIBLE 0x1p-80 /* probabilities below this share of the largest probability are left out */

/* Adds up the probabilities of drawing j marked elements, each divided by the largest of them. Starts at the
 * likeliest j, goes down, then up from the likeliest. If the sum passes `stop`, ends there and returns this
 * j. Sets *sum. */
static double urn_add_up(Urn u, double stop, double *sum)
{
    const double rest = u.all - u.marked - u.drawn;
    const double low = fmax(0, -rest), high = fmin(u.marked, u.drawn);
    const double likeliest = fmin(high, fmax(low, floor((u.drawn + 1) * ((u.marked + 1) / (u.all + 2)))));
    double chance = 1;
    *sum = 1;
    for (double j = likeliest; *sum <= stop && j > low && chance > NEGLIGIBLE; j--) {
        chance *= j * (rest + j) / ((u.marked - j + 1) * (u.drawn - j + 1));
        *sum += chance;
        if (*sum > stop)
            return j - 1;
    }
    chance = 1;
    for (double j = likeliest; *sum <= stop && j < high && chance > NEGLIGIBLE; j++) {
        chance *= (u.marked - j) * (u.drawn - j) / ((j + 1) * (rest + j + 1));
        *sum += chance;
        if (*sum > stop)
            return j + 1;
    }
    return likeliest;
}

/* Draws a number of marked elements from the hypergeometric distribution, by inversion of the uniform number
 * `unit` in [0, 1). */
static size_t marked_in(Urn u, double unit)
{
    double sum;
    urn_add_up(u, INFINITY, &sum);
    return (size_t)urn_add_up(u, unit * sum, &sum);
}

/* Draws the number of the subset's members in each block; k <= n. False when the arena has no memory. */
static bool subset_open(Subset *s, const Rng *rng, size_t n, size_t k, Arena *a)
{
    const size_t blocks = blocks_of(n);
    *s = (Subset){*rng, n, k, NEW(a, size_t, blocks + 1)};
    if (!s->before)
        return false;
    s->before[0] = 0;
    for (size_t b = 0; b < blocks; b++) {
        const Urn u = {(double)(n - b * BLOCK), (double)(k - s->before[b]), (double)block_size(n, b)};
        s->before[b + 1] = s->before[b] + marked_in(u, rng_unit(rng, USE_ATOM, b));
    }
    return true;
}

/* ---- the members of the subset in a block ---- */

/* Marks `count` of `size` elements by Floyd's algorithm: for rising j, picks one of 0 .. j, where the relative error of
 * each probability is at most 2^-48; if the picked element is a member already, j becomes a member instead. */
static void mark_some(const RngKey *key, uint32_t size, uint32_t count, uint64_t *member)
{
    uint32_t at[BLOCK / 2];
    kernels()->picks(key, count, size - count + 1, at);
    for (uint32_t i = 0, j = size - count; i < count; i++, j++) {
        const uint32_t joins = member[at[i] / 64] >> at[i] % 64 & 1 ? j : at[i];
        member[joins / 64] |= UINT64_C(1) << joins % 64;
    }
}

/* Sets bit i % 64 of word i / 64 for each member i of the subset in this block, and clears the block's other
 * bits. */
static void subset_mark(const Subset *s, size_t block, uint64_t member[BLOCK / 64])
{
    const uint32_t size = (uint32_t)block_size(s->n, block);
    const uint32_t count = (uint32_t)(s->before[block + 1] - s->before[block]);
    const RngKey key = rng_key(&s->rng, USE_SAMPLE, block);
    const size_t words = (size + 63) / 64;
    memset(member, 0, words * sizeof *member);
    if (count <= size / 2) {
        mark_some(&key, size, count, member);
        return;
    }
    /* marks the elements outside the subset; the bits are inverted below */
    mark_some(&key, size, size - count, member);
    for (size_t w = 0; w < words; w++)
        member[w] = ~member[w];
    if (size % 64)
        member[words - 1] &= (UINT64_C(1) << size % 64) - 1;
}

/* ---- the codec ---- */

static const Randk *params_of(const Codec *codec)
{
    return codec->params;
}

static unsigned traits(const Codec *codec)
{
    return params_of(codec)->shared ? LINEAR | MERGEABLE | SHARED_DRAWS : 0u;
}

static size_t bound(const Call *c)
{
    return 1 + 4 * picks_wanted(c);
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
} RandkJob;

static Status open_job(RandkJob *job, const Call *c)
{
    const size_t n = c->shape->n, k = picks_wanted(c);
    const Rng *rng = params_of(c->self)->shared ? &c->rng_shared : &c->rng;
    *job = (RandkJob){.c = c, .n = n, .k = k, .factor = n ? (double)n / (double)k : 1};
    return arena_check(subset_open(&job->subset, rng, n, k, c->scratch), c->scratch, c->err);
}

/* True if all k values, multiplied by n/k, are within float32's range. */
static bool values_fit(const RandkJob *job, const uint8_t *value)
{
    bool good = true;
    for (size_t i = 0; i < job->k; i++)
        good &= fabs((double)load_f32(value + 4 * i) * job->factor) <= (double)FLT_MAX;
    return good;
}

static void gather_block(void *data, size_t block)
{
    const RandkJob *job = data;
    const float *const x = job->x + block * BLOCK;
    const size_t words = (block_size(job->n, block) + 63) / 64;
    uint64_t member[BLOCK / 64];
    uint8_t *out = job->out + 4 * job->subset.before[block];
    subset_mark(&job->subset, block, member);
    for (size_t w = 0; w < words; w++)
        for (uint64_t left = member[w]; left; left &= left - 1)
            __builtin_prefetch(&x[64 * w + (size_t)__builtin_ctzll(left)]);
    for (size_t w = 0; w < words; w++)
        for (uint64_t left = member[w]; left; left &= left - 1, out += 4)
            store_f32(out, x[64 * w + (size_t)__builtin_ctzll(left)]);
}

static void scatter_block(void *data, size_t block)
{
    const RandkJob *job = data;
    float *const x = job->decoded + block * BLOCK;
    uint64_t member[BLOCK / 64];
    const uint8_t *in = job->in + 4 * job->subset.before[block];
    subset_mark(&job->subset, block, member);
    memset(x, 0, block_size(job->n, block) * sizeof *x);
    for (size_t w = 0; w < (block_size(job->n, block) + 63) / 64; w++)
        for (uint64_t left = member[w]; left; left &= left - 1, in += 4)
            x[64 * w + (size_t)__builtin_ctzll(left)] = (float)((double)load_f32(in) * job->factor);
}

/* ---- the hooks of the codec ---- */

static Status encode(const Call *c, const float *x, Buf *out)
{
    RandkJob job;
    if (sends_raw(c))
        return raw_put(c, x, out);
    TRY(open_job(&job, c));
    job.x = x;
    buf_u8(out, PAYLOAD_METHOD);
    job.out = buf_room(out, 4 * job.k);
    parallel_for(c->threads, blocks_of(job.n), gather_block, &job);
    if (!values_fit(&job, job.out))
        return FAIL(c->err, ERR_NUMERIC, "randk: an element times n/k = %.4g is beyond float32", job.factor);
    streams_floats(c->streams, job.k);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    RandkJob job;
    uint64_t workers;
    const uint8_t *values =
        addends_open(c, in, own_kind(c), params_of(c->self)->shared, picks_wanted(c), "value", &workers);
    if (!values)
        return ERR_CORRUPT;
    TRY(open_job(&job, c));
    job.in = values;
    job.decoded = x;
    if (!values_fit(&job, values))
        return payload_bad(c, "a value that is not finite, or not once it is multiplied by %.4g", job.factor);
    parallel_for(c->threads, blocks_of(job.n), scatter_block, &job);
    return OK;
}

static Numbers numbers(const Call *c)
{
    const size_t n = c->shape->n, k = picks_wanted(c);
    const double factor = n ? (double)n / (double)k : 1;
    return addends_numbers(params_of(c->self)->shared ? k : 0, factor, (double)FLT_MAX / factor);
}

static Status merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const Numbers m = numbers(c);
    if (!params_of(c->self)->shared)
        return FAIL(c->err, ERR_USAGE, "randk: with shared=off each worker sends elements of its own");
    return addends_merge(c, in, count, own_kind(c), &m, out);
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
    return c->shape->n ? (double)c->shape->n / (double)picks_wanted(c) - 1 : 0;
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
    .example = "atomo-bench synth -o g.h5 --force --workers 4\n"
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
