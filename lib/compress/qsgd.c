/* qsgd.c -- QSGD (Alistarh, Grubic, Li, Tomioka, Vojnovic 2017): a norm for each bucket, a sign and one of s
 * levels, rounded stochastically, for each element.
 *
 *     kind:8  norm:32 x buckets  codes
 *
 *     code=fixed                  bit planes over the whole tensor, the sign plane last (planes.h)
 *     code=elias                  form:8 (0 sparse, 1 dense), then the shorter of the two streams (levels.h)
 *     code=elias-sparse|-dense    that stream
 *
 * Buckets are consecutive runs of the flattened tensor, the last one shorter. Raw floats travel instead where
 * spec and shape alone allow a payload that is no smaller: the decision is made from the worst case, before
 * any draw. */
#include "../compressor.h"
#include "../levels.h"
#include "../planes.h"

#include <math.h>

typedef struct {
    int64_t bits, levels, bucket;
    int norm, code;
} Qsgd;

enum { NORM_L2, NORM_LINF };
enum { CODE_ELIAS, CODE_SPARSE, CODE_DENSE, CODE_FIXED };
static const char *const norms[] = {"l2", "linf", NULL};
static const char *const code_names[] = {"elias", "elias-sparse", "elias-dense", "fixed", NULL};

static const Param schema[] = {
    PARAM(Qsgd, bits, "4", 1, 16, "bits of a level: 2^bits - 1 levels above zero", .rate = true, .group = 1),
    PARAM(Qsgd, levels, NULL, 1, LEVELS_MAX, "levels above zero, instead of bits", .group = 1),
    PARAM(Qsgd, bucket, "512", 0, 1 << 24, "elements that share a norm, 0: the whole tensor"),
    PARAM_OF(Qsgd, norm, "l2", norms, "what a bucket is scaled by"),
    PARAM_OF(Qsgd, code, "elias", code_names,
             "how levels travel; elias takes the shorter of sparse and dense"),
    {0},
};

/* ---- sizes ---- */

typedef struct {
    const Qsgd *p;
    size_t n, bucket, buckets;
    uint32_t s;
    int bits;
} Plan;

static Plan plan_of(const Call *c)
{
    const Qsgd *p = c->self->params;
    const size_t n = c->shape->n, bucket = p->bucket ? (size_t)p->bucket : n ? n : 1;
    const uint32_t s = p->levels != PARAM_NONE ? (uint32_t)p->levels : (UINT32_C(1) << p->bits) - 1;
    return (Plan){p, n, bucket, n / bucket + (n % bucket != 0), s, level_bits(s)};
}

static size_t head_bytes(const Plan *plan)
{
    return 1 + 4 * plan->buckets + (plan->p->code == CODE_ELIAS);
}

/* The most that codes can take. */
static size_t most_bytes(const Plan *plan)
{
    const int code = plan->p->code;
    if (code == CODE_FIXED)
        return planes_size(plan->n, plan->bits + 1);
    const size_t sparse = levels_most(plan->n, plan->bucket, plan->s, LEVELS_SPARSE),
                 dense = levels_most(plan->n, plan->bucket, plan->s, LEVELS_DENSE);
    return code == CODE_SPARSE || (code == CODE_ELIAS && sparse < dense) ? sparse : dense;
}

static bool goes_raw(const Call *c, const Plan *plan)
{
    return head_bytes(plan) + most_bytes(plan) >= raw_size(c);
}

static size_t bound(const Call *c)
{
    const Plan plan = plan_of(c);
    return goes_raw(c, &plan) ? raw_size(c) : head_bytes(&plan) + most_bytes(&plan);
}

static unsigned traits(const Codec *codec)
{
    (void)codec;
    return UNBIASED | RANDOM | EXACT_BYTES;
}

/* ---- norms ---- */

/* Buckets over a block are summed block by block, so that their norms can be found in parallel. */
static double bucket_norm(const Plan *plan, const float *x, size_t bucket)
{
    const size_t start = bucket * plan->bucket, left = plan->n - start;
    const size_t n = left < plan->bucket ? left : plan->bucket;
    if (plan->p->norm == NORM_LINF)
        return (double)kernels()->abs_max(x + start, n);
    double sum = 0;
    for (size_t b = 0; b < blocks_of(n); b++)
        sum += kernels()->sum_squares(x + start + b * BLOCK, block_size(n, b));
    return sqrt(sum);
}

