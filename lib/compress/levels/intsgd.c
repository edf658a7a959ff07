/* intsgd.c -- IntSGD (Mishchenko, Wang, Kovalev, Richtarik 2022): sends integers, rounded stochastically at a
 * scale that all workers share, so that payloads add without being decoded. The payload has the format of
 * sums.h with one scale.
 *
 * The scale M is the largest magnitude over all workers (with share=off, of one worker). An element x becomes
 * s x / M, rounded to an integer k from -s to s. So no element is clipped, and the estimate is unbiased. The
 * code of k is k + s. */
#include "compress/levels/codes.h"
#include "compress/levels/sums.h"
#include "math/blockwise.h"

#include <math.h>

static const Param schema[] = {
    PARAM(SumsParams, bits, "8", 2, 16, "bits of a number: from -s to s, s = 2^(bits - 1) - 1", .rate = true),
    PARAM_SWITCH(SumsParams, share, "on",
                 "one scale for all workers, sent in a round of its own; off: cannot merge"),
    {0},
};

typedef struct {
    const Call *c;
    const float *x;
    float scale;
    uint32_t s;
    Codes codes;
    Sums sums;
    SumsTotal total; /* decode: the sums of codes to decode */
    float *decoded;
    bool *bad; /* for each block of 2^16 elements: true if a code of the block is out of range */
} IntsgdJob;

static Sums sums_of(const Call *c)
{
    const SumsParams *p = c->self->params;
    const uint32_t s = (UINT32_C(1) << (p->bits - 1)) - 1;
    Sums sums = {.c = c, .scales = 1, .bits = (int)p->bits, .top = 2 * s, .shared = p->share};
    sums.raw = 5 + (p->share ? 1u : 0u) + planes_size(c->shape->n, (int)p->bits) >= raw_size(c);
    return sums;
}

static const SumsFamily family = {sums_of};

static void open_job(IntsgdJob *job, const Call *c)
{
    const size_t n = c->shape->n;
    const Sums sums = sums_of(c);
    const uint32_t s = sums.top / 2;
    *job = (IntsgdJob){.c = c, .s = s, .sums = sums};
    job->codes = (Codes){.c = c,
                         .kind = CODE_FIXED,
                         .unsigned_levels = true,
                         .s = 2 * s + 1,
                         .run = n ? n : 1};
}

/* ---- the scale shared by all workers ---- */

/* Fails if the largest integer s would decode to a value beyond float32's range. */
static Status own_scale(const IntsgdJob *job, const float *x, float *scale)
{
    const Call *c = job->c;
    *scale = blockwise_most(x, c->shape->n, c->threads);
    const Dequantiser d = dequantiser_make(*scale, job->s);
    return isfinite(dequantise_code(&d, job->s))
               ? OK
               : FAIL(c->err, ERR_NUMERIC, "intsgd: the scale %g is beyond float32", (double)*scale);
}

/* ---- quantising and dequantising one block ---- */

/* Converts n codes of integers k in -s .. s from magnitude and sign bit to the number k + s. */
#define ABOVE_LOWEST(TYPE)                                                                                   \
    static void above_lowest_##TYPE(TYPE *code, size_t n, uint32_t s, int sign)                              \
    {                                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                     \
            const uint32_t level = code[i] & s;                                                              \
            code[i] = (TYPE)(code[i] >> sign ? s - level : s + level);                                       \
        }                                                                                                    \
    }
ABOVE_LOWEST(uint8_t)
ABOVE_LOWEST(uint32_t)

static void quantise(const void *data, size_t from, size_t n, void *code)
{
    const IntsgdJob *job = data;
    const float *x = job->x + from;
    const RngKey key = rng_key(&job->c->rng, USE_COIN, from / BLOCK);
    const bool wide = codes_wide(&job->codes);
    if (job->scale == 0)
        memset(code, 0, wide ? 4 * n : n);
    else if (job->s == 1)
        kernels()->toss8(x, n, coin_make(job->scale), key, 0, code);
    else if (wide)
        kernels()->quantise32(x, n, quantiser_make(job->scale, job->s), key, 0, code);
    else
        kernels()->quantise8(x, n, quantiser_make(job->scale, job->s), key, 0, code);
    if (wide)
        above_lowest_uint32_t(code, n, job->s, level_bits(job->s));
    else
        above_lowest_uint8_t(code, n, job->s, level_bits(job->s));
}

enum { PIECE = 4096 };

/* Decodes n elements. Returns false if a sum of codes is out of range, a decoded value is not finite, or an
 * integer other than 0 has the scale 0. */
static bool values(const IntsgdJob *job, size_t from, size_t n, float *x)
{
    const Dequantiser d = dequantiser_make(job->scale, job->s);
    const int32_t zero = (int32_t)(job->s * (uint32_t)job->total.workers);
    uint32_t sum[PIECE];
    int32_t most = 0;
    if (!sums_get(&job->total, from, n, sum))
        return false;
    for (size_t i = 0; i < n; i++) {
        const int32_t number = (int32_t)sum[i] - zero, size = number < 0 ? -number : number;
        most = size > most ? size : most;
        x[i] = (float)number * d.unit * d.drop;
    }
    return isfinite((float)most * d.unit * d.drop) && (most == 0 || job->scale > 0);
}

