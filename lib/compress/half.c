/* half.c -- fp16 and bf16: 16 bits an element, IEEE binary16 or the upper half of float32.
 *
 *     kind:8  half:16 x n
 *
 * Nearest rounds to even; stochastic takes one of the two neighbours so that the mean is kept, denormals
 * included. Magnitudes beyond the largest finite half (65504, or 2^127 (2 - 2^-7)) become it, with either rounding. */
#include "../compressor.h"
#include "../kernels.h"

#include <math.h>

typedef struct {
    int rounding;
} Half;

enum { NEAREST, STOCHASTIC };
static const char *const roundings[] = {"nearest", "stochastic", NULL};

static const Param schema[] = {
    PARAM_OF(Half, rounding, "nearest", roundings, "to even, or to a neighbour so that the mean is kept"),
    {0},
};

extern const Compressor compressor_fp16, compressor_bf16;

typedef struct {
    int lowest, fraction; /* the exponent under which the quantum stays, and bits behind the point */
    double most;
} Format;
static const Format fp16 = {-14, 10, 65504}, bf16 = {-126, 7, 0x1.fep127};

static bool is_bf16(const Codec *codec)
{
    return codec->ops == &compressor_bf16;
}
static bool is_random(const Codec *codec)
{
    return ((const Half *)codec->params)->rounding == STOCHASTIC;
}

static unsigned traits(const Codec *codec)
{
    return EXACT_BYTES | (is_random(codec) ? UNBIASED | RANDOM : 0u);
}

static size_t bound(const Call *c)
{
    return 1 + 2 * c->shape->n;
}

typedef struct {
    const Call *c;
    const float *x;
    float *decoded;
    uint8_t *out;
    const uint8_t *in;
    bool *bad;
} Job;

static void encode_block(void *data, size_t block)
{
    const Job *job = data;
    const Codec *codec = job->c->self;
    const Kernels *k = kernels();
    const RngKey key = rng_key(&job->c->rng, USE_COIN, block);
    const float *x = job->x + block * BLOCK;
    uint8_t *out = job->out + 2 * block * BLOCK;
    const size_t n = block_size(job->c->shape->n, block);
    if (is_random(codec))
        (is_bf16(codec) ? k->bf16_random : k->fp16_random)(x, n, key, 0, out);
    else
        (is_bf16(codec) ? k->bf16_nearest : k->fp16_nearest)(x, n, out);
}

static void decode_block(void *data, size_t block)
{
    const Job *job = data;
    const Kernels *k = kernels();
    const size_t n = block_size(job->c->shape->n, block), i = block * BLOCK;
    job->bad[block] =
        !(is_bf16(job->c->self) ? k->bf16_floats : k->fp16_floats)(job->in + 2 * i, n, job->decoded + i);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const size_t n = c->shape->n;
    if (n == 0)
        return raw_put(c, x, out);
    buf_u8(out, PAYLOAD_METHOD);
    Job job = {.c = c, .x = x, .out = buf_room(out, 2 * n)};
    parallel_for(c->threads, blocks_of(n), encode_block, &job);
    streams_bits(c->streams, 16 * (double)n);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const size_t n = c->shape->n, blocks = blocks_of(n);
    TRY(payload_kind(c, in.data[0], n ? PAYLOAD_METHOD : PAYLOAD_RAW));
    if (in.size != 1 + 2 * n)
        return payload_bad(c, "%zu bytes, want %zu", in.size, 1 + 2 * n);
    Job job = {.c = c, .in = in.data + 1, .decoded = x, .bad = NEW_ZERO(c->scratch, bool, blocks)};
    if (!job.bad)
        return arena_fail(c->scratch, c->err);
    parallel_for(c->threads, blocks, decode_block, &job);
    for (size_t b = 0; b < blocks; b++)
        if (job.bad[b])
            return payload_bad(c, "an element of block %zu is not finite", b);
    return OK;
}

/* Stochastic: sum of (up - |x|)(|x| - down) over the neighbours; unknown once a value is beyond the largest. */
static double variance(const Call *c, const float *x)
{
    const Format *f = is_bf16(c->self) ? &bf16 : &fp16;
    double sum = 0;
    for (size_t i = 0; i < c->shape->n; i++) {
        const double v = fabs((double)x[i]);
        if (v > f->most || !is_random(c->self))
            return NAN;
        if (v == 0)
            continue;
        const int exponent = ilogb(v) > f->lowest ? ilogb(v) : f->lowest;
        const double quantum = ldexp(1, exponent - f->fraction), part = fmod(v, quantum);
        sum += part * (quantum - part);
    }
    return sum;
}

#define HOOKS                                                                                                \
    .params = schema, .params_size = sizeof(Half), .traits = traits, .bound = bound, .encode = encode,       \
    .decode = decode, .variance = variance

const Compressor compressor_fp16 = {
    .name = "fp16",
    .brief = "half precision, IEEE binary16",
    .formula = "x^ = x rounded to 11 bits of precision, quantum 2^-24 under 2^-14;\n"
               "magnitudes over 65504 become 65504 (and stochastic rounding is then biased).\n"
               "stochastic: x^ = up with probability (x - down)/(up - down), so E x^ = x and\n"
               "E |x^ - x|^2 = sum (up - |x|)(|x| - down).",
    .paper = "IEEE 754-2008; the usual baseline (Horovod, PyTorch DDP hooks)",
    HOOKS,
};

const Compressor compressor_bf16 = {
    .name = "bf16",
    .brief = "half precision, the upper half of float32",
    .formula = "x^ = x rounded to 8 bits of precision with float32's exponents.\n"
               "stochastic: x^ = up with probability (x - down)/(up - down), so E x^ = x and\n"
               "E |x^ - x|^2 = sum (up - |x|)(|x| - down).",
    .paper = "bfloat16; the usual baseline (PyTorch DDP hooks)",
    HOOKS,
};
