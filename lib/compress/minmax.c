/* minmax.c -- uniform levels between the smallest and the largest element of each bucket: the k-level
 * quantiser of Suresh, Yu, Kumar, McMahan 2017, and CGX's.
 *
 *     kind:8  { low:32  high:32 } x buckets  codes            planes of `bits` bits (codes.h)
 *
 * Buckets are consecutive runs of the flattened tensor, the last one shorter. Raw floats travel instead where
 * spec and shape say that the payload would be no smaller. */
#include "codes.h"

#include <math.h>

typedef struct {
    int64_t bits, bucket;
    int rounding;
} Minmax;

enum { NEAREST, STOCHASTIC };
static const char *const roundings[] = {"nearest", "stochastic", NULL};

static const Param schema[] = {
    PARAM(Minmax, bits, "4", 1, 16, "bits of a level: 2^bits levels, both ends included", .rate = true),
    PARAM(Minmax, bucket, "512", 0, 1 << 24, "elements that share a range, 0: the whole tensor"),
    PARAM_OF(Minmax, rounding, "nearest", roundings, "to the nearest level, or so that the mean is kept"),
    {0},
};

static bool is_random(const Codec *codec)
{
    return ((const Minmax *)codec->params)->rounding == STOCHASTIC;
}

static unsigned traits(const Codec *codec)
{
    return EXACT_BYTES | (is_random(codec) ? UNBIASED | RANDOM : 0u);
}

/* ---- what spec and shape say ---- */

enum { RANGE_BYTES = 8 };

typedef struct {
    const Call *c;
    size_t n, bucket, buckets;
    const float *x;
    float *decoded;
    uint8_t *range;      /* encode: where the payload's ranges go */
    const uint8_t *sent; /* decode: where they stand */
    bool ranges_known;   /* long buckets: found beforehand */
    Codes codes;
} Job;

static void quantise(const void *data, size_t block, void *code);
static bool dequantise(const void *data, size_t block, const void *code);

static void open_job(Job *job, const Call *c)
{
    const Minmax *p = c->self->params;
    const size_t n = c->shape->n, bucket = p->bucket ? (size_t)p->bucket : n ? n : 1;
    *job = (Job){.c = c, .n = n, .bucket = bucket, .buckets = n / bucket + (n % bucket != 0)};
    job->codes = (Codes){.c = c,
                         .kind = CODE_FIXED,
                         .unsigned_levels = true,
                         .s = (UINT32_C(1) << p->bits) - 1,
                         .run = bucket,
                         .data = job,
                         .quantise = quantise,
                         .dequantise = dequantise};
}

static size_t own_bytes(const Job *job)
{
    return 1 + RANGE_BYTES * job->buckets + codes_most(&job->codes);
}

static bool goes_raw(const Job *job)
{
    return own_bytes(job) >= raw_size(job->c);
}

static size_t bound(const Call *c)
{
    Job job;
    open_job(&job, c);
    return goes_raw(&job) ? raw_size(c) : own_bytes(&job);
}

/* ---- ranges ---- */

typedef struct {
    float low, high, width; /* width: high - low, rounded once */
} Range;

static Range range_load(const uint8_t *at)
{
    const float low = load_f32(at), high = load_f32(at + 4);
    return (Range){low, high, (float)((double)high - (double)low)};
}

static void range_find(const Job *job, size_t bucket, uint8_t *at)
{
    const size_t start = bucket * job->bucket;
    float low, high;
    kernels()->range(job->x + start, codes_run_end(&job->codes, start, job->n) - start, &low, &high);
    store_f32(at, low);
    store_f32(at + 4, high);
}

static void find_range(void *data, size_t bucket)
{
    const Job *job = data;
    range_find(job, bucket, job->range + RANGE_BYTES * bucket);
}

/* What an encoder writes: finite numbers in order, zeros without a sign, a width that is a float32. */
static bool range_good(Range r)
{
    return isfinite(r.low) && isfinite(r.high) && isfinite(r.width) && r.low <= r.high &&
           !(r.low == 0 && signbit(r.low)) && !(r.high == 0 && signbit(r.high));
}

/* ---- a block's codes ---- */

static void quantise_run(const Job *job, size_t i, size_t n, Range r, const RngKey *key, void *code)
{
    const bool wide = codes_wide(&job->codes);
    const uint32_t first = (uint32_t)(i % BLOCK);
    if (r.width == 0 || !isfinite(r.width)) {
        memset(code, 0, wide ? 4 * n : n);
        return;
    }
    const Quantiser q = quantiser_make(r.width, job->codes.s);
    if (wide)
        kernels()->grade32(job->x + i, n, r.low, q, key, first, code);
    else
        kernels()->grade8(job->x + i, n, r.low, q, key, first, code);
}

/* A bucket's range is found where it is needed, while the bucket is in the cache, and stored by the block in
 * which the bucket begins. */
static void quantise(const void *data, size_t block, void *code)
{
    const Job *job = data;
    const RngKey key = rng_key(&job->c->rng, USE_COIN, block);
    const size_t from = block * BLOCK, to = from + block_size(job->n, block);
    const size_t width = codes_wide(&job->codes) ? 4 : 1;
    for (size_t i = from, end; i < to; i = end) {
        const size_t bucket = i / job->bucket;
        uint8_t own[RANGE_BYTES], *at = job->range + RANGE_BYTES * bucket;
        end = codes_run_end(&job->codes, i, to);
        if (!job->ranges_known) {
            at = i % job->bucket ? own : at;
            range_find(job, bucket, at);
        }
        quantise_run(job, i, end - i, range_load(at), is_random(job->c->self) ? &key : NULL,
                     (char *)code + (i - from) * width);
    }
}