typedef struct {
    const Call *c;
    Plan plan;
    const float *x;
    float *decoded;
    uint8_t *norm; /* buckets floats of the payload */
    uint8_t *plane;
    bool norms_known; /* long buckets: found beforehand */
    Levels levels;
    LevelsSize *size;
    bool *bad;
} Job;

static void norm_job(void *data, size_t bucket)
{
    const Job *job = data;
    store_f32(job->norm + 4 * bucket, (float)bucket_norm(&job->plan, job->x, bucket));
}

/* Every decoded value is a float32, and the highest level's too. */
static bool norm_fits(const Plan *plan, float norm)
{
    const Dequantiser d = dequantiser_make(norm, plan->s);
    return isfinite(norm) && isfinite(dequantise_code(&d, plan->s));
}

/* ---- runs: the codes of elements [from, to), which lie in one block ---- */

typedef struct {
    size_t bucket; /* whose norm this is */
    float norm;
} Known;
static const Known nothing_known = {SIZE_MAX, 0};

/* A bucket's norm is found by whoever needs it and stored where the bucket begins. */
static float norm_at(const Job *job, size_t i, Known *known)
{
    const size_t bucket = i / job->plan.bucket;
    if (known->bucket != bucket) {
        known->bucket = bucket;
        known->norm = job->norms_known ? load_f32(job->norm + 4 * bucket)
                                       : (float)bucket_norm(&job->plan, job->x, bucket);
    }
    if (!job->norms_known && i % job->plan.bucket == 0)
        store_f32(job->norm + 4 * bucket, known->norm);
    return known->norm;
}

static void quantise_run(const Plan *plan, const float *x, size_t n, float norm, const RngKey *key,
                         uint32_t first, void *code)
{
    const bool wide = plan->bits > CODE_BYTE_BITS;
    if (norm == 0 || !isfinite(norm))
        memset(code, 0, wide ? 4 * n : n);
    else if (plan->s == 1)
        kernels()->toss8(x, n, coin_make(norm), *key, first, code);
    else if (wide)
        kernels()->quantise32(x, n, quantiser_make(norm, plan->s), *key, first, code);
    else
        kernels()->quantise8(x, n, quantiser_make(norm, plan->s), *key, first, code);
}

static size_t run_to(const Plan *plan, size_t i, size_t to)
{
    const size_t left = plan->bucket - i % plan->bucket;
    return left < to - i ? i + left : to;
}

static void quantise_part(const Job *job, size_t from, size_t to, Known *known, void *code)
{
    const RngKey key = rng_key(&job->c->rng, USE_COIN, from / BLOCK);
    const size_t width = job->plan.bits > CODE_BYTE_BITS ? 4 : 1;
    for (size_t i = from, end; i < to; i = end) {
        end = run_to(&job->plan, i, to);
        quantise_run(&job->plan, job->x + i, end - i, norm_at(job, i, known), &key, (uint32_t)(i % BLOCK),
                     (char *)code + (i - from) * width);
    }
}

static bool all_zero(const uint8_t *byte, size_t size)
{
    return size == 0 || (byte[0] == 0 && !memcmp(byte, byte + 1, size - 1));
}

static bool dequantise_part(const Job *job, size_t from, size_t to, const void *code, float *x)
{
    const Plan *plan = &job->plan;
    const bool wide = plan->bits > CODE_BYTE_BITS;
    bool good = true;
    for (size_t i = from, end; i < to && good; i = end) {
        end = run_to(plan, i, to);
        const float norm = load_f32(job->norm + 4 * (i / plan->bucket));
        const Dequantiser d = dequantiser_make(norm, plan->s);
        const uint8_t *run = (const uint8_t *)code + (i - from) * (wide ? 4 : 1);
        good = wide ? kernels()->dequantise32((const uint32_t *)(const void *)run, end - i, d, x + (i - from))
                    : kernels()->dequantise8(run, end - i, d, x + (i - from));
        if (norm == 0)
            good &= all_zero(run, (end - i) * (wide ? 4 : 1));
        x += end - i;
        from = end;
        code = run + (end - i) * (wide ? 4 : 1);
    }
    return good;
}

/* ---- fixed width: quantised and packed while in the cache ---- */

enum { PART = 4096 };

