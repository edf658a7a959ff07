/* half.c -- fp16 and bf16: rounds each element to 16 bits: IEEE binary16, or the upper half of a float32.
 *
 *     code=fixed   kind:8 = 1  half:16 x n            merged: kind:8 = 2  workers:varint  { mean:16 } x n
 *     code=rans    kind:8 = 1  { low:8 } x n  symbols of 8 bits: the high bytes (symbols.h)
 *
 * The low and the high byte are those of fp16's half, and those of bf16's half turned left by a bit: its exponent is then
 * the high byte. Exponents of gradients have about 3 bits of entropy, signs and fractions nearly none to give.
 *
 * rounding=nearest rounds ties to even. rounding=stochastic takes one of the two neighbours without bias,
 * denormals included. In both modes, magnitudes above the largest finite half (65504 for fp16, 2^127 (2 - 2^-7)
 * for bf16) become the largest finite half.
 *
 * Payloads of rounding=nearest merge to the mean over workers, rounded to halves, because a sum could
 * overflow and a mean cannot. Each further merge rounds again. A merged payload decodes to the mean times
 * the number of workers. Payloads of rounding=stochastic do not merge: to round a sum without bias, merge
 * would need random numbers. */
#include "compress/levels/codes.h"
#include "math/vec/kernels.h"

#include <float.h>
#include <math.h>

typedef struct {
    int rounding, code;
} Half;

enum { NEAREST, STOCHASTIC };
static const char *const roundings[] = {"nearest", "stochastic", NULL};
enum { FIXED, RANS };
static const char *const code_names[] = {"fixed", "rans", NULL};

static const Param schema[] = {
    PARAM_OF(Half, rounding, "nearest", roundings, "to even, or to a neighbour so that the mean is kept"),
    PARAM_OF(Half, code, "fixed", code_names, "16 bits each, or fewer without loss: high bytes by rANS"),
    {0},
};

static const Compressor compressor_fp16, compressor_bf16;

