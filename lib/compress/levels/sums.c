/* sums.c -- writes, reads and merges payloads of scales (round 0) and of integers (round 1), see sums.h; and the codecs
 * intsgd and thc. */
#include "compress/levels/sums.h"
#include "compress/lowrank/addends.h"
#include "math/blockwise.h"
#include "compress/levels/codes.h"
#include "math/vec/kernels.h"
#include "compress/rotated/blocks.h"

#include <float.h>
#include <math.h>

/* The codes of one worker, or the sums of several workers' codes: bit planes of `width` bits with values of at
 * most `most`. In a payload of raw floats, `planes` points to the floats. */
typedef struct {
    uint64_t workers;
    int width;
    uint32_t most;
    const uint8_t *planes;
} SumsTotal;

enum { SUMS_WIDEST = PLANES_MAX };

enum { PIECE = 4096, WIDE = 8 };

/* ---- scales ---- */

static Status scales_check(const Sums *s, const uint8_t *scale)
{
    for (size_t i = 0; i < s->scales; i++) {
        const float v = load_f32(scale + 4 * i);
        if (!isfinite(v) || signbit(v))
            return payload_bad(s->c, "scale %zu is %g", i, (double)v);
    }
    return OK;
}

/* Reads a payload of round 0, of one worker or merged. *scale then points into the payload. */
static Status scales_get(const Sums *s, Bytes in, uint64_t *workers, const uint8_t **scale)
{
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    *workers = kind == PAYLOAD_MERGED ? take_varint(&r) : 1;
    *scale = take_bytes(&r, 4 * s->scales);
    if (!reader_done(&r) || (kind != PAYLOAD_METHOD && kind != PAYLOAD_MERGED) || *workers == 0)
        return payload_bad(s->c, "%zu bytes that are not %zu scales", in.size, s->scales);
    return scales_check(s, *scale);
}

Status sums_heard(const Sums *s, const uint8_t **scale)
{
    uint64_t workers;
    return scales_get(s, s->c->heard[0], &workers, scale);
}

static Status merge_scales(const Sums *s, const Bytes *in, size_t count, Buf *out)
{
    uint64_t total = 0, workers;
    float *most = NEW_ZERO(s->c->scratch, float, s->scales + 1);
    TRY(arena_check(most, s->c->scratch, s->c->err));
    for (size_t w = 0; w < count; w++) {
        const uint8_t *scale;
        TRY(scales_get(s, in[w], &workers, &scale));
        TRY(payload_add_workers(s->c, workers, &total));
        for (size_t i = 0; i < s->scales; i++)
            most[i] = fmaxf(most[i], load_f32(scale + 4 * i));
    }
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, total);
    for (size_t i = 0; i < s->scales; i++)
        buf_f32(out, most[i]);
    return OK;
}

/* ---- codes ---- */

static int width_of(const Sums *s, uint64_t workers)
{
    int width = s->bits;
    while (width <= SUMS_WIDEST && workers > UINT64_C(1) << (width - s->bits))
        width++;
    return width;
}

static Status too_many(const Sums *s, uint64_t workers)
{
    FAIL(s->c->err, ERR_NUMERIC, "%s: %llu workers, want at most %d", s->c->self->ops->name,
         (unsigned long long)workers, 1 << (SUMS_WIDEST - s->bits));
    return error_hint(s->c->err, "fewer bits: they and the workers' log2, rounded up, may come to %d",
                      SUMS_WIDEST);
}

/* Opens a payload of the last round, of one worker or merged, and sets *t to its codes. Sets *scale to the
 * merged scales of round 0 if all workers share scales, else to the payload's scales. *scale is NULL if the
 * payload has raw floats. */
