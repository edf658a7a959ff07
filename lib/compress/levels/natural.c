/* natural.c -- natural compression (Horvath, Ho, Horvath, Sahu, Canini, Richtarik 2019): each element is
 * rounded without bias to one of the two neighbouring powers of two.
 *
 *     code=fixed   kind:8  { exponent:8 } x n  signs, planes of width 1 (planes.h)
 *     code=rans    kind:8  symbols of 9 bits: exponent in the low 8 bits, sign in bit 8 (symbols.h)
 *
 * The fraction bits of a float give the probability of the upper power: adding 23 random bits to the fraction
 * carries into the exponent field with that probability. For magnitudes below 2^-126 the exponent field is 0,
 * and the same addition chooses between 0 and 2^-126. With code=rans the tensor is sent raw if the longest
 * payload of its shape is not shorter than raw floats. */
#include "compress/levels/codes.h"
#include "math/vec/kernels.h"
#include "coder/planes.h"

#include <math.h>

typedef struct {
    int code;
} Natural;

enum { FIXED, RANS, SIGN_BIT = 8 };
static const char *const code_names[] = {"fixed", "rans", NULL};

static const Param schema[] = {
    PARAM_OF(Natural, code, "fixed", code_names, "how exponents and signs travel"),
    {0},
};

static bool by_symbols(const Call *c)
{
    return ((const Natural *)c->self->params)->code == RANS;
}

/* With code=rans an exponent is a level. */
static Codes codes_of(const Call *c)
{
    return (Codes){.c = c, .kind = CODE_RANS, .s = (1u << SIGN_BIT) - 1, .run = 1};
}

static size_t bound(const Call *c)
{
    const size_t n = c->shape->n;
    const Codes codes = codes_of(c);
    return 1 + (by_symbols(c) ? codes_most(&codes) : n + planes_size(n, 1));
}

typedef struct {
    const Call *c;
    const float *x;
    float *decoded;
    uint8_t *power, *signs;
    const uint8_t *in_power, *in_signs;
    bool *bad; /* for each block of 2^16 elements: true if the block cannot be encoded or decoded */
} NaturalJob;

static void encode_block(void *data, size_t block)
{
    const NaturalJob *job = data;
    const RngKey key = rng_key(&job->c->rng, USE_COIN, block);
    const size_t n = block_size(job->c->shape->n, block), i = block * BLOCK;
    uint8_t sign[BLOCK];
    job->bad[block] = !kernels()->powers(job->x + i, n, key, job->power + i, sign);
    planes_put(sign, false, n, 1, job->signs + planes_size(i, 1));
}

static void decode_block(void *data, size_t block)
{
    const NaturalJob *job = data;
    const size_t n = block_size(job->c->shape->n, block), i = block * BLOCK;
    uint8_t sign[BLOCK];
    job->bad[block] = !planes_get(job->in_signs + planes_size(i, 1), n, 1, sign, false) ||
                      !kernels()->power_floats(job->in_power + i, sign, n, job->decoded + i);
}

static void make_symbols(const void *data, size_t from, size_t n, void *code)
{
    const NaturalJob *job = data;
    const RngKey key = rng_key(&job->c->rng, USE_COIN, from / BLOCK);
    uint8_t power[BLOCK], sign[BLOCK];
    uint32_t *symbol = code;
    job->bad[from / BLOCK] = !kernels()->powers(job->x + from, n, key, power, sign);
    for (size_t k = 0; k < n; k++)
        symbol[k] = (uint32_t)(power[k] | sign[k] << SIGN_BIT);
}

static const char *take_symbols(const void *data, size_t from, size_t n, const void *code)
{
    const NaturalJob *job = data;
    const uint32_t *symbol = code;
    uint8_t power[BLOCK], sign[BLOCK];
    for (size_t k = 0; k < n; k++) {
        power[k] = (uint8_t)symbol[k];
        sign[k] = (uint8_t)(symbol[k] >> SIGN_BIT);
    }
    return kernels()->power_floats(power, sign, n, job->decoded + from) ? NULL : "levels that no encoder writes";
}