typedef struct {
    /* lowest: smallest exponent of a normal number; fraction: number of fraction bits */
    int lowest, fraction;
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

static bool by_symbols(const Codec *codec)
{
    return ((const Half *)codec->params)->code == RANS;
}

static unsigned traits(const Codec *codec)
{
    return (is_random(codec) ? UNBIASED | RANDOM : by_symbols(codec) ? 0u : MERGEABLE) |
           (by_symbols(codec) ? 0u : FIXED_SIZE);
}

/* With code=rans a high byte is a level. */
static Codes codes_of(const Call *c)
{
    return (Codes){.c = c, .kind = CODE_RANS, .unsigned_levels = true, .s = 255, .run = 1};
}

static size_t bound(const Call *c)
{
    const Codes codes = codes_of(c);
    return 1 + (by_symbols(c->self) ? c->shape->n + codes_most(&codes) : 2 * c->shape->n);
}

typedef struct {
    uint64_t workers;
    const uint8_t *half; /* n 16-bit floats, 2 bytes each */
} Halves;

typedef struct {
    const Call *c;
    const float *x;
    float *decoded;
    uint8_t *out;         /* with code=rans: for the low bytes */
    const uint8_t *sent;  /* the low bytes to decode */
    const Halves *in; /* the 16-bit floats of each payload to merge */
    size_t payloads;
    uint64_t workers; /* number of workers of all payloads together */
    uint8_t *fault;   /* for each block of 2^16 elements: NO_FAULT, NOT_FINITE or TOO_LARGE */
} HalfJob;

enum { NO_FAULT, NOT_FINITE, TOO_LARGE };

/* Rounds n elements of a block, from element `from` of it on, to `out`. */
static void round_halves(const HalfJob *job, size_t block, size_t from, size_t n, uint8_t *out)
{
    const Codec *codec = job->c->self;
    const Kernels *k = kernels();
    const RngKey key = rng_key(&job->c->rng, USE_COIN, block);
    const float *x = job->x + block * BLOCK + from;
    if (is_random(codec))
        (is_bf16(codec) ? k->bf16_random : k->fp16_random)(x, n, key, (uint32_t)from, out);
    else
        (is_bf16(codec) ? k->bf16_nearest : k->fp16_nearest)(x, n, out);
}

static void encode_block(void *data, size_t block)
{
    const HalfJob *job = data;
    round_halves(job, block, 0, block_size(job->c->shape->n, block), job->out + 2 * block * BLOCK);
}

/* ---- code=rans ---- */

enum { STRIP = 2048 }; /* elements handled at a time: they fit in the L1 cache */

static void split_halves(const void *data, size_t from, size_t n, void *code)
{
    const HalfJob *job = data;
    const int turn = is_bf16(job->c->self);
    uint8_t half[2 * STRIP];
    for (size_t at = 0; at < n; at += STRIP) {
        const size_t some = n - at < STRIP ? n - at : STRIP;
        uint8_t *high = (uint8_t *)code + at, *low = job->out + from + at;
        round_halves(job, from / BLOCK, at, some, half);
        for (size_t i = 0; i < some; i++) {
            const uint16_t h = load_u16(half + 2 * i), turned = (uint16_t)(h << turn | h >> (16 - turn));
            high[i] = (uint8_t)(turned >> 8);
            low[i] = (uint8_t)turned;
        }
    }
}

static const char *join_halves(const void *data, size_t from, size_t n, const void *code)
{
    const HalfJob *job = data;
    const uint8_t *high = code, *low = job->sent + from;
    uint8_t half[2 * BLOCK];
    for (size_t i = 0; i < n && !is_bf16(job->c->self); i++)
        store_u16(half + 2 * i, (uint16_t)(high[i] << 8 | low[i]));
    return (is_bf16(job->c->self) ? kernels()->bf16_joined(high, low, n, job->decoded + from)
                                  : kernels()->fp16_floats(half, n, job->decoded + from))
               ? NULL
               : "an element is not finite";
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const size_t n = c->shape->n;
    const Codes codes = codes_of(c);
    if (sends_raw(c))
        return raw_put(c, x, out);
    buf_u8(out, PAYLOAD_METHOD);
    HalfJob job = {.c = c, .x = x, .out = buf_room(out, by_symbols(c->self) ? n : 2 * n)};
    streams_bits(c->streams, (by_symbols(c->self) ? 8 : 16) * (double)n);
    if (by_symbols(c->self))
        return codes_put(&codes, split_halves, &job, out);
    parallel_for(c->threads, blocks_of(n), encode_block, &job);
    return OK;
}

static Status take_halves(const Call *c, Bytes in, Halves *h)
{
    const size_t n = c->shape->n;
    const unsigned own = own_kind(c);
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    *h = (Halves){kind == PAYLOAD_MERGED ? take_varint(&r) : 1, take_bytes(&r, 2 * n)};
    TRY(is_random(c->self) ? payload_kind(c, kind, own) : payload_kind_or_merged(c, kind, own));
    if (!reader_done(&r) || h->workers == 0)
        return payload_bad(c, "%zu bytes, want %zu halves", in.size, n);
    return OK;
}

/* Converts elements [from, from + n) to floats; false if an element is not finite. */
static bool floats_of(const HalfJob *job, const Halves *h, size_t from, size_t n, float *x)
{
    const Kernels *k = kernels();
    return (is_bf16(job->c->self) ? k->bf16_floats : k->fp16_floats)(h->half + 2 * from, n, x);
}

static Status run(HalfJob *job, void (*one)(void *data, size_t block))
{
    const Call *c = job->c;
    const size_t blocks = blocks_of(c->shape->n);
    job->fault = NEW_ZERO(c->scratch, uint8_t, blocks);
    TRY(arena_check(job->fault, c->scratch, c->err));
    parallel_for(c->threads, blocks, one, job);
    for (size_t b = 0; b < blocks; b++) {
        if (job->fault[b] == NOT_FINITE)
            return payload_bad(c, "an element of block %zu is not finite", b);
        if (job->fault[b] == TOO_LARGE)
            return FAIL(c->err, ERR_NUMERIC, "%s: a sum in block %zu is beyond float32", c->self->ops->name,
                        b);
    }
    return OK;
}

static void decode_block(void *data, size_t block)
{
    const HalfJob *job = data;
    const size_t n = block_size(job->c->shape->n, block), from = block * BLOCK;
    const double workers = (double)job->workers;
    float *x = job->decoded + from;
    int bad = !floats_of(job, job->in, from, n, x);
    for (size_t i = 0; i < n && job->workers > 1; i++) {
        x[i] = (float)((double)x[i] * workers);
        bad |= !(fabsf(x[i]) <= FLT_MAX);
    }
    job->fault[block] = bad ? NOT_FINITE : 0;
}

static Status decode_symbols(const Call *c, Bytes in, float *x)
{
    const Codes codes = codes_of(c);
    Reader r = reader_open(in);
    TRY(payload_kind(c, take_u8(&r), own_kind(c)));
    const HalfJob job = {.c = c, .decoded = x, .sent = take_bytes(&r, c->shape->n)};
    if (r.bad)
        return payload_bad(c, "%zu bytes, too few for %zu halves", in.size, c->shape->n);
    return codes_get(&codes, join_halves, &job, &r);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    Halves h;
    if (by_symbols(c->self))
        return decode_symbols(c, in, x);
    TRY(take_halves(c, in, &h));
    HalfJob job = {.c = c, .in = &h, .workers = h.workers, .decoded = x};
    return run(&job, decode_block);
}

/* A mean of finite halves is within their range, so the mean rounds to a finite half. */
static void merge_block(void *data, size_t block)
{
    const HalfJob *job = data;
    const Kernels *k = kernels();
    const size_t end = block * BLOCK + block_size(job->c->shape->n, block);
    const double workers = (double)job->workers;
    float x[STRIP];
    double sum[STRIP];
    int large = 0;
    for (size_t from = block * BLOCK; from < end; from += STRIP) {
        const size_t n = end - from < STRIP ? end - from : STRIP;
        memset(sum, 0, sizeof sum);
        for (size_t p = 0; p < job->payloads; p++) {
            const double weight = (double)job->in[p].workers;
            if (!floats_of(job, &job->in[p], from, n, x))
                job->fault[block] = NOT_FINITE;
            for (size_t i = 0; i < n; i++)
                sum[i] += weight * (double)x[i];
        }
        for (size_t i = 0; i < n; i++) {
            x[i] = (float)(sum[i] / workers);
            large |= !(fabs(sum[i]) <= (double)FLT_MAX);
        }
        (is_bf16(job->c->self) ? k->bf16_nearest : k->fp16_nearest)(x, n, job->out + 2 * from);
    }
    if (large && !job->fault[block])
        job->fault[block] = TOO_LARGE;
}

static Status merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    Halves *h = NEW(c->scratch, Halves, count);
    uint64_t workers = 0;
    TRY(arena_check(h, c->scratch, c->err));
    for (size_t p = 0; p < count; p++) {
        TRY(take_halves(c, in[p], &h[p]));
        TRY(payload_add_workers(c, h[p].workers, &workers));
    }
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, workers);
    HalfJob job = {
        .c = c, .in = h, .payloads = count, .workers = workers, .out = buf_room(out, 2 * c->shape->n)};
    return run(&job, merge_block);
}