static Status sums_open(const Sums *s, Bytes in, const uint8_t **scale, SumsTotal *t)
{
    const Call *c = s->c;
    const size_t n = c->shape->n;
    Reader r = reader_open(in);
    const unsigned own = s->raw ? PAYLOAD_RAW : PAYLOAD_METHOD, kind = take_u8(&r);
    const bool merged = s->shared && kind == PAYLOAD_MERGED;
    if (sums_scale_round(s) || (kind != own && !merged))
        return payload_bad(c, "kind %u in round %d, want %u%s in the last", kind, c->round, own,
                           s->shared ? " or 2" : "");
    *t = (SumsTotal){.workers = merged ? take_varint(&r) : 1};
    t->width = width_of(s, t->workers);
    *scale = NULL;
    if (r.bad || t->workers == 0 || (!s->raw && t->width > SUMS_WIDEST))
        return payload_bad(c, "the sum of %llu workers", (unsigned long long)t->workers);
    if (!s->raw && s->shared) {
        TRY(sums_heard(s, scale));
    } else if (!s->raw) {
        *scale = take_bytes(&r, 4 * s->scales);
        if (!*scale)
            return payload_bad(c, "%zu bytes, want %zu scales", in.size, s->scales);
        TRY(scales_check(s, *scale));
    }
    t->most = s->raw ? 0 : s->top * (uint32_t)t->workers;
    t->planes = take_bytes(&r, s->raw ? 4 * n : planes_size(n, t->width));
    return reader_done(&r) ? OK : payload_bad(c, "%zu bytes, which %zu elements do not take", in.size, n);
}

static bool get_piece(const SumsTotal *t, size_t from, size_t n, uint32_t *sum)
{
    const uint8_t *in = t->planes + planes_size(from, t->width);
    uint8_t narrow[PIECE];
    uint32_t most = 0;
    bool good;
    if (t->width > WIDE) {
        good = planes_get32(in, n, t->width, sum);
    } else {
        good = planes_get8(in, n, t->width, narrow);
        for (size_t i = 0; i < n; i++)
            sum[i] = narrow[i];
    }
    for (size_t i = 0; i < n; i++)
        most = sum[i] > most ? sum[i] : most;
    return good && most <= t->most;
}

/* Reads the codes of the n elements from element `from` on. `from` must be a multiple of 64. n must be a
 * multiple of 64 too, unless the n elements are the last of the tensor. Returns false if a code is out of range
 * or padding bits are set. */
static bool sums_get(const SumsTotal *t, size_t from, size_t n, uint32_t *sum)
{
    bool good = true;
    for (size_t i = 0; i < n; i += PIECE)
        good &= get_piece(t, from + i, n - i < PIECE ? n - i : PIECE, sum + i);
    return good;
}

/* ---- merging the last round ---- */

/* Adds the codes or the raw floats of `count` payloads. */
static Status add_codes(const Sums *s, const SumsTotal *in, size_t count, int width, Buf *out)
{
    const Call *c = s->c;
    const size_t n = c->shape->n;
    PlaneSet *part = NEW(c->scratch, PlaneSet, count);
    TRY(arena_check(part, c->scratch, c->err));
    for (size_t w = 0; w < count; w++)
        part[w] = (PlaneSet){in[w].planes, in[w].width, in[w].most};
    return planes_add(part, count, n, width, c->threads, buf_room(out, planes_size(n, width)))
               ? OK
               : payload_bad(c, "codes that no encoder writes");
}

static Status add_floats(const Sums *s, const SumsTotal *in, size_t count, Buf *out)
{
    const size_t n = s->c->shape->n;
    const uint8_t **values = NEW(s->c->scratch, const uint8_t *, count);
    TRY(arena_check(values, s->c->scratch, s->c->err));
    for (size_t w = 0; w < count; w++)
        values[w] = in[w].planes;
    return addends_sum(s->c, values, count, n, 1, (double)FLT_MAX, "element", buf_room(out, 4 * n));
}

static Status merge_last(const Sums *s, const Bytes *in, size_t count, Buf *out)
{
    const Call *c = s->c;
    SumsTotal *part = NEW(c->scratch, SumsTotal, count + 1);
    uint64_t total = 0;
    TRY(arena_check(part, c->scratch, c->err));
    for (size_t w = 0; w < count; w++) {
        const uint8_t *scale;
        TRY(sums_open(s, in[w], &scale, &part[w]));
        TRY(payload_add_workers(c, part[w].workers, &total));
    }
    const int width = width_of(s, total);
    if (!s->raw && width > SUMS_WIDEST)
        return too_many(s, total);
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, total);
    return s->raw ? add_floats(s, part, count, out) : add_codes(s, part, count, width, out);
}

