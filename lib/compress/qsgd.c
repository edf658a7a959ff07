/* qsgd.c -- QSGD (Alistarh, Grubic, Li, Tomioka, Vojnovic 2017): a norm for each bucket, a sign and one of s
 * levels, rounded stochastically, for each element.
 *
 *     kind:8  norm:32 x buckets  codes            (codes.h)
 *
 * Buckets are consecutive runs of the flattened tensor, the last one shorter. Raw floats travel instead where
 * spec and shape alone allow a payload that is no smaller: the decision is made from the worst case, before
 * any draw. */
#include "codes.h"

#include <math.h>

typedef struct {
    int64_t bits, levels, bucket;
    int norm, code;
} Qsgd;

enum { NORM_L2, NORM_LINF };
static const char *const norms[] = {"l2", "linf", NULL};
static const char *const code_names[] = {"elias", "elias-sparse", "elias-dense", "fixed",
                                         NULL}; /* CodeKind */

static const Param schema[] = {
    PARAM(Qsgd, bits, "4", 1, 16, "bits of a level: 2^bits - 1 levels above zero", .rate = true, .group = 1),
    PARAM(Qsgd, levels, NULL, 1, LEVELS_MAX, "levels above zero, instead of bits", .fine = true, .group = 1),
    PARAM(Qsgd, bucket, "512", 0, 1 << 24, "elements that share a norm, 0: the whole tensor"),
    PARAM_OF(Qsgd, norm, "l2", norms, "what a bucket is scaled by"),
    PARAM_OF(Qsgd, code, "elias", code_names,
             "how levels travel; elias takes the shorter of sparse and dense"),
    {0},
};

static unsigned traits(const Codec *codec)
{
    (void)codec;
    return UNBIASED | RANDOM | EXACT_BYTES;
}

/* ---- what spec and shape say ---- */

typedef struct {
    const Call *c;
    int norm_kind;
    size_t n, bucket, buckets;
    uint32_t s;
    bool wide; /* codes are 32-bit words */
    const float *x;
    float *decoded;
    uint8_t *norm;       /* encode: where the payload's norms go */
    const uint8_t *sent; /* decode: where they stand */
    bool norms_known;    /* long buckets: found beforehand */
    Codes codes;
} Job;

static void quantise(const void *data, size_t block, void *code);
static bool dequantise(const void *data, size_t block, const void *code);

static void open_job(Job *job, const Call *c)
{
    const Qsgd *p = c->self->params;
    const size_t n = c->shape->n, bucket = p->bucket ? (size_t)p->bucket : n ? n : 1;
    const uint32_t s = p->levels != PARAM_NONE ? (uint32_t)p->levels : (UINT32_C(1) << p->bits) - 1;
    *job = (Job){.c = c,
                 .norm_kind = p->norm,
                 .n = n,
                 .bucket = bucket,
                 .buckets = n / bucket + (n % bucket != 0),
                 .s = s,
                 .wide = level_bits(s) > CODE_BYTE_BITS};
    job->codes = (Codes){.c = c,
                         .kind = (CodeKind)p->code,
                         .s = s,
                         .run = bucket,
                         .data = job,
                         .quantise = quantise,
                         .dequantise = dequantise};
}

static size_t most_bytes(const Job *job)
{
    return 1 + 4 * job->buckets + codes_most(&job->codes);
}

static bool goes_raw(const Job *job)
{
    return most_bytes(job) >= raw_size(job->c);
}

static size_t bound(const Call *c)
{
    Job job;
    open_job(&job, c);
    return goes_raw(&job) ? raw_size(c) : most_bytes(&job);
}

/* ---- norms ---- */

/* The float32 that travels. Long buckets are summed block by block. */
static float bucket_norm(const Job *job, const float *x, size_t bucket)
{
    const size_t start = bucket * job->bucket, n = codes_run_end(&job->codes, start, job->n) - start;
    if (job->norm_kind == NORM_LINF)
        return kernels()->abs_max(x + start, n);
    double sum = 0;
    for (size_t b = 0; b < blocks_of(n); b++)
        sum += kernels()->sum_squares(x + start + b * BLOCK, block_size(n, b));
    return (float)sqrt(sum);
}

static void find_norm(void *data, size_t bucket)
{
    const Job *job = data;
    store_f32(job->norm + 4 * bucket, bucket_norm(job, job->x, bucket));
}

/* The norm and the highest level's value are float32 numbers. */
static bool norm_fits(const Job *job, float norm)
{
    const Dequantiser d = dequantiser_make(norm, job->s);
    return isfinite(norm) && !signbit(norm) && isfinite(dequantise_code(&d, job->s));
}

/* ---- a block's codes ---- */

static void quantise_run(const Job *job, const float *x, size_t n, float norm, const RngKey *key,
                         uint32_t first, void *code)
{
    if (norm == 0 || !isfinite(norm))
        memset(code, 0, job->wide ? 4 * n : n);
    else if (job->s == 1)
        kernels()->toss8(x, n, coin_make(norm), *key, first, code);
    else if (job->wide)
        kernels()->quantise32(x, n, quantiser_make(norm, job->s), *key, first, code);
    else
        kernels()->quantise8(x, n, quantiser_make(norm, job->s), *key, first, code);
}

