/* plain.c -- none, fp16 and bf16: sends each element as it is, float32, or rounded to 16 bits: IEEE binary16, or the upper
 * half of a float32. The codec `none` is the baseline of comparisons; with code=fixed its payloads have no kind byte.
 *
 *     none    code=fixed   { x:32 } x n                       merged: { sum:32 } x n
 *             code=rans    kind:8 = 1  { low:8 } x n  { rest:16 } x n  symbols
 *     others  code=fixed   kind:8 = 1  half:16 x n            merged: kind:8 = 2  workers:varint  { mean:16 } x n
 *             code=rans    kind:8 = 1  { low:8 } x n  symbols of 8 bits: the high bytes (symbols.h)
 *
 * The low and the high byte are those of fp16's half, and those of bf16's half turned left by a bit: its exponent is then
 * the high byte. Those of none are bf16's of its upper half; `rest` is its lower half. Exponents of gradients have about 3
 * bits of entropy, signs and fractions nearly none to give.
 *
 * rounding=nearest rounds ties to even. rounding=stochastic takes one of the two neighbours without bias,
 * denormals included. In both modes, magnitudes above the largest finite half (65504 for fp16, 2^127 (2 - 2^-7)
 * for bf16) become the largest finite half.
 *
 * Halves of rounding=nearest merge to the mean over workers, rounded to halves, because a sum could
 * overflow and a mean cannot. Each further merge rounds again. A merged payload decodes to the mean times
 * the number of workers. Payloads of rounding=stochastic do not merge: to round a sum without bias, merge
 * would need random numbers. */
#include "compress/levels/codes.h"
#include "compress/lowrank/addends.h"
#include "math/vec/kernels.h"

#include <float.h>
#include <math.h>

typedef struct {
    int rounding, code;
} Plain;

enum { NEAREST, STOCHASTIC };
static const char *const roundings[] = {"nearest", "stochastic", NULL};
enum { FIXED, RANS };
static const char *const code_names[] = {"fixed", "rans", NULL};

static const Param schema[] = {
    PARAM_OF(Plain, rounding, "nearest", roundings, "to even, or to a neighbour so that the mean is kept"),
    PARAM_OF(Plain, code, "fixed", code_names, "16 bits each, or fewer without loss: high bytes by rANS"),
    {0},
};
static const Param none_schema[] = {
    PARAM_OF(Plain, code, "fixed", code_names, "32 bits each, or fewer without loss: exponents by rANS"),
    {0},
};

static const Compressor compressor_none, compressor_fp16;

typedef struct {
    /* lowest: smallest exponent of a normal number; fraction: number of fraction bits */
    int lowest, fraction;
    double most;
} Format;
static const Format fp16 = {-14, 10, 65504}, bf16 = {-126, 7, 0x1.fep127};

static bool is_fp16(const Codec *codec)
{
    return codec->ops == &compressor_fp16;
}
static bool is_whole(const Codec *codec)
{
    return codec->ops == &compressor_none;
}
static bool is_random(const Codec *codec)
{
    return ((const Plain *)codec->params)->rounding == STOCHASTIC;
}

static bool by_symbols(const Codec *codec)
{
    return ((const Plain *)codec->params)->code == RANS;
}

static unsigned traits(const Codec *codec)
{
    if (is_whole(codec))
        return UNBIASED | (by_symbols(codec) ? 0u : LINEAR | MERGEABLE | BARE);
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
    const size_t n = c->shape->n, width = is_whole(c->self) ? 4 : 2;
    return by_symbols(c->self) ? 1 + (width - 1) * n + codes_most(&codes) : !is_whole(c->self) + width * n;
}

typedef struct {
    uint64_t workers;
    const uint8_t *half; /* n 16-bit floats, 2 bytes each */
} Halves;

typedef struct {
    const Call *c;
    const float *x;
    float *decoded;
    uint8_t *out, *rest;              /* with code=rans `out` is for the low bytes; `rest`: for the lower halves of none */
    const uint8_t *sent, *sent_rest;  /* the low bytes and, with none, the lower halves to decode */
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
        (is_fp16(codec) ? k->fp16_random : k->bf16_random)(x, n, key, (uint32_t)from, out);
    else
        (is_fp16(codec) ? k->fp16_nearest : k->bf16_nearest)(x, n, out);
}

static void encode_block(void *data, size_t block)
{
    const HalfJob *job = data;
    round_halves(job, block, 0, block_size(job->c->shape->n, block), job->out + 2 * block * BLOCK);
}

/* ---- code=rans ---- */

enum { STRIP = 2048 }; /* elements handled at a time: they fit in the L1 cache */