Status sums_merge(const Sums *s, const Bytes *in, size_t count, Buf *out)
{
    if (!s->shared)
        return FAIL(s->c->err, ERR_USAGE, "%s: with share=off each worker has scales of its own",
                    s->c->self->ops->name);
    if (!sums_scale_round(s))
        return merge_last(s, in, count, out);
    for (size_t w = 0; s->raw && w < count; w++)
        if (in[w].size)
            return payload_bad(s->c, "%zu bytes, want none", in[w].size);
    return s->raw ? OK : merge_scales(s, in, count, out);
}

/* ---- the hooks of codecs whose payloads all have this format: a Compressor has `.family = &family, SUMS_HOOKS` ---- */

/* The parameters of such a codec: the bits of a code, and whether all workers share the scales. */
typedef struct {
    int64_t bits;
    bool share;
    int rounding;
} SumsParams;

static bool sums_correlated(const Codec *codec)
{
    return ((const SumsParams *)codec->params)->rounding == ROUNDING_CORRELATED;
}

typedef struct {
    Sums (*open)(const Call *c);
} SumsFamily;

static Sums open_sums(const Call *c)
{
    const SumsFamily *family = c->self->ops->family;
    return family->open(c);
}

static unsigned sums_traits(const Codec *codec)
{
    return (((const SumsParams *)codec->params)->share ? LINEAR | MERGEABLE : 0u) |
           (sums_correlated(codec) ? PART_SHARED : 0u);
}

static int sums_rounds(const Codec *codec)
{
    return ((const SumsParams *)codec->params)->share ? 2 : 1;
}

static size_t sums_bound(const Call *c)
{
    const Sums s = open_sums(c);
    if (sums_scale_round(&s))
        return s.raw ? 0 : 1 + 4 * s.scales;
    return s.raw ? raw_size(c) : 1 + (s.shared ? 0 : 4 * s.scales) + planes_size(c->shape->n, s.bits);
}

static Status sums_merge_all(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const Sums s = open_sums(c);
    return sums_merge(&s, in, count, out);
}

static Numbers sums_numbers(const Call *c)
{
    const Sums s = open_sums(c);
    const int width = width_of(&s, (uint64_t)c->workers);
    const size_t n = c->shape->n;
    if (sums_scale_round(&s) || !s.shared)
        return (Numbers){0};
    if (s.raw)
        return addends_numbers(n, 1, (double)FLT_MAX);
    return width > SUMS_WIDEST ? (Numbers){0} : numbers_in_planes(n, s.bits, width, s.top);
}

#define SUMS_HOOKS                                                                                           \
    .traits = sums_traits, .rounds = sums_rounds, .bound = sums_bound,    \
    .merge = sums_merge_all, .numbers = sums_numbers

/* ---- intsgd: IntSGD (Mishchenko, Wang, Kovalev, Richtarik 2022): sends integers, rounded stochastically at a
 * scale that all workers share, so that payloads add without being decoded. The payload has the format of
 * sums.h with one scale.
 *
 * The scale M is the largest magnitude over all workers (with share=off, of one worker). An element x becomes
 * s x / M, rounded to an integer k from -s to s. So no element is clipped, and the estimate is unbiased. The
 * code of k is k + s. ---- */