/* A bucket's norm is found where it is needed, while the bucket is in the cache, and stored by the block in
 * which the bucket begins. */
static void quantise(const void *data, size_t block, void *code)
{
    const Job *job = data;
    const RngKey key = rng_key(&job->c->rng, USE_COIN, block);
    const size_t from = block * BLOCK, to = from + block_size(job->n, block), width = job->wide ? 4 : 1;
    for (size_t i = from, end; i < to; i = end) {
        const size_t bucket = i / job->bucket;
        end = codes_run_end(&job->codes, i, to);
        const float norm =
            job->norms_known ? load_f32(job->norm + 4 * bucket) : bucket_norm(job, job->x, bucket);
        if (!job->norms_known && i % job->bucket == 0)
            store_f32(job->norm + 4 * bucket, norm);
        quantise_run(job, job->x + i, end - i, norm, &key, (uint32_t)(i % BLOCK),
                     (char *)code + (i - from) * width);
    }
}

static bool dequantise(const void *data, size_t block, const void *code)
{
    const Job *job = data;
    const size_t from = block * BLOCK, to = from + block_size(job->n, block), width = job->wide ? 4 : 1;
    bool good = true;
    for (size_t i = from, end; i < to; i = end) {
        end = codes_run_end(&job->codes, i, to);
        const float norm = load_f32(job->sent + 4 * (i / job->bucket));
        const Dequantiser d = dequantiser_make(norm, job->s);
        const void *run = (const char *)code + (i - from) * width;
        good &= job->wide ? kernels()->dequantise32(run, end - i, d, job->decoded + i)
                          : kernels()->dequantise8(run, end - i, d, job->decoded + i);
        if (norm == 0)
            good &= codes_all_zero(run, (end - i) * width);
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
    job.norm = buf_room(out, 4 * job.buckets);
    job.norms_known = job.bucket > BLOCK;
    if (job.norms_known)
        parallel_for(c->threads, job.buckets, find_norm, &job);
    TRY(codes_put(&job.codes, out));
    for (size_t b = 0; b < job.buckets; b++)
        if (!norm_fits(&job, load_f32(job.norm + 4 * b)))
            return FAIL(c->err, ERR_NUMERIC, "qsgd: the norm of bucket %zu is beyond float32", b);
    streams_floats(c->streams, job.buckets);
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
    job.sent = take_bytes(&r, 4 * job.buckets);
    if (!job.sent)
        return payload_bad(c, "%zu bytes, want %zu norms", in.size, job.buckets);
    for (size_t b = 0; b < job.buckets; b++) {
        const float norm = load_f32(job.sent + 4 * b);
        if (!norm_fits(&job, norm))
            return payload_bad(c, "bucket %zu has the norm %g", b, (double)norm);
    }
    return codes_get(&job.codes, &r);
}

/* Sum over buckets of (N/s)^2 sum f (1 - f), f = frac(s |x| / N), with the float32 N that travels. */
static double variance(const Call *c, const float *x)
{
    Job job;
    open_job(&job, c);
    double total = 0;
    for (size_t b = 0; b < job.buckets && !goes_raw(&job); b++) {
        const double norm = (double)bucket_norm(&job, x, b), s = job.s;
        const size_t start = b * job.bucket, end = codes_run_end(&job.codes, start, job.n);
        double sum = 0;
        for (size_t i = start; i < end && norm > 0; i++) {
            const double t = fmin(s * fabs((double)x[i]) / norm, s), f = t - floor(t);
            sum += f * (1 - f);
        }
        total += norm / s * (norm / s) * sum;
    }
    return total;
}

const Compressor compressor_qsgd = {
    .name = "qsgd",
    .brief = "a norm for each bucket, stochastically rounded levels",
    .formula =
        "Each bucket of consecutive elements has a norm N (l2, or the largest magnitude) and s levels:\n"
        "  x^_i = N/s sgn(x_i) k_i,   k_i = l + 1 with probability f, else l,\n"
        "  l = floor(s |x_i| / N),    f = s |x_i| / N - l,    s = 2^bits - 1 or levels.\n"
        "E x^ = x;  E |x^ - x|^2 = sum over buckets (N/s)^2 sum f (1 - f)\n"
        "        <= min(d/s^2, sqrt(d)/s) |x|^2 for l2 norms and buckets of d.\n"
        "elias codes: omega(gap) sign omega(k) for levels that are not zero, with a count for each\n"
        "bucket (sparse), or omega(k + 1) and a sign unless k = 0 (dense), whichever is shorter;\n"
        "fixed: bits + 1 bits an element. Norms take 32 bits a bucket.\n"
        "Raw where the worst case of spec and shape would not be smaller.",
    .paper = "Alistarh, Grubic, Li, Tomioka, Vojnovic: QSGD: Communication-Efficient SGD via Gradient\n"
             "Quantization and Encoding, NIPS 2017",
    .params = schema,
    .params_size = sizeof(Qsgd),
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .variance = variance,
};
