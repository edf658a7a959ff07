/* nuqsgd.c -- NUQSGD (Ramezani-Kebrya, Faghri, Markov, Aksenov, Alistarh, Roy 2021): a norm for each bucket, and
 * for each element a sign and a level of those that double, rounded stochastically (ladder.h).
 *
 *     kind:8  norm:32 x buckets  codes            planes of bits + 1 bits, the sign last (codes.h)
 *
 * Buckets are consecutive runs of the flattened tensor, the last one shorter. Raw floats travel instead where
 * spec and shape say that the payload would be no smaller. */
#include "codes.h"

#include <math.h>

typedef struct {
    int64_t bits, bucket;
} Nuqsgd;

static const Param schema[] = {
    PARAM(Nuqsgd, bits, "4", 1, LADDER_BITS_MAX, "bits of a level: 2^bits - 1 levels above zero",
          .rate = true),
    PARAM(Nuqsgd, bucket, "8192", 0, 1 << 24, "elements that share a norm, 0: the whole tensor"),
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
    size_t n, bucket, buckets;
    int bits;
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
    const Nuqsgd *p = c->self->params;
    const size_t n = c->shape->n, bucket = p->bucket ? (size_t)p->bucket : n ? n : 1;
    *job = (Job){
        .c = c, .n = n, .bucket = bucket, .buckets = n / bucket + (n % bucket != 0), .bits = (int)p->bits};
    job->codes = (Codes){.c = c,
                         .kind = CODE_FIXED,
                         .s = (UINT32_C(1) << p->bits) - 1,
                         .run = bucket,
                         .data = job,
                         .quantise = quantise,
                         .dequantise = dequantise};
}

static size_t own_bytes(const Job *job)
{
    return 1 + 4 * job->buckets + codes_most(&job->codes);
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

/* ---- norms ---- */

/* The float32 that travels. Long buckets are summed block by block. */
static float bucket_norm(const Job *job, const float *x, size_t bucket)
{
    const size_t start = bucket * job->bucket, n = codes_run_end(&job->codes, start, job->n) - start;
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

/* ---- a block's codes ---- */

static void quantise_run(const Job *job, size_t i, size_t n, float norm, const RngKey *key, uint8_t *code)
{
    const uint32_t first = (uint32_t)(i % BLOCK);
    if (norm == 0 || !isfinite(norm))
        memset(code, 0, n);
    else if (job->bits == 1)
        kernels()->toss8(job->x + i, n, coin_make(norm), *key, first, code);
    else
        kernels()->climb(job->x + i, n, ladder_make(norm, job->bits), *key, first, code);
}

/* A bucket's norm is found where it is needed, while the bucket is in the cache, and stored by the block in
 * which the bucket begins. */
static void quantise(const void *data, size_t block, void *code)
{
    const Job *job = data;
    const RngKey key = rng_key(&job->c->rng, USE_COIN, block);
    const size_t from = block * BLOCK, to = from + block_size(job->n, block);
    for (size_t i = from, end; i < to; i = end) {
        const size_t bucket = i / job->bucket;
        end = codes_run_end(&job->codes, i, to);
        const float norm =
            job->norms_known ? load_f32(job->norm + 4 * bucket) : bucket_norm(job, job->x, bucket);
        if (!job->norms_known && i % job->bucket == 0)
            store_f32(job->norm + 4 * bucket, norm);
        quantise_run(job, i, end - i, norm, &key, (uint8_t *)code + (i - from));
    }
}

static bool dequantise(const void *data, size_t block, const void *code)
{
    const Job *job = data;
    const size_t from = block * BLOCK, to = from + block_size(job->n, block);
    bool good = true;
    for (size_t i = from, end; i < to; i = end) {
        end = codes_run_end(&job->codes, i, to);
        const float norm = load_f32(job->sent + 4 * (i / job->bucket));
        const uint8_t *run = (const uint8_t *)code + (i - from);
        good &= kernels()->descend(run, end - i, ladder_make(norm, job->bits), job->decoded + i);
        if (norm == 0)
            good &= codes_all_zero(run, end - i);
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
        if (!isfinite(load_f32(job.norm + 4 * b)))
            return FAIL(c->err, ERR_NUMERIC, "nuqsgd: the norm of bucket %zu is beyond float32", b);
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
        if (!isfinite(norm) || signbit(norm))
            return payload_bad(c, "bucket %zu has the norm %g", b, (double)norm);
    }
    return codes_get(&job.codes, &r);
}

/* Sum of (up - |x|)(|x| - low) over the neighbouring levels, with the float32 norm that travels. */
static double variance(const Call *c, const float *x)
{
    Job job;
    open_job(&job, c);
    double total = 0;
    for (size_t b = 0; b < job.buckets && !goes_raw(&job); b++) {
        const double norm = (double)bucket_norm(&job, x, b), lowest = ldexp(norm, 1 - (int)job.codes.s);
        const size_t start = b * job.bucket, end = codes_run_end(&job.codes, start, job.n);
        for (size_t i = start; i < end && norm > 0; i++) {
            const double v = fmin(fabs((double)x[i]), norm);
            const double low = v < lowest ? 0 : ldexp(lowest, ilogb(v / lowest));
            total += ((low > 0 ? 2 * low : lowest) - v) * (v - low);
        }
    }
    return total;
}

const Compressor compressor_nuqsgd = {
    .name = "nuqsgd",
    .brief = "a norm for each bucket, levels that double",
    .formula =
        "Each bucket of consecutive elements has the norm N = |x|_2 and levels above zero that double:\n"
        "  l_k = N 2^(k - s),  k = 1 ... s,  s = 2^bits - 1;  l_0 = 0.\n"
        "For l_k <= |x_i| <= l_(k+1): x^_i = sgn(x_i) l_(k+1) with probability (|x_i| - l_k) / (l_(k+1) - "
        "l_k),\n"
        "else sgn(x_i) l_k.\n"
        "E x^ = x;  E |x^ - x|^2 = sum (l_(k+1) - |x_i|)(|x_i| - l_k): at most |x_i|^2 / 8 above l_1.\n"
        "bits + 1 bits an element and 32 a bucket. Raw where that would not be smaller.",
    .paper =
        "Ramezani-Kebrya, Faghri, Markov, Aksenov, Alistarh, Roy: NUQSGD: Provably Communication-Efficient\n"
        "Data-Parallel SGD via Nonuniform Quantization, JMLR 22, 2021",
    .params = schema,
    .params_size = sizeof(Nuqsgd),
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .variance = variance,
};
