/* sums.c -- payloads of integers that merge without being decoded, because all workers use the same scales; and the codecs
 * intsgd and thc.
 *
 *     round 0   kind:8=1 { scale:f32 } x scales
 *               merged by maximum: kind:8=2 workers:varint { scale:f32 } x scales
 *     round 1   kind:8=1 codes                     planes of n codes 0 ... top, `bits` wide (planes.h)
 *               merged: kind:8=2 workers:varint sums of codes     planes, bits + ceil(log2 workers) wide
 *     raw       round 0 is empty                   merged: kind:8=2 workers:varint { sum:f32 } x n
 *
 * Tensors whose shape makes raw floats shorter have the payloads of the line `raw`. If the scales are not
 * shared, there is only one round, with the payload kind:8=1 { scale:f32 } x scales codes, and payloads do not
 * merge. */
#include "coder/planes.h"
#include "compress/lowrank/addends.h"
#include "math/blockwise.h"
#include "compress/levels/buckets.h"
#include "math/vec/kernels.h"
#include "compress/rotated/blocks.h"

#include <float.h>
#include <math.h>

typedef struct {
    const Call *c;
    size_t scales;
    int bits;
    uint32_t top;
    bool shared, raw;
} Sums;

static bool scale_round(const Sums *s)
{
    return s->shared && s->c->round == 0;
}

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
    if (scale_round(s) || (kind != own && !merged))
        return payload_bad(c, "kind %u in round %d, want %u%s in the last", kind, c->round, own,
                           s->shared ? " or 2" : "");
    *t = (SumsTotal){.workers = merged ? take_varint(&r) : 1};
    t->width = width_of(s, t->workers);
    *scale = NULL;
    if (r.bad || t->workers == 0 || (!s->raw && t->width > SUMS_WIDEST))
        return payload_bad(c, "the sum of %llu workers", (unsigned long long)t->workers);
    if (!s->raw && s->shared) {
        TRY(scales_heard(c, s->scales, scale));
    } else if (!s->raw) {
        *scale = take_bytes(&r, 4 * s->scales);
        if (!*scale)
            return payload_bad(c, "%zu bytes, want %zu scales", in.size, s->scales);
        TRY(scales_check(c, s->scales, *scale));
    }
    t->most = s->raw ? 0 : s->top * (uint32_t)t->workers;
    t->planes = take_bytes(&r, s->raw ? 4 * n : planes_size(n, t->width));
    return reader_done(&r) ? OK : payload_bad(c, "%zu bytes, which %zu elements do not take", in.size, n);
}

/* Reads the codes of the n <= BLOCK_MOST elements from element `from` on. `from` must be a multiple of 64. n must be a
 * multiple of 64 too, unless the n elements are the last of the tensor. Returns false if a code is out of range
 * or padding bits are set. */
static bool sums_get(const SumsTotal *t, size_t from, size_t n, uint32_t *sum)
{
    const uint8_t *in = t->planes + planes_size(from, t->width);
    uint8_t narrow[BLOCK_MOST];
    uint32_t most = 0;
    bool good;
    if (t->width > WIDE) {
        good = planes_get(in, n, t->width, sum, true);
    } else {
        good = planes_get(in, n, t->width, narrow, false);
        for (size_t i = 0; i < n; i++)
            sum[i] = narrow[i];
    }
    for (size_t i = 0; i < n; i++)
        most = sum[i] > most ? sum[i] : most;
    return good && most <= t->most;
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
    BucketLaw law; /* of a codec that encodes by buckets.h */
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
    if (scale_round(&s))
        return s.raw ? 0 : 1 + 4 * s.scales;
    return s.raw ? raw_size(c) : 1 + (s.shared ? 0 : 4 * s.scales) + planes_size(c->shape->n, s.bits);
}