/* Sets the upper and the lower halves of n elements. */
static void cut_floats(const float *x, size_t n, uint8_t *upper, uint8_t *lower)
{
    for (size_t i = 0; i < n; i++) {
        store_u16(upper + 2 * i, (uint16_t)(float_bits(x[i]) >> 16));
        store_u16(lower + 2 * i, (uint16_t)float_bits(x[i]));
    }
}

static void split_halves(const void *data, size_t from, size_t n, void *code)
{
    const HalfJob *job = data;
    const int turn = !is_fp16(job->c->self);
    uint8_t half[2 * STRIP];
    for (size_t at = 0; at < n; at += STRIP) {
        const size_t some = n - at < STRIP ? n - at : STRIP;
        uint8_t *high = (uint8_t *)code + at, *low = job->out + from + at;
        if (job->rest)
            cut_floats(job->x + from + at, some, half, job->rest + 2 * (from + at));
        else
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
    for (size_t i = 0; i < n && is_fp16(job->c->self); i++)
        store_u16(half + 2 * i, (uint16_t)(high[i] << 8 | low[i]));
    return (is_fp16(job->c->self) ? kernels()->fp16_floats(half, n, job->decoded + from)
                                  : kernels()->joined(high, low, job->sent_rest ? job->sent_rest + 2 * from : NULL, n,
                                                      job->decoded + from))
               ? NULL
               : "an element is not finite";
}

static Status put_symbols(const Call *c, const float *x, Buf *out)
{
    const Codes codes = codes_of(c);
    const size_t n = c->shape->n;
    buf_u8(out, PAYLOAD_METHOD);
    HalfJob job = {.c = c, .x = x, .out = buf_room(out, n)};
    job.rest = is_whole(c->self) ? buf_room(out, 2 * n) : NULL;
    streams_bits(c->streams, (job.rest ? 24 : 8) * (double)n);
    return codes_put(&codes, split_halves, &job, out);
}

static Status get_symbols(const Call *c, Bytes in, float *x)
{
    const Codes codes = codes_of(c);
    const size_t n = c->shape->n;
    Reader r = reader_open(in);
    TRY(payload_kind(c, take_u8(&r), is_whole(c->self) ? PAYLOAD_METHOD : own_kind(c)));
    HalfJob job = {.c = c, .decoded = x, .sent = take_bytes(&r, n)};
    job.sent_rest = is_whole(c->self) ? take_bytes(&r, 2 * n) : NULL;
    if (r.bad)
        return payload_bad(c, "%zu bytes, too few for %zu elements", in.size, n);
    return codes_get(&codes, join_halves, &job, &r);
}

/* ---- none ---- */

/* With code=rans codec_encode sends floats where they are shorter. */
static Status none_encode(const Call *c, const float *x, Buf *out)
{
    if (by_symbols(c->self))
        return put_symbols(c, x, out);
    buf_floats(out, x, c->shape->n);
    streams_floats(c->streams, c->shape->n);
    return OK;
}

static Status none_decode(const Call *c, Bytes in, float *x)
{
    if (by_symbols(c->self))
        return get_symbols(c, in, x);
    if (in.size != 4 * c->shape->n)
        return payload_bad(c, "%zu bytes, want %zu", in.size, 4 * c->shape->n);
    return payload_floats(c, in.data, x);
}

static Status none_merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const uint8_t **values = NEW(c->scratch, const uint8_t *, count);
    TRY(arena_check(values, c->scratch, c->err));
    for (size_t w = 0; w < count; w++) {
        if (in[w].size != 4 * c->shape->n)
            return payload_bad(c, "%zu bytes, want %zu", in[w].size, 4 * c->shape->n);
        values[w] = in[w].data;
    }
    return addends_sum(c, values, count, c->shape->n, 1, (double)FLT_MAX, "element",
                       buf_room(out, 4 * c->shape->n));
}

/* ---- fp16 and bf16 ---- */

static Status encode(const Call *c, const float *x, Buf *out)
{
    const size_t n = c->shape->n;
    if (sends_raw(c))
        return raw_put(c, x, out);
    if (by_symbols(c->self))
        return put_symbols(c, x, out);
    buf_u8(out, PAYLOAD_METHOD);
    HalfJob job = {.c = c, .x = x, .out = buf_room(out, 2 * n)};
    streams_bits(c->streams, 16 * (double)n);
    parallel_for(c->threads, blocks_of(n), encode_block, &job);
    return OK;
}

static Status take_halves(const Call *c, Bytes in, Halves *h)
{
    const size_t n = c->shape->n;
    const unsigned own = own_kind(c);
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    h->workers = kind == PAYLOAD_MERGED ? take_varint(&r) : 1;
    h->half = take_bytes(&r, 2 * n);
    TRY(is_random(c->self) ? payload_kind(c, kind, own) : payload_kind_or_merged(c, kind, own));
    if (!reader_done(&r) || h->workers == 0)
        return payload_bad(c, "%zu bytes, want %zu halves", in.size, n);
    return OK;
}

