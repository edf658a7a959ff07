/* dgc.c -- Deep Gradient Compression (Lin, Han, Mao, Wang, Dally 2018). Each worker accumulates momentum u, and
 * a sum v of values not yet sent. The elements of v with |v_i| >= t are sent in the payload of sparse.h.
 *
 *     u = momentum u + x       v = v + u       sent: |v_i| >= t       then v_i = 0, and with mask u_i = 0
 *
 * State: u (n floats), then v (n floats). k = ratio n elements should be sent. The threshold t is estimated
 * from a random sample: v is cut into runs of equal length, and one random element of each run is taken. If t
 * selects more than 1.3 k elements, only the k largest are sent. If t selects fewer than 0.8 k, t is multiplied
 * by 0.8, at most ten times, until it selects 0.8 k. */
#include "math/radix.h"
#include "base/parallel.h"
#include "compress/sparse/sparse.h"
#include "math/blockwise.h"

#include <math.h>

typedef struct {
    double ratio, sample, momentum;
    bool mask;
} Dgc;

static const Param schema[] = {
    RATIO_KEY(Dgc, "0.001", "elements aimed at as a share of all"),
    PARAM(Dgc, sample, "0.01", 0, 1, "elements sampled as a share of all; 2/ratio at least", .above = true),
    PARAM(Dgc, momentum, "0.9", 0, 1, "of the accumulated velocity"),
    PARAM_SWITCH(Dgc, mask, "on", "momentum of what is sent starts anew"),
    {0},
};

enum { ADAPTATIONS = 10 };
#define MOST_OF_WANTED  1.3
#define LEAST_OF_WANTED 0.8

/* ---- the accumulated values v ---- */

static float momentum_of(const Call *c)
{
    return (float)((const Dgc *)c->self->params)->momentum;
}

typedef struct {
    const float *x, *u, *v; /* u and v: NULL if c->state is NULL; they are then 0 */
    float momentum;
} Accumulation;

static void accumulate(const void *data, size_t from, size_t count, float *to)
{
    const Accumulation *a = data;
    const float *const x = a->x + from, *const u = a->u ? a->u + from : x, *const v = a->v ? a->v + from : x;
    const float momentum = a->momentum;
    if (a->u)
        for (size_t i = 0; i < count; i++)
            to[i] = v[i] + (momentum * u[i] + x[i]);
    else
        for (size_t i = 0; i < count; i++)
            to[i] = 0 + x[i]; /* -0 becomes 0, as with a state of zeros */
}

/* Computes the new accumulated values, v + (momentum u + x), in scratch. */
static Status accumulated(const Call *c, const float *x, float **out)
{
    const size_t n = c->shape->n;
    const float *u = c->state;
    const Accumulation a = {x, u, u ? u + n : NULL, momentum_of(c)};
    float *sum = NEW(c->scratch, float, n);
    TRY(arena_check(sum, c->scratch, c->err));
    if (!blockwise_fill(sum, n, c->threads, accumulate, &a))
        return FAIL(c->err, ERR_NUMERIC, "dgc: what was accumulated is beyond float32 at element %zu",
                    first_nonfinite(sum, n, NULL));
    *out = sum;
    return OK;
}

/* ---- the threshold of the magnitudes to send ---- */

static size_t sample_size(const Call *c)
{
    const Dgc *d = c->self->params;
    const double n = (double)c->shape->n, wanted = ceil(fmax(d->sample * n, 2 / d->ratio));
    return wanted < n ? (size_t)wanted : c->shape->n;
}

/* A sample of x: one element, drawn at random, from each of `samples` parts of about equal length. */
typedef struct {
    const Call *c;
    const float *x;
    size_t samples;
    float *sample;
} Sampling;

static size_t part_start(const Sampling *s, size_t part)
{
    return (size_t)((unsigned __int128)part * s->c->shape->n / s->samples);
}

static void sample_block(void *data, size_t block)
{
    const Sampling *s = data;
    const RngKey key = rng_key(&s->c->rng, USE_SAMPLE, block);
    const size_t first = block * BLOCK;
    size_t from = part_start(s, first);
    for (uint32_t i = 0; i < block_size(s->samples, block); i++) {
        const size_t to = part_start(s, first + i + 1);
        s->sample[first + i] =
            s->x[from + (size_t)((unsigned __int128)rng_word(&key, i) * (to - from) >> 32)];
        from = to;
    }
}