static const Param intsgd_schema[] = {
    PARAM(SumsParams, bits, "8", 2, 16, "bits of a number: from -s to s, s = 2^(bits - 1) - 1", .rate = true),
    PARAM_SWITCH(SumsParams, share, "on",
                 "one scale for all workers, sent in a round of its own; off: cannot merge"),
    PARAM_OF(SumsParams, rounding, "independent", rounding_names, WORKERS_ROUNDING_HELP),
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

static Sums intsgd_sums_of(const Call *c)
{
    const SumsParams *p = c->self->params;
    const uint32_t s = (UINT32_C(1) << (p->bits - 1)) - 1;
    Sums sums = {.c = c, .scales = 1, .bits = (int)p->bits, .top = 2 * s, .shared = p->share};
    sums.raw = 5 + (p->share ? 1u : 0u) + planes_size(c->shape->n, (int)p->bits) >= raw_size(c);
    return sums;
}

static const SumsFamily intsgd_family = {intsgd_sums_of};

static void open_job(IntsgdJob *job, const Call *c)
{
    const size_t n = c->shape->n;
    const Sums sums = intsgd_sums_of(c);
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
    const RngKey key = rounding_key(job->c, sums_correlated(job->c->self), from / BLOCK);
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

static Status intsgd_encode(const Call *c, const float *x, Buf *out)
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

static Status intsgd_decode(const Call *c, Bytes in, float *x)
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
    .params = intsgd_schema,
    .promises = UNBIASED | RANDOM | EXACT_BYTES | FIXED_SIZE,
    .family = &intsgd_family,
    SUMS_HOOKS,
    .encode = intsgd_encode,
    .decode = intsgd_decode,
    .variance = variance,
};

/* ---- thc: tensor homomorphic compression with uniform levels (Li, Ben Basat, Vargaftik, Lao, Xu, Mitzenmacher,
 * Yu 2024): all workers use the same rotation and the same quantisation levels, so that level numbers add
 * without decoding. The payload has the format of sums.h, with one scale for each block (blocks.h): the largest
 * norm of the block over all workers (with share=off, the worker's own norm).
 *
 * Rotated coordinates are nearly normally distributed with a standard deviation proportional to the block's
 * norm. So the levels span a multiple of the norm. Coordinates beyond the levels are clipped, which makes the
 * codec biased. ---- */

enum { BITS_MOST = 8 };

static const Param thc_schema[] = {
    PARAM(SumsParams, bits, "4", 1, BITS_MOST, "bits of a coordinate: 2^bits levels", .rate = true),
    PARAM_SWITCH(SumsParams, share, "on",
                 "norms for all workers, sent in a round of their own; off: cannot merge"),
    PARAM_OF(SumsParams, rounding, "independent", rounding_names, WORKERS_ROUNDING_HELP),
    {0},
};

/* ends[bits] is t: the levels span -t .. t standard deviations of a coordinate. Up to 4 bits P(|Z| > t) = 1/32
 * for a standard normal Z, as in the paper. Each bit above 4 divides the probability by 4, so that the clipping
 * error falls as fast as the rounding error. */
static const float ends[BITS_MOST + 1] = {0,          2.1538746f, 2.1538746f, 2.1538746f, 2.1538746f,
                                          2.6600676f, 3.097269f,  3.4871042f, 3.8419306f};

typedef struct {
    int bits;
    uint32_t steps;
    const uint8_t *norm; /* for each block: its scale, a norm, as a float32 */
    SumsTotal total;
} ThcJob;

static Sums thc_sums_of(const Call *c)
{
    const SumsParams *p = c->self->params;
    const size_t n = c->shape->n;
    const bool raw = n < ROTATION_SHORTEST;
    return (Sums){.c = c,
                  .scales = raw ? 0 : blocks_count(n),
                  .bits = (int)p->bits,
                  .top = (1u << p->bits) - 1,
                  .shared = p->share,
                  .raw = raw};
}

/* ---- the norms of round 0, four bytes for each block ---- */

static size_t norm_bytes(const void *data, size_t n)
{
    (void)data, (void)n;
    return 4;
}

static BlockResult encode_norm(const RotatedBlocks *s, const RotatedBlock *b, const float *x, uint8_t *out)
{
    (void)s;
    const float norm = (float)sqrt(kernels()->sum_squares(x, b->n));
    store_f32(out, norm);
    return isfinite(norm) ? BLOCK_FINE : BLOCK_BEYOND;
}

static size_t count_norm(const void *data, size_t n, const uint8_t *in, uint64_t count[2][256])
{
    (void)data, (void)n, (void)in, (void)count;
    return 1;
}

/* ---- levels ---- */

static size_t level_bytes(const void *data, size_t n)
{
    const ThcJob *job = data;
    return planes_size(n, job->total.width);
}

/* Returns the highest quantisation level of a block, times *lift; the lowest level is its negative. Sets
 * *lift to the power of two by which the block is multiplied before its rotation. */
static float end_of(const ThcJob *job, const RotatedBlock *b, float *lift)
{
    const double norm = (double)load_f32(job->norm + 4 * b->index);
    *lift = blocks_lift(norm);
    return (float)((double)ends[job->bits] * norm * (double)*lift / sqrt((double)b->n));
}

static BlockResult encode_levels(const RotatedBlocks *s, const RotatedBlock *b, const float *x, uint8_t *out)
{
    const ThcJob *job = s->data;
    float z[BLOCK_MOST], lift;
    uint8_t code[BLOCK_MOST];
    const float end = end_of(job, b, &lift);
    rotation_turn(&b->rotation, x, b->n, lift, z);
    blocks_round(s, b, -end, end, job->steps, sums_correlated(s->c->self), z, code);
    planes_put8(code, b->n, job->bits, out);
    return load_f32(job->norm + 4 * b->index) > 0x1p100f ? BLOCK_LARGE : BLOCK_FINE;
}

static size_t count_levels(const void *data, size_t n, const uint8_t *in, uint64_t count[2][256])
{
    const ThcJob *job = data;
    uint8_t code[BLOCK_MOST];
    if (planes_get8(in, n, job->bits, code))
        for (size_t i = 0; i < n; i++)
            count[0][code[i]]++;
    return 0;
}

/* Decodes sums of W workers' levels. A level is an integer 0 .. `steps`. A sum k decodes to (2 k - W
 * `steps`) times half the distance between two levels. Refuses a block of norm 0 with a level that is not 0. */
static BlockResult decode_levels(const RotatedBlocks *s, const RotatedBlock *b, const uint8_t *in, float *y)
{
    (void)in; /* job->total has the codes */
    const ThcJob *job = s->data;
    uint32_t sum[BLOCK_MOST], any = 0;
    float lift;
    const float end = end_of(job, b, &lift), half = end / (float)job->steps;
    const int32_t middle = (int32_t)(job->total.workers * job->steps);
    if (!sums_get(&job->total, b->piece * BLOCK + b->rotation.at, b->n, sum))
        return BLOCK_BAD_CODES;
    for (size_t i = 0; i < b->n; i++) {
        any |= sum[i];
        y[i] = (float)(2 * (int32_t)sum[i] - middle) * half;
    }
    if (end == 0) {
        memset(y, 0, b->n * sizeof *y);
        return any ? BLOCK_BAD_ZEROS : BLOCK_FINE;
    }
    rotation_turn_back(&b->rotation, y, b->n);
    return lift == 1 || blocks_drop(y, b->n, lift) ? BLOCK_FINE : BLOCK_BEYOND;
}

/* ---- the hooks of the codec ---- */

static RotatedBlocks norm_blocks(const Call *c)
{
    return (RotatedBlocks){.c = c,
                           .rng = &c->rng_shared,
                           .rounds = 1,
                           .bytes = norm_bytes,
                           .encode = encode_norm,
                           .count = count_norm};
}

static RotatedBlocks level_blocks(const Call *c, const ThcJob *job)
{
    return (RotatedBlocks){.c = c,
                           .rng = &c->rng_shared,
                           .rounds = 1,
                           .data = job,
                           .bytes = level_bytes,
                           .encode = encode_levels,
                           .decode = decode_levels,
                           .count = count_levels};
}

static Status put_norms(const Call *c, const float *x, Buf *out)
{
    const RotatedBlocks norms = norm_blocks(c);
    buf_u8(out, PAYLOAD_METHOD);
    return blocks_put(&norms, x, out);
}

static Status put_levels(const Sums *s, const uint8_t *norm, const float *x, Buf *out)
{
    const ThcJob job = {
        .bits = s->bits, .steps = s->top, .norm = norm, .total = {1, s->bits, s->top, out->data + out->size}};
    const RotatedBlocks levels = level_blocks(s->c, &job);
    return blocks_put(&levels, x, out);
}

static Status thc_encode(const Call *c, const float *x, Buf *out)
{
    const Sums s = thc_sums_of(c);
    const uint8_t *norm = out->data + out->size + 1;
    if (s.raw)
        return sums_scale_round(&s) ? OK : raw_put(c, x, out);
    if (sums_scale_round(&s))
        return put_norms(c, x, out);
    if (s.shared) {
        TRY(sums_heard(&s, &norm));
        buf_u8(out, PAYLOAD_METHOD);
    } else {
        TRY(put_norms(c, x, out));
    }
    return put_levels(&s, norm, x, out);
}

static Status thc_decode(const Call *c, Bytes in, float *x)
{
    const Sums s = thc_sums_of(c);
    ThcJob job = {.bits = s.bits, .steps = s.top};
    TRY(sums_open(&s, in, &job.norm, &job.total));
    if (!job.norm)
        return payload_floats(c, job.total.planes, x);
    const RotatedBlocks levels = level_blocks(c, &job);
    return blocks_get(&levels, (Bytes){job.total.planes, planes_size(c->shape->n, job.total.width)}, x);
}

static const SumsFamily thc_family = {thc_sums_of};

const Compressor compressor_thc = {
    .name = "thc",
    .brief = "shared rotation, clipped and rounded to uniform levels that add up undecoded",
    .plain = "Rotates the gradient by a rotation that all workers share, clips the few largest values and "
             "rounds the others at random to few even levels. Sums of payloads are payloads.",
    .use_when = "a server or a switch adds payloads of few bits an element, and the small bias of clipping "
                "is bearable or repaired by ef+.",
    .example = "atomo-bench synth -o g.h5 --workers 4\n"
               "atomo-bench merge g.h5 -c thc:bits=4 --workers 4",
    .formula =
        "z = R x, R the rotation of rotated, shared by all workers; in each block of d coordinates 2^bits\n"
        "levels stand evenly from -T to T, D apart, T = t N / sqrt(d), N the largest |x|_2 of all workers'\n"
        "blocks (share=on, found in a first round) or one's own:\n"
        "  c_i = -T + D (l + [u_i < f]),   l + f = (min(max(z_i, -T), T) + T) / D;   x^ = R' c\n"
        "t = 2.154: P(|Z| > t) = p = 1/32 for a normal Z; from 5 bits on a quarter of that for each bit.\n"
        "Biased by clipping: about 1 - p of x comes back, E <x^, x> = (1 - p) |x|^2 for normal z under one's\n"
        "own norm, and E |x^ - x|^2 = sum D^2 f (1 - f) + sum over clipped z of (|z| - T)^2; the second sum\n"
        "is 0.0073 |x|^2 at p = 1/32, and averaging over workers does not lessen it.\n"
        "share=on: the sum of W workers' levels is theirs undecoded, ceil(log2 W) bits wider;\n"
        "bits + ceil(log2 W) may be 24. Raw under 64 elements.\n"
        "Differs from the paper: these are its uniform levels. Its own choice is 2^bits uneven levels, from a\n"
        "table, on a finer even grid (sums are of places on the grid), with error feedback (ef+ gives that).",
    .paper =
        "Li, Ben Basat, Vargaftik, Lao, Xu, Mitzenmacher, Yu: THC: Accelerating Distributed Deep Learning\n"
        "Using Tensor Homomorphic Compression, NSDI 2024",
    .look = {HUE_LEVELS, 5, 2},
    .params = thc_schema,
    .promises = RANDOM | EXACT_BYTES | PART_SHARED | FIXED_SIZE,
    .family = &thc_family,
    SUMS_HOOKS,
    .encode = thc_encode,
    .decode = thc_decode,
};