static void fixed_put_block(void *data, size_t block)
{
    const Job *job = data;
    const Plan *plan = &job->plan;
    const size_t end = block * BLOCK + block_size(plan->n, block);
    const int width = plan->bits + 1;
    uint32_t code[PART];
    Known known = nothing_known;
    for (size_t i = block * BLOCK, to; i < end; i = to) {
        to = end - i < PART ? end : i + PART;
        uint8_t *out = job->plane + planes_size(i, width);
        quantise_part(job, i, to, &known, code);
        if (width > 8)
            planes_put32(code, to - i, width, out);
        else
            planes_put8((const uint8_t *)code, to - i, width, out);
    }
}

static void fixed_get_block(void *data, size_t block)
{
    const Job *job = data;
    const Plan *plan = &job->plan;
    const size_t end = block * BLOCK + block_size(plan->n, block);
    const int width = plan->bits + 1;
    uint32_t code[PART];
    bool good = true;
    for (size_t i = block * BLOCK, to; i < end && good; i = to) {
        to = end - i < PART ? end : i + PART;
        const uint8_t *in = job->plane + planes_size(i, width);
        good = width > 8 ? planes_get32(in, to - i, width, code)
                         : planes_get8(in, to - i, width, (uint8_t *)code);
        good = good && dequantise_part(job, i, to, code, job->decoded + i);
    }
    job->bad[block] = !good;
}

/* ---- Elias ---- */

static void quantise_block(void *data, size_t block)
{
    const Job *job = data;
    const size_t from = block * BLOCK, to = from + block_size(job->plan.n, block);
    Known known = nothing_known;
    quantise_part(job, from, to, &known, (char *)job->levels.code + levels_room(from, job->plan.s));
    job->size[block] = levels_measure(&job->levels, block);
}

static void dequantise_block(void *data, size_t block)
{
    const Job *job = data;
    const size_t from = block * BLOCK, to = from + block_size(job->plan.n, block);
    const char *code = (const char *)job->levels.code + levels_room(from, job->plan.s);
    job->bad[block] = !dequantise_part(job, from, to, code, job->decoded + from);
}

static Levels levels_of(const Plan *plan, Arena *scratch)
{
    return (Levels){plan->n, plan->bucket, plan->s, plan->bits,
                    NEW(scratch, char, levels_room(plan->n, plan->s))};
}

static Status elias_put(Job *job, Buf *out)
{
    const Call *c = job->c;
    const Plan *plan = &job->plan;
    const size_t blocks = blocks_of(plan->n);
    const int code = plan->p->code;
    job->levels = levels_of(plan, c->scratch);
    job->size = NEW(c->scratch, LevelsSize, blocks);
    LevelsStream *stream = NEW(c->scratch, LevelsStream, blocks);
    if (!job->levels.code || !job->size || !stream)
        return arena_fail(c->scratch, c->err);
    parallel_for(c->threads, blocks, quantise_block, job);
    const size_t sparse = levels_bytes(&job->levels, job->size, LEVELS_SPARSE),
                 dense = levels_bytes(&job->levels, job->size, LEVELS_DENSE);
    const LevelsForm form =
        code == CODE_SPARSE || (code == CODE_ELIAS && sparse <= dense) ? LEVELS_SPARSE : LEVELS_DENSE;
    if (code == CODE_ELIAS)
        buf_u8(out, (uint8_t)form);
    levels_put(&job->levels, job->size, form, c->threads, stream,
               buf_room(out, form == LEVELS_SPARSE ? sparse : dense));
    return OK;
}

static Status elias_get(Job *job, Reader *r)
{
    const Call *c = job->c;
    const Plan *plan = &job->plan;
    const int code = plan->p->code;
    const unsigned form = code == CODE_ELIAS    ? take_u8(r)
                          : code == CODE_SPARSE ? LEVELS_SPARSE
                                                : LEVELS_DENSE;
    if (r->bad || form >= LEVELS_FORMS)
        return payload_bad(c, "its form is none of ours");
    job->levels = levels_of(plan, c->scratch);
    LevelsStream *stream = NEW(c->scratch, LevelsStream, blocks_of(plan->n));
    if (!job->levels.code || !stream)
        return arena_fail(c->scratch, c->err);
    if (!levels_get(&job->levels, (LevelsForm)form, c->threads, stream, (Bytes){r->at, reader_left(r)}))
        return payload_bad(c, "its %s streams are damaged", form == LEVELS_SPARSE ? "sparse" : "dense");
    parallel_for(c->threads, blocks_of(plan->n), dequantise_block, job);
    return OK;
}

/* ---- the hooks ---- */