static Status sums_merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const Sums s = open_sums(c);
    if (!s.shared)
        return FAIL(c->err, ERR_USAGE, "%s: with share=off each worker has scales of its own", c->self->ops->name);
    return scale_round(&s) ? scales_merge(c, s.scales, s.raw, in, count, out) : merge_last(&s, in, count, out);
}

static Numbers sums_numbers(const Call *c)
{
    const Sums s = open_sums(c);
    const int width = width_of(&s, (uint64_t)c->workers);
    const size_t n = c->shape->n;
    if (scale_round(&s) || !s.shared)
        return (Numbers){0};
    if (s.raw)
        return addends_numbers(n, 1, (double)FLT_MAX);
    return width > SUMS_WIDEST ? (Numbers){0} : numbers_in_planes(n, s.bits, width, s.top);
}

#define SUMS_HOOKS                                                                                           \
    .traits = sums_traits, .rounds = sums_rounds, .bound = sums_bound,    \
    .merge = sums_merge, .numbers = sums_numbers

/* ---- intsgd: IntSGD (Mishchenko, Wang, Kovalev, Richtarik 2022): sends integers, rounded stochastically at a
 * scale that all workers share, so that payloads add without being decoded. The payload has the format of
 * this file with one scale.
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

static Sums intsgd_sums_of(const Call *c)
{
    const SumsParams *p = c->self->params;
    const uint32_t s = (UINT32_C(1) << (p->bits - 1)) - 1;
    Sums sums = {.c = c, .scales = 1, .bits = (int)p->bits, .top = 2 * s, .shared = p->share};
    sums.raw = 5 + (p->share ? 1u : 0u) + planes_size(c->shape->n, (int)p->bits) >= raw_size(c);
    return sums;
}

/* ---- encoding: one bucket, whose head is the scale (buckets.h) ---- */

static Status find_scale(const Buckets *b, uint8_t *head)
{
    store_f32(head, blockwise_most(b->x, b->n, b->c->threads));
    return OK;
}

/* True if the largest integer s decodes to a value within float32's range. */
static bool good_scale(const Buckets *b, const uint8_t *head)
{
    const Dequantiser d = dequantiser_make(load_f32(head), b->s / 2);
    return isfinite(dequantise_code(&d, b->s / 2));
}

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

static void quantise(const Buckets *b, const uint8_t *head, const float *x, size_t n, const RngKey *key,
                     uint32_t first, void *code)
{
    const float scale = load_f32(head);
    const uint32_t s = b->s / 2;
    if (scale == 0 || !isfinite(scale))
        memset(code, 0, b->wide ? 4 * n : n);
    else if (s == 1)
        kernels()->toss8(x, n, coin_make(scale), *key, first, code);
    else if (b->wide)
        kernels()->quantise32(x, n, quantiser_make(scale, s), *key, first, code);
    else
        kernels()->quantise8(x, n, quantiser_make(scale, s), *key, first, code);
    if (b->wide)
        above_lowest_uint32_t(code, n, s, level_bits(s));
    else
        above_lowest_uint8_t(code, n, s, level_bits(s));
}

/* Returns (M/s)^2 sum f (1 - f), where s is the largest integer, M the scale and f the fractional part of s |x|
 * / M for an element x. */
static double scale_variance(const Buckets *b, const uint8_t *head, const float *x, size_t n)
{
    const uint32_t s = b->s / 2;
    const double scale = (double)load_f32(head), unit = scale / s;
    double sum = 0;
    if ((double)blockwise_most(x, n, b->c->threads) > scale)
        return NAN;
    for (size_t i = 0; i < n && unit > 0; i++)
        sum += rounding_variance(fabs((double)x[i]), scale, s);
    return unit * unit * sum;
}

static void open_scale(Buckets *b, const Call *c)
{
    const SumsParams *p = c->self->params;
    buckets_open(b, c, 0, (UINT32_C(1) << p->bits) - 1, true, CODE_FIXED);
    b->correlated = sums_correlated(c->self);
    b->share = p->share;
}