static void dequantise(void *data, size_t block)
{
    const IntsgdJob *job = data;
    const size_t start = block * BLOCK, end = start + block_size(job->c->shape->n, block);
    for (size_t i = start; i < end; i += PIECE)
        job->bad[block] |= !values(job, i, end - i < PIECE ? end - i : PIECE, job->decoded + i);
}

/* ---- the hooks of the codec ---- */

static Status put_scale(const IntsgdJob *job, const float *x, Buf *out)
{
    float scale;
    TRY(own_scale(job, x, &scale));
    buf_u8(out, PAYLOAD_METHOD);
    buf_f32(out, scale);
    streams_floats(job->c->streams, 1);
    return OK;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    IntsgdJob job;
    const uint8_t *scale;
    open_job(&job, c);
    if (sums_scale_round(&job.sums))
        return job.sums.raw ? OK : put_scale(&job, x, out);
    if (job.sums.raw)
        return raw_put(c, x, out);
    job.x = x;
    if (job.sums.shared) {
        TRY(sums_heard(&job.sums, &scale));
        job.scale = load_f32(scale);
        buf_u8(out, PAYLOAD_METHOD);
    } else {
        TRY(put_scale(&job, x, out));
        job.scale = load_f32(out->data + out->size - 4);
    }
    return codes_put(&job.codes, quantise, &job, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    IntsgdJob job;
    const uint8_t *scale;
    const size_t blocks = blocks_of(c->shape->n);
    open_job(&job, c);
    TRY(sums_open(&job.sums, in, &scale, &job.total));
    if (!scale)
        return payload_floats(c, job.total.planes, x);
    job.scale = load_f32(scale);
    job.decoded = x;
    job.bad = NEW_ZERO(c->scratch, bool, blocks);
    TRY(arena_check(job.bad, c->scratch, c->err));
    parallel_for(c->threads, blocks, dequantise, &job);
    for (size_t b = 0; b < blocks; b++)
        if (job.bad[b])
            return payload_bad(c, "numbers that no encoder writes, in block %zu", b);
    return OK;
}

/* Returns (M/s)^2 sum f (1 - f), where s is the largest integer, M the scale and f the fractional part of s |x|
 * / M for an element x. In round 1, M is the scale shared by all workers; otherwise M is this worker's largest
 * magnitude. */
static double variance(const Call *c, const float *x)
{
    IntsgdJob job;
    float own;
    const uint8_t *heard;
    open_job(&job, c);
    if (job.sums.raw)
        return 0;
    if (own_scale(&job, x, &own) != OK)
        return NAN;
    job.scale = own;
    if (job.sums.shared && c->round == 1 && c->heard) {
        if (sums_heard(&job.sums, &heard) != OK || load_f32(heard) < own)
            return NAN;
        job.scale = load_f32(heard);
    }
    double sum = 0;
    const double unit = (double)job.scale / job.s;
    for (size_t i = 0; i < c->shape->n && unit > 0; i++) {
        const double t = fabs((double)x[i]) / unit, f = t - floor(t);
        sum += f * (1 - f);
    }
    return unit * unit * sum;
}

const Compressor compressor_intsgd = {
    .name = "intsgd",
    .brief = "stochastically rounded integers at a shared scale, which add up undecoded",
    .plain = "Multiplies the gradient by a scale that all workers share and rounds it at random to whole "
             "numbers. Sums of payloads are payloads, so that nothing is decoded on the way.",
    .use_when = "an all-reduce or a switch adds whole numbers, and 8 bits or so an element are affordable.",
    .example = "atomo-bench synth -o g.h5 --workers 4\n"
               "atomo-bench merge g.h5 -c intsgd:bits=8 --workers 4",
    .formula =
        "k_i = floor(a x_i) + [u_i < a x_i - floor(a x_i)],   x^_i = k_i / a,   a = s / M,\n"
        "s = 2^(bits - 1) - 1, M the largest magnitude of all workers (share=on, found in a first round)\n"
        "or of one: nothing is clipped.\n"
        "E x^ = x;  E |x^ - x|^2 = sum f (1 - f) / a^2,  f = frac(a |x_i|).\n"
        "share=on: the sum of W workers' numbers is theirs undecoded, ceil(log2 W) bits wider;\n"
        "bits + ceil(log2 W) may be 24. Raw where the shape says that it would not be larger.\n"
        "Differs from the paper: its a needs no first round, as it follows from the lengths of the last steps of\n"
        "the weights, which no gradient dump holds; numbers beyond s are then clipped, here none is.",
    .paper = "Mishchenko, Wang, Kovalev, Richtarik: IntSGD: Adaptive Floatless Compression of Stochastic\n"
             "Gradients, ICLR 2022",
    .look = {HUE_LEVELS, 4, 1},
    .params = schema,
    .promises = UNBIASED | RANDOM | EXACT_BYTES | FIXED_SIZE,
    .family = &family,
    SUMS_HOOKS,
    .encode = encode,
    .decode = decode,
    .variance = variance,
};