/* Converts elements [from, from + n) to floats; false if an element is not finite. */
static bool floats_of(const HalfJob *job, const Halves *h, size_t from, size_t n, float *x)
{
    const Kernels *k = kernels();
    return (is_fp16(job->c->self) ? k->fp16_floats : k->bf16_floats)(h->half + 2 * from, n, x);
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

static Status decode(const Call *c, Bytes in, float *x)
{
    Halves h;
    if (by_symbols(c->self))
        return get_symbols(c, in, x);
    TRY(take_halves(c, in, &h));
    HalfJob job = {.c = c, .in = &h, .workers = h.workers, .decoded = x};
    return run(&job, decode_block);
}

/* A mean of finite halves is within their range, so it rounds to a finite half. As a float, a number of workers is exact up to 2^24. */
static void merge_block(void *data, size_t block)
{
    enum { RUN = 512, ROWS = 4 };
    const HalfJob *job = data;
    const Kernels *k = kernels();
    const size_t end = block * BLOCK + block_size(job->c->shape->n, block);
    float x[ROWS * RUN], weight[ROWS];
    int large = 0;
    for (size_t from = block * BLOCK; from < end; from += RUN) {
        const size_t n = end - from < RUN ? end - from : RUN;
        double sum[RUN] = {0};
        for (size_t p = 0; p < job->payloads; p++) {
            const size_t row = p % ROWS;
            weight[row] = (float)job->in[p].workers;
            if (!floats_of(job, &job->in[p], from, n, x + row * RUN))
                job->fault[block] = NOT_FINITE;
            if (row + 1 == ROWS || p + 1 == job->payloads)
                k->rows_add(x, RUN, row + 1, n, (const float *const[4]){weight}, 1, (double *const[4]){sum});
        }
        for (size_t i = 0; i < n; i++)
            x[i] = (float)sum[i];
        const bool near = k->abs_max(x, n) >= FLT_MAX; /* seldom, and the loop of doubles is slow */
        for (size_t i = 0; near && i < n; i++)
            large |= !(fabs(sum[i]) <= (double)FLT_MAX);
        for (size_t i = 0; i < n; i++)
            x[i] = (float)(sum[i] / (double)job->workers);
        (is_fp16(job->c->self) ? k->fp16_nearest : k->bf16_nearest)(x, n, job->out + 2 * from);
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
    if (is_random(c->self) || by_symbols(c->self))
        return (Numbers){0};
    return is_whole(c->self) ? addends_numbers(c->shape->n, 1, (double)FLT_MAX)
                             : (Numbers){.count = c->shape->n, .bits = 16, .merged_bits = 16, .add = add};
}

/* With none returns 0. With rounding=stochastic returns the sum of (up - |x|)(|x| - down), where up and down are the neighbouring
 * 16-bit floats above and below |x|. Returns NaN if a value saturates, or with rounding=nearest. */
static double variance(const Call *c, const float *x)
{
    const Format *f = is_fp16(c->self) ? &fp16 : &bf16;
    double sum = 0;
    if (is_whole(c->self) || sends_raw(c))
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

static const Compressor compressor_none = {
    .name = "none",
    .brief = "raw float32",
    .plain = "Sends the gradient as it is, four bytes an element. All other codecs are measured against it.",
    .use_when = "you need the baseline of a comparison, or the link is fast enough without compression.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c none -c none:code=rans -c qsgd",
    .formula = "g as it is, 32 bits an element; merging adds\n"
               "rans: the same g; rANS codes the exponents. Not merged.",
    .paper = "the baseline",
    .look = {HUE_NONE, 1, 0},
    .params = none_schema,
    .promises = EXACT_BYTES,
    .traits = traits,
    .bound = bound,
    .encode = none_encode,
    .decode = none_decode,
    .merge = none_merge,
    .numbers = numbers,
    .variance = variance,
};

static const Compressor compressor_fp16 = {
    .name = "fp16",
    .brief = "half precision, IEEE binary16",
    .plain = "Rounds each element to a float of 16 bits: half the bytes, and an error of at most one part "
             "in 2048 unless the element is tiny. Magnitudes beyond 65504 become 65504.",
    .use_when = "half the bytes are few enough and almost nothing may be lost.",
    .example = "atomo-bench synth -o g.h5 --force\n"
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
    .example = "atomo-bench synth -o g.h5 --force\n"
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

const Compressor *const compressors_plain[] = {&compressor_none, &compressor_fp16, &compressor_bf16, NULL};