static const SumsFamily intsgd_family = {
    .law = {.open = open_scale,
            .size = 4,
            .name = "scale",
            .find_all = find_scale,
            .good = good_scale,
            .quantise = quantise,
            .variance = scale_variance},
    .open = intsgd_sums_of,
};

/* ---- decoding ---- */

typedef struct {
    const Call *c;
    float scale;
    uint32_t s;
    SumsTotal total; /* the sums of codes */
    float *decoded;
    bool *bad; /* for each block of 2^16 elements: true if a code of the block is out of range */
} IntsgdJob;

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

static Status intsgd_decode(const Call *c, Bytes in, float *x)
{
    const Sums sums = intsgd_sums_of(c);
    IntsgdJob job = {.c = c, .s = sums.top / 2, .decoded = x};
    const uint8_t *scale;
    const size_t blocks = blocks_of(c->shape->n);
    TRY(sums_open(&sums, in, &scale, &job.total));
    if (!scale)
        return payload_floats(c, job.total.planes, x);
    job.scale = load_f32(scale);
    job.bad = NEW_ZERO(c->scratch, bool, blocks);
    TRY(arena_check(job.bad, c->scratch, c->err));
    parallel_for(c->threads, blocks, dequantise, &job);
    for (size_t b = 0; b < blocks; b++)
        if (job.bad[b])
            return payload_bad(c, "numbers that no encoder writes, in block %zu", b);
    return OK;
}

static const Compressor compressor_intsgd = {
    .name = "intsgd",
    .brief = "stochastically rounded integers at a shared scale, which add up undecoded",
    .plain = "Multiplies the gradient by a scale that all workers share and rounds it at random to whole "
             "numbers. Sums of payloads are payloads, so that nothing is decoded on the way.",
    .use_when = "an all-reduce or a switch adds whole numbers, and 8 bits or so an element are affordable.",
    .example = "atomo-bench synth -o g.h5 --force --workers 4\n"
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
    .promises = UNBIASED | RANDOM | EXACT_BYTES | FIXED_SIZE | NEEDS_ALL,
    .family = &intsgd_family,
    SUMS_HOOKS,
    .encode = buckets_encode,
    .decode = intsgd_decode,
    .variance = buckets_variance,
};

/* ---- thc: tensor homomorphic compression with uniform levels (Li, Ben Basat, Vargaftik, Lao, Xu, Mitzenmacher,
 * Yu 2024): all workers use the same rotation and the same quantisation levels, so that level numbers add
 * without decoding. The payload has the format of this file, with one scale for each block (blocks.h): the largest
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
    planes_put(code, false, b->n, job->bits, out);
    return load_f32(job->norm + 4 * b->index) > 0x1p100f ? BLOCK_LARGE : BLOCK_FINE;
}

static size_t count_levels(const void *data, size_t n, const uint8_t *in, uint64_t count[2][256])
{
    const ThcJob *job = data;
    uint8_t code[BLOCK_MOST];
    if (planes_get(in, n, job->bits, code, false))
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
        return scale_round(&s) ? OK : raw_put(c, x, out);
    if (scale_round(&s))
        return put_norms(c, x, out);
    if (s.shared) {
        TRY(scales_heard(c, s.scales, &norm));
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

static const SumsFamily thc_family = {.open = thc_sums_of};

static const Compressor compressor_thc = {
    .name = "thc",
    .brief = "shared rotation, clipped and rounded to uniform levels that add up undecoded",
    .plain = "Rotates the gradient by a rotation that all workers share, clips the few largest values and "
             "rounds the others at random to few even levels. Sums of payloads are payloads.",
    .use_when = "a server or a switch adds payloads of few bits an element, and the small bias of clipping "
                "is bearable or repaired by ef+.",
    .example = "atomo-bench synth -o g.h5 --force --workers 4\n"
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

const Compressor *const compressors_sums[] = {&compressor_intsgd, &compressor_thc, NULL};
