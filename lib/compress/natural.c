/* natural.c -- natural compression (Horvath, Ho, Horvath, Sahu, Canini, Richtarik 2019): each element becomes
 * one of the two powers of two round it, so that its mean is kept.
 *
 *     kind:8  { exponent:8 } x n  signs, planes of width 1 (planes.h)
 *
 * A float's mantissa is the probability of the next power: it is carried into the exponent field by adding 23
 * random bits. Below 2^-126, where the field is 0, the same addition tosses between 0 and 2^-126. */
#include "../compressor.h"
#include "../kernels.h"
#include "../planes.h"

#include <math.h>

static unsigned traits(const Codec *codec)
{
    (void)codec;
    return UNBIASED | RANDOM | EXACT_BYTES;
}

static size_t bound(const Call *c)
{
    return 1 + c->shape->n + planes_size(c->shape->n, 1);
}

typedef struct {
    const Call *c;
    const float *x;
    float *decoded;
    uint8_t *power, *signs;
    const uint8_t *in_power, *in_signs;
    bool *bad; /* for each block */
} Job;

static void encode_block(void *data, size_t block)
{
    const Job *job = data;
    const RngKey key = rng_key(&job->c->rng, USE_COIN, block);
    const size_t n = block_size(job->c->shape->n, block), i = block * BLOCK;
    uint8_t sign[BLOCK];
    job->bad[block] = !kernels()->powers(job->x + i, n, key, job->power + i, sign);
    planes_put8(sign, n, 1, job->signs + planes_size(i, 1));
}

static void decode_block(void *data, size_t block)
{
    const Job *job = data;
    const size_t n = block_size(job->c->shape->n, block), i = block * BLOCK;
    uint8_t sign[BLOCK];
    job->bad[block] = !planes_get8(job->in_signs + planes_size(i, 1), n, 1, sign) ||
                      !kernels()->power_floats(job->in_power + i, sign, n, job->decoded + i);
}

static void report(const Call *c, const uint8_t *power)
{
    uint64_t count[256] = {0};
    for (size_t i = 0; i < c->shape->n; i++)
        count[power[i]]++;
    streams_symbols(c->streams, count, countof(count));
    streams_bits(c->streams, (double)(c->shape->n - count[0]));
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const size_t n = c->shape->n, blocks = blocks_of(n);
    if (n == 0)
        return raw_put(c, x, out);
    Job job = {.c = c, .x = x, .bad = NEW(c->scratch, bool, blocks)};
    if (!job.bad)
        return arena_fail(c->scratch, c->err);
    buf_u8(out, PAYLOAD_METHOD);
    job.power = buf_room(out, n);
    job.signs = buf_room(out, planes_size(n, 1));
    parallel_for(c->threads, blocks, encode_block, &job);
    for (size_t b = 0; b < blocks; b++)
        if (job.bad[b])
            return FAIL(c->err, ERR_NUMERIC,
                        "natural: the power of two above an element of block %zu is beyond float32", b);
    if (c->streams)
        report(c, job.power);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const size_t n = c->shape->n, blocks = blocks_of(n);
    if (in.data[0] != PAYLOAD_METHOD || n == 0 || in.size != bound(c))
        return payload_bad(c, "kind %d and %zu bytes, want kind %d and %zu", in.data[0], in.size,
                           n ? PAYLOAD_METHOD : PAYLOAD_RAW, bound(c));
    Job job = {.c = c, .decoded = x, .in_power = in.data + 1, .in_signs = in.data + 1 + n};
    job.bad = NEW(c->scratch, bool, blocks);
    if (!job.bad)
        return arena_fail(c->scratch, c->err);
    parallel_for(c->threads, blocks, decode_block, &job);
    for (size_t b = 0; b < blocks; b++)
        if (job.bad[b])
            return payload_bad(c, "an exponent of 255, a sign of zero or set padding bits in block %zu", b);
    return OK;
}

/* Sum of (up - |x|)(|x| - down) over the powers on either side, 0 and 2^-126 being the lowest. */
static double variance(const Call *c, const float *x)
{
    double sum = 0;
    for (size_t i = 0; i < c->shape->n; i++) {
        const double v = fabs((double)x[i]);
        if (v > 0x1p127)
            return NAN;
        const double down = v < 0x1p-126 ? 0 : ldexp(1, ilogb(v)), up = down > 0 ? 2 * down : 0x1p-126;
        sum += (up - v) * (v - down);
    }
    return sum;
}

const Compressor compressor_natural = {
    .name = "natural",
    .brief = "each element one of the two powers of two round it",
    .formula =
        "x^_i = sgn(x_i) 2^(e+1) with probability m - 1, else sgn(x_i) 2^e,   |x_i| = 2^e m, 1 <= m < 2;\n"
        "|x_i| under 2^-126 becomes 2^-126 with probability |x_i| / 2^-126, else 0.\n"
        "E x^ = x;  E |x^ - x|^2 = sum 4^e (m - 1)(2 - m) <= |x|^2 / 8.\n"
        "9 bits an element: the exponent as float32 has it, and the sign.\n"
        "Refused where an |x_i| is beyond 2^127: the power above is no float32.",
    .paper = "Horvath, Ho, Horvath, Sahu, Canini, Richtarik: Natural Compression for Distributed Deep\n"
             "Learning, MSML 2022 (arXiv 1905.10988, 2019)",
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .variance = variance,
};