static void put_fixed(NaturalJob *job, Buf *out)
{
    const size_t n = job->c->shape->n;
    job->power = buf_room(out, n);
    job->signs = buf_room(out, planes_size(n, 1));
    parallel_for(job->c->threads, blocks_of(n), encode_block, job);
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
    const size_t blocks = blocks_of(c->shape->n);
    if (sends_raw(c))
        return raw_put(c, x, out);
    NaturalJob job = {.c = c, .x = x, .bad = NEW(c->scratch, bool, blocks)};
    TRY(arena_check(job.bad, c->scratch, c->err));
    buf_u8(out, PAYLOAD_METHOD);
    const Codes codes = codes_of(c);
    if (by_symbols(c))
        TRY(codes_put(&codes, make_symbols, &job, out));
    else
        put_fixed(&job, out);
    for (size_t b = 0; b < blocks; b++)
        if (job.bad[b])
            return FAIL(c->err, ERR_NUMERIC,
                        "natural: the power of two above an element of block %zu is beyond float32", b);
    if (c->streams && !by_symbols(c))
        report(c, job.power);
    return OK;
}

static Status get_fixed(NaturalJob *job, Bytes in)
{
    const Call *c = job->c;
    const size_t n = c->shape->n, blocks = blocks_of(n);
    if (in.size != bound(c))
        return payload_bad(c, "%zu bytes, want %zu", in.size, bound(c));
    job->in_power = in.data + 1;
    job->in_signs = in.data + 1 + n;
    parallel_for(c->threads, blocks, decode_block, job);
    for (size_t b = 0; b < blocks; b++)
        if (job->bad[b])
            return payload_bad(c, "an exponent of 255, a sign of zero or set padding bits in block %zu", b);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const Codes codes = codes_of(c);
    Reader r = reader_open(in);
    TRY(payload_kind(c, take_u8(&r), own_kind(c)));
    NaturalJob job = {.c = c, .decoded = x, .bad = NEW(c->scratch, bool, blocks_of(c->shape->n))};
    TRY(arena_check(job.bad, c->scratch, c->err));
    return by_symbols(c) ? codes_get(&codes, take_symbols, &job, &r) : get_fixed(&job, in);
}

/* Returns the sum of (up - |x|)(|x| - down). `down` and `up` are the powers of two around |x|, or 0 and 2^-126
 * if |x| < 2^-126. */
static double variance(const Call *c, const float *x)
{
    double sum = 0;
    if (sends_raw(c))
        return 0;
    for (size_t i = 0; i < c->shape->n; i++) {
        const double v = fabs((double)x[i]);
        if (v > 0x1p127)
            return NAN;
        const double down = v < 0x1p-126 ? 0 : ldexp(1, ilogb(v)), up = down > 0 ? 2 * down : 0x1p-126;
        sum += (up - v) * (v - down);
    }
    return sum;
}

static unsigned traits(const Codec *codec)
{
    return ((const Natural *)codec->params)->code == FIXED ? FIXED_SIZE : 0u;
}

const Compressor compressor_natural = {
    .name = "natural",
    .brief = "each element one of the two powers of two round it",
    .plain = "Rounds each element at random to the power of two below or above it, so that the mean is the "
             "element. Sign and exponent are left, 9 bits, and the variance is at most an eighth of the "
             "squared norm.",
    .use_when = "three and a half times fewer bytes are few enough, and encoding must cost next to nothing.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c natural -c bf16",
    .formula =
        "x^_i = sgn(x_i) 2^(e+1) with probability m - 1, else sgn(x_i) 2^e,   |x_i| = 2^e m, 1 <= m < 2;\n"
        "|x_i| under 2^-126 becomes 2^-126 with probability |x_i| / 2^-126, else 0.\n"
        "E x^ = x;  E |x^ - x|^2 = sum 4^e (m - 1)(2 - m) <= |x|^2 / 8 down to 2^-126.\n"
        "fixed: 9 bits an element, the exponent as float32 has it, and the sign; rans: their entropy,\n"
        "by shares in a table of the tensor or of each 2^16 elements, whichever is shorter.\n"
        "Refused where an |x_i| is beyond 2^127: the power above is no float32.",
    .paper = "Horvath, Ho, Horvath, Sahu, Canini, Richtarik: Natural Compression for Distributed Deep\n"
             "Learning, MSML 2022 (arXiv 1905.10988, 2019)",
    .look = {HUE_LEVELS, 0, 2},
    .params = schema,
    .promises = UNBIASED | RANDOM | EXACT_BYTES,
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .variance = variance,
};