static Status add(const Call *c, const Numbers *m, const uint8_t *const *in, size_t payloads, size_t n,
                  uint8_t *out)
{
    const Shape shape = shape_vector(n);
    Call call = *c;
    Halves *h = NEW(c->scratch, Halves, payloads);
    (void)m;
    TRY(arena_check(h, c->scratch, c->err));
    for (size_t p = 0; p < payloads; p++)
        h[p] = (Halves){1, in[p]};
    call.shape = &shape;
    HalfJob job = {.c = &call, .in = h, .payloads = payloads, .workers = payloads, .out = out};
    return run(&job, merge_block);
}

static Numbers numbers(const Call *c)
{
    return is_random(c->self) || by_symbols(c->self) ? (Numbers){0}
                              : (Numbers){.count = c->shape->n, .bits = 16, .merged_bits = 16, .add = add};
}

/* With rounding=stochastic returns the sum of (up - |x|)(|x| - down), where up and down are the neighbouring
 * 16-bit floats above and below |x|. Returns NaN if a value saturates, or with rounding=nearest. */
static double variance(const Call *c, const float *x)
{
    const Format *f = is_bf16(c->self) ? &bf16 : &fp16;
    double sum = 0;
    if (sends_raw(c))
        return 0;
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
    .params = schema, .promises = EXACT_BYTES, .traits = traits,                \
    .bound = bound, .encode = encode, .decode = decode, .merge = merge, .numbers = numbers,                  \
    .variance = variance

static const Compressor compressor_fp16 = {
    .name = "fp16",
    .brief = "half precision, IEEE binary16",
    .plain = "Rounds each element to a float of 16 bits: half the bytes, and an error of at most one part "
             "in 2048 unless the element is tiny. Magnitudes beyond 65504 become 65504.",
    .use_when = "half the bytes are few enough and almost nothing may be lost.",
    .example = "atomo-bench synth -o g.h5\n"
               "atomo-bench compare g.h5 -c fp16 -c fp16:rounding=stochastic",
    .formula = "x^ = x rounded to 11 bits of precision, quantum 2^-24 under 2^-14;\n"
               "magnitudes over 65504 become 65504 (and stochastic rounding is then biased).\n"
               "stochastic: x^ = up with probability (x - down)/(up - down), so E x^ = x and\n"
               "E |x^ - x|^2 = sum (up - |x|)(|x| - down).\n"
               "nearest: payloads merge, as an all-reduce adds halves: to the mean, rounded again.\n"
               "rans: the same x^; rANS codes the high byte of each half. Not merged.",
    .paper = "IEEE 754-2008; the usual baseline (Horovod, PyTorch DDP hooks)",
    .look = {HUE_NONE, 0, 1},
    HOOKS,
};

static const Compressor compressor_bf16 = {
    .name = "bf16",
    .brief = "half precision, the upper half of float32",
    .plain = "Keeps the upper 16 bits of each float: half the bytes, the range of float32, and an error of "
             "at most one part in 256.",
    .use_when = "half the bytes are few enough and elements span more orders of magnitude than fp16 can "
                "hold.",
    .example = "atomo-bench synth -o g.h5\n"
               "atomo-bench compare g.h5 -c bf16 -c fp16",
    .formula = "x^ = x rounded to 8 bits of precision with float32's exponents.\n"
               "stochastic: x^ = up with probability (x - down)/(up - down), so E x^ = x and\n"
               "E |x^ - x|^2 = sum (up - |x|)(|x| - down).\n"
               "nearest: payloads merge, as an all-reduce adds halves: to the mean, rounded again.\n"
               "rans: the same x^; rANS codes the high byte of each half. Not merged.",
    .paper = "bfloat16; the usual baseline (PyTorch DDP hooks); code=rans as in ZipNN, ZipCCL and DFloat11",
    .look = {HUE_NONE, 1, 2},
    HOOKS,
};

const Compressor *const compressors_halves[] = {&compressor_fp16, &compressor_bf16, NULL};