/* Returns the threshold that a share `ratio` of the sampled magnitudes reaches, or NaN if memory runs out. */
static double sampled_level(const Call *c, const float *v, size_t samples)
{
    const size_t k = (size_t)(ratio_of(c) * (double)samples + 0.5);
    const ArenaMark mark = arena_mark(c->scratch);
    float *sample = NEW(c->scratch, float, samples);
    size_t upto;
    if (!sample)
        return NAN;
    Sampling sampling = {c, v, samples, sample};
    parallel_for(c->threads, blocks_of(samples), sample_block, &sampling);
    const double level =
        (double)radix_magnitude(sample, samples, samples - (k < samples ? k : samples), c->threads, &upto);
    arena_rewind(c->scratch, mark);
    return level;
}

static Status pick(const Call *c, Picks *s)
{
    const size_t k = picks_wanted(c), samples = sample_size(c);
    const double wanted = (double)k;
    if (samples >= s->n)
        return select_top(s, k) ? OK : arena_fail(c->scratch, c->err);
    double level = sampled_level(c, s->x, samples);
    if (isnan(level))
        return arena_fail(c->scratch, c->err);
    select_from(s, level);
    for (int i = 0; i < ADAPTATIONS && (double)s->count < LEAST_OF_WANTED * wanted; i++)
        select_from(s, level *= LEAST_OF_WANTED);
    if ((double)s->count > MOST_OF_WANTED * wanted && !select_narrow(s, k))
        return arena_fail(c->scratch, c->err);
    return OK;
}

/* ---- the hooks of the codec ---- */

static Status encode(const Call *c, const float *x, Buf *out)
{
    float *v;
    Picks s;
    TRY(accumulated(c, x, &v));
    TRY(picks_open(c, v, &s));
    TRY(pick(c, &s));
    return picks_put(c, &s, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const size_t k = picks_wanted(c);
    PicksRead read;
    TRY(picks_get(c, in, x, &read));
    if ((double)read.count > MOST_OF_WANTED * (double)k)
        return payload_bad(c, "%zu elements, want %.0f at most", read.count,
                           floor(MOST_OF_WANTED * (double)k));
    return OK;
}

static size_t state_size(const Call *c)
{
    return 2 * sizeof(float) * c->shape->n;
}

static Status settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    const size_t n = c->shape->n;
    const bool mask = ((const Dgc *)c->self->params)->mask;
    const float momentum = momentum_of(c);
    float *v, *decoded = NEW(c->scratch, float, n), *u = state;
    (void)agreed;
    TRY(arena_check(decoded, c->scratch, c->err));
    TRY(accumulated(c, x, &v));
    TRY(codec_decode(c, sent[0], decoded));
    for (size_t i = 0; i < n; i++) {
        u[i] = mask && decoded[i] != 0 ? 0 : momentum * u[i] + x[i];
        u[n + i] = decoded[i] != 0 ? 0 : v[i];
    }
    return OK;
}

static double residual(const Call *c)
{
    const size_t n = c->shape->n;
    return c->state ? sqrt(blockwise_squares((const float *)c->state + n, n, c->threads)) : 0;
}

const Compressor compressor_dgc = {
    .name = "dgc",
    .brief = "Deep Gradient Compression: sampled threshold, momentum correction, masking",
    .plain = "Adds up gradients with their momentum at each worker and sends about the largest thousandth "
             "of the sums. A sample gives the threshold. The sums that are not sent wait.",
    .use_when = "you train with momentum and send very few elements, or reproduce Deep Gradient "
                "Compression.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
               "atomo-bench compare g.h5 -c dgc:ratio=0.01",
    .formula =
        "u = momentum u + g; v = v + u; S = {|v_i| >= t}, about k = max(1, floor(ratio n + 1/2)) elements\n"
        "decode v_i for i in S, else 0; then v_i = 0 for i in S, and u_i = 0 too with mask=on.\n"
        "t is what a share `ratio` of the sample reaches. More than 1.3k elements are narrowed to the k\n"
        "largest; while fewer than 0.8k go, t falls by 0.8, ten times at most.\n"
        "What it decodes to is momentum's update, so the optimiser after it has none of its own; it is its\n"
        "own error feedback and not meant for ef+. The state, u and v, starts at zero, one per worker\n"
        "and tensor. The paper's clipping and warm-up are the training loop's.",
    .paper =
        "Lin, Han, Mao, Wang, Dally: Deep Gradient Compression: Reducing the Communication Bandwidth for\n"
        "Distributed Training, ICLR 2018",
    .look = {HUE_SPARSE, 4, 2},
    .params = schema,
    .promises = RANDOM | EXACT_BYTES | LEAVES_OUT | NEEDS_ALL,
    .bound = picks_bound,
    .encode = encode,
    .decode = decode,
    .state_size = state_size,
    .settle = settle,
    .residual = residual,
};