static bool dequantise(const void *data, size_t block, const void *code)
{
    const Job *job = data;
    const size_t from = block * BLOCK, to = from + block_size(job->n, block);
    const bool wide = codes_wide(&job->codes);
    bool good = true;
    for (size_t i = from, end; i < to; i = end) {
        end = codes_run_end(&job->codes, i, to);
        const Range r = range_load(job->sent + RANGE_BYTES * (i / job->bucket));
        const Dequantiser d = dequantiser_make(r.width, job->codes.s);
        const void *run = (const char *)code + (i - from) * (wide ? 4 : 1);
        if (wide)
            kernels()->graded32(run, end - i, r.low, r.high, d, job->decoded + i);
        else
            kernels()->graded8(run, end - i, r.low, r.high, d, job->decoded + i);
        if (r.width == 0)
            good &= codes_all_zero(run, (end - i) * (wide ? 4 : 1));
    }
    return good;
}

/* ---- the hooks ---- */

static Status encode(const Call *c, const float *x, Buf *out)
{
    Job job;
    open_job(&job, c);
    if (goes_raw(&job))
        return raw_put(c, x, out);
    buf_u8(out, PAYLOAD_METHOD);
    job.x = x;
    job.range = buf_room(out, RANGE_BYTES * job.buckets);
    job.ranges_known = job.bucket > BLOCK;
    if (job.ranges_known)
        parallel_for(c->threads, job.buckets, find_range, &job);
    TRY(codes_put(&job.codes, out));
    for (size_t b = 0; b < job.buckets; b++)
        if (!range_good(range_load(job.range + RANGE_BYTES * b)))
            return FAIL(c->err, ERR_NUMERIC, "minmax: the range of bucket %zu is beyond float32", b);
    streams_floats(c->streams, 2 * job.buckets);
    return c->streams ? codes_report(&job.codes) : OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    Job job;
    open_job(&job, c);
    Reader r = reader_open(in);
    const int want = goes_raw(&job) ? PAYLOAD_RAW : PAYLOAD_METHOD, kind = take_u8(&r);
    if (kind != want)
        return payload_bad(c, "kind %d, want %d", kind, want);
    job.decoded = x;
    job.sent = take_bytes(&r, RANGE_BYTES * job.buckets);
    if (!job.sent)
        return payload_bad(c, "%zu bytes, want %zu ranges", in.size, job.buckets);
    for (size_t b = 0; b < job.buckets; b++) {
        const Range range = range_load(job.sent + RANGE_BYTES * b);
        if (!range_good(range))
            return payload_bad(c, "bucket %zu goes from %g to %g", b, (double)range.low, (double)range.high);
    }
    return codes_get(&job.codes, &r);
}

/* Stochastic: sum over buckets of D^2 sum f (1 - f), f = frac((x - low) / D), D = (high - low) / s. */
static double variance(const Call *c, const float *x)
{
    Job job;
    open_job(&job, c);
    if (goes_raw(&job))
        return 0;
    if (!is_random(c->self))
        return NAN;
    job.x = x;
    double total = 0;
    for (size_t b = 0; b < job.buckets; b++) {
        uint8_t at[RANGE_BYTES];
        range_find(&job, b, at);
        const Range r = range_load(at);
        const size_t start = b * job.bucket, end = codes_run_end(&job.codes, start, job.n);
        const double s = job.codes.s, width = (double)r.width;
        double sum = 0;
        for (size_t i = start; i < end && width > 0; i++) {
            const double t = fmin(((double)x[i] - (double)r.low) * s / width, s), f = t - floor(t);
            sum += f * (1 - f);
        }
        total += width / s * (width / s) * sum;
    }
    return total;
}

const Compressor compressor_minmax = {
    .name = "minmax",
    .brief = "uniform levels between each bucket's extremes",
    .formula = "Each bucket of consecutive elements has low = min x, high = max x and 2^bits levels, both "
               "ends included:\n"
               "  x^_i = low + D k_i,   D = (high - low) / s,   s = 2^bits - 1,\n"
               "  t = (x_i - low) / D;  nearest: k_i = floor(t + 1/2);  stochastic: k_i = floor(t) + 1 with\n"
               "  probability f = t - floor(t), else floor(t).\n"
               "stochastic: E x^ = x;  E |x^ - x|^2 = sum over buckets D^2 sum f (1 - f) <= n D^2 / 4.\n"
               "nearest: |x^_i - x_i| <= D / 2.\n"
               "bits an element and 64 a bucket. Raw where that would not be smaller.",
    .paper =
        "Suresh, Yu, Kumar, McMahan: Distributed Mean Estimation with Limited Communication, ICML 2017;\n"
        "Markov, Ramezani-Kebrya, Alistarh: CGX: Adaptive System Support for Communication-Efficient\n"
        "Deep Learning, Middleware 2022",
    .params = schema,
    .params_size = sizeof(Minmax),
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .variance = variance,
};