/* What travels, counted by quantising once more: nobody asks in the timed path. */
static Status report(Job *job)
{
    const Plan *plan = &job->plan;
    uint64_t *count = NEW_ZERO(job->c->scratch, uint64_t, plan->s + 1), signs = 0;
    if (!count)
        return arena_fail(job->c->scratch, job->c->err);
    uint32_t code[PART];
    Known known = nothing_known;
    job->norms_known = true;
    for (size_t i = 0, to; i < plan->n; i = to) {
        to = plan->n - i < PART ? plan->n : i + PART;
        quantise_part(job, i, to, &known, code);
        for (size_t j = 0; j < to - i; j++) {
            const uint32_t one = plan->bits > CODE_BYTE_BITS ? code[j] : ((const uint8_t *)code)[j];
            count[one & ((1u << plan->bits) - 1)]++;
            signs += one != 0;
        }
    }
    streams_floats(job->c->streams, plan->buckets);
    streams_symbols(job->c->streams, count, plan->s + 1);
    streams_bits(job->c->streams, (double)signs);
    return OK;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    Job job = {.c = c, .plan = plan_of(c), .x = x};
    const Plan *plan = &job.plan;
    if (goes_raw(c, plan))
        return raw_put(c, x, out);
    buf_u8(out, PAYLOAD_METHOD);
    job.norm = buf_room(out, 4 * plan->buckets);
    job.norms_known = plan->bucket > BLOCK;
    if (job.norms_known)
        parallel_for(c->threads, plan->buckets, norm_job, &job);
    if (plan->p->code == CODE_FIXED) {
        job.plane = buf_room(out, planes_size(plan->n, plan->bits + 1));
        parallel_for(c->threads, blocks_of(plan->n), fixed_put_block, &job);
    } else {
        TRY(elias_put(&job, out));
    }
    for (size_t b = 0; b < plan->buckets; b++)
        if (!norm_fits(plan, load_f32(job.norm + 4 * b)))
            return FAIL(c->err, ERR_NUMERIC, "qsgd: the norm of bucket %zu is beyond float32", b);
    return c->streams ? report(&job) : OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    Job job = {.c = c, .plan = plan_of(c), .decoded = x};
    const Plan *plan = &job.plan;
    Reader r = reader_open(in);
    if (take_u8(&r) != PAYLOAD_METHOD || goes_raw(c, plan))
        return payload_bad(c, "kind %u, want %d", in.data[0],
                           goes_raw(c, plan) ? PAYLOAD_RAW : PAYLOAD_METHOD);
    const uint8_t *norm = take_bytes(&r, 4 * plan->buckets);
    for (size_t b = 0; norm && b < plan->buckets; b++)
        if (signbit(load_f32(norm + 4 * b)) || !norm_fits(plan, load_f32(norm + 4 * b)))
            return payload_bad(c, "norm %g of bucket %zu", (double)load_f32(norm + 4 * b), b);
    if (!norm)
        return payload_bad(c, "%zu bytes, want %zu norms first", in.size, plan->buckets);
    job.norm = (uint8_t *)norm;
    job.bad = NEW_ZERO(c->scratch, bool, blocks_of(plan->n));
    if (!job.bad)
        return arena_fail(c->scratch, c->err);
    if (plan->p->code == CODE_FIXED) {
        const size_t want = planes_size(plan->n, plan->bits + 1);
        if (reader_left(&r) != want)
            return payload_bad(c, "%zu bytes of planes, want %zu", reader_left(&r), want);
        job.plane = (uint8_t *)r.at;
        parallel_for(c->threads, blocks_of(plan->n), fixed_get_block, &job);
    } else {
        TRY(elias_get(&job, &r));
    }
    for (size_t b = 0; b < blocks_of(plan->n); b++)
        if (job.bad[b])
            return payload_bad(c, "block %zu has levels that no encoder writes", b);
    return OK;
}

/* Sum over buckets of (N/s)^2 sum f (1 - f), f = frac(s |x| / N), with the float32 N that travels. */
static double variance(const Call *c, const float *x)
{
    const Plan plan = plan_of(c);
    double total = 0;
    if (goes_raw(c, &plan))
        return 0;
    for (size_t b = 0; b < plan.buckets; b++) {
        const double norm = (double)(float)bucket_norm(&plan, x, b), s = plan.s;
        const size_t start = b * plan.bucket, end = run_to(&plan, start, plan.n);
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
