/* scaledsign.c -- an element decodes to its sign times a scale. The scale is the mean magnitude of the tensor's
 * elements, or of the elements of a bucket (Karimireddy, Rebjock, Stich, Jaggi 2019).
 *
 *     kind:8  { scale:f32 } x (1 or buckets)  signs        planes.h: bit set where x < 0
 *
 * A bucket is 512 consecutive elements; the last bucket may be shorter. */
#include "compress/compressor.h"
#include "math/vec/kernels.h"
#include "base/parallel.h"
#include "coder/planes.h"

#include <math.h>

typedef struct {
    int scale;
} ScaledSign;

enum { OF_TENSOR, OF_BUCKET, BUCKET = 512 };
static const char *const scales[] = {"tensor", "bucket", NULL};

static const Param schema[] = {
    PARAM_OF(ScaledSign, scale, "tensor", scales, "one mean for all, or one for each 512 elements"),
    {0},
};

static bool in_buckets(const Call *c)
{
    return ((const ScaledSign *)c->self->params)->scale == OF_BUCKET;
}

static size_t scales_of(const Call *c)
{
    return in_buckets(c) ? c->shape->n / BUCKET + (c->shape->n % BUCKET != 0) : 1;
}

static size_t own_size(const Call *c)
{
    return 1 + 4 * scales_of(c) + signs_size(c->shape->n);
}

static bool goes_raw(const Call *c)
{
    return own_size(c) >= raw_size(c);
}

static size_t bound(const Call *c)
{
    return goes_raw(c) ? raw_size(c) : own_size(c);
}

/* ---- blocks ---- */

typedef struct {
    const Call *c;
    size_t n;
    const float *x;
    float *decoded;
    double *sum; /* for each block: sum of |x| */
    uint8_t *scale, *sign;
    const uint8_t *scale_in, *sign_in;
} ScaledSignJob;

static float mean_of(double sum, size_t n)
{
    return (float)(sum / (double)n);
}

static size_t bucket_size(size_t n, size_t from)
{
    return n - from < BUCKET ? n - from : BUCKET;
}

static void encode_block(void *data, size_t block)
{
    const ScaledSignJob *job = data;
    const float *x = job->x + block * BLOCK;
    const size_t n = block_size(job->n, block);
    signs_put(x, n, job->sign + block * (BLOCK / 8));
    if (!in_buckets(job->c)) {
        job->sum[block] = kernels()->sum_magnitudes(x, n);
        return;
    }
    uint8_t *scale = job->scale + 4 * (block * (BLOCK / BUCKET));
    for (size_t i = 0; i < n; i += BUCKET, scale += 4) {
        const size_t size = bucket_size(n, i);
        store_f32(scale, mean_of(kernels()->sum_magnitudes(x + i, size), size));
    }
}

static void decode_block(void *data, size_t block)
{
    const ScaledSignJob *job = data;
    float *x = job->decoded + block * BLOCK;
    const uint8_t *sign = job->sign_in + block * (BLOCK / 8), *at = job->scale_in;
    const size_t n = block_size(job->n, block), step = in_buckets(job->c) ? BUCKET : BLOCK;
    if (in_buckets(job->c))
        at += 4 * (block * (BLOCK / BUCKET));
    for (size_t i = 0; i < n; i += step, at += 4) {
        const float scale = load_f32(at);
        signs_get(sign + i / 8, n - i < step ? n - i : step, scale, -scale, x + i);
    }
}

/* ---- the hooks of the codec ---- */

static Status encode(const Call *c, const float *x, Buf *out)
{
    const size_t n = c->shape->n, blocks = blocks_of(n);
    if (goes_raw(c))
        return raw_put(c, x, out);
    ScaledSignJob job = {.c = c, .n = n, .x = x, .sum = NEW(c->scratch, double, blocks)};
    TRY(arena_check(job.sum, c->scratch, c->err));
    buf_u8(out, PAYLOAD_METHOD);
    job.scale = buf_room(out, 4 * scales_of(c));
    job.sign = buf_room(out, signs_size(n));
    parallel_for(c->threads, blocks, encode_block, &job);
    if (!in_buckets(c)) {
        double sum = 0;
        for (size_t b = 0; b < blocks; b++)
            sum += job.sum[b];
        store_f32(job.scale, mean_of(sum, n));
    }
    streams_floats(c->streams, scales_of(c));
    streams_bits(c->streams, (double)n);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const size_t n = c->shape->n, count = scales_of(c);
    Reader r = reader_open(in);
    TRY(payload_kind(c, take_u8(&r), goes_raw(c) ? PAYLOAD_RAW : PAYLOAD_METHOD));
    ScaledSignJob job = {.c = c, .n = n, .decoded = x};
    job.scale_in = take_bytes(&r, 4 * count);
    job.sign_in = take_bytes(&r, signs_size(n));
    if (!reader_done(&r))
        return payload_bad(c, "%zu bytes, want %zu", in.size, own_size(c));
    for (size_t i = 0; i < count; i++) {
        const float scale = load_f32(job.scale_in + 4 * i);
        if (!isfinite(scale) || signbit(scale))
            return payload_bad(c, "scale %zu is no magnitude", i);
    }
    if (!signs_clean(job.sign_in, n))
        return payload_bad(c, "padding bits are set");
    parallel_for(c->threads, blocks_of(n), decode_block, &job);
    return OK;
}

const Compressor compressor_scaledsign = {
    .name = "scaledsign",
    .brief = "sign times mean magnitude",
    .plain = "Sends the sign of each element, one bit, and the mean magnitude of the tensor.",
    .use_when = "one bit an element is the limit, and error feedback makes up for the bias: ef+scaledsign.",
    .example = "atomo-bench synth -o g.h5 --steps 4\n"
               "atomo-bench compare g.h5 -c ef+scaledsign -c scaledsign",
    .formula =
        "decode sgn(g_i) |g|_1 / n, with sgn(0) = +1; of the whole tensor, or of its bucket's 512.\n"
        "|g^ - g|^2 = |g|^2 - |g|_1^2 / n where no element is 0: a contraction by 1 - |g|_1^2 / (n |g|^2).\n"
        "Biased: meant for ef+ (EF-signSGD). Raw where that is smaller.",
    .paper =
        "Karimireddy, Rebjock, Stich, Jaggi: Error Feedback Fixes SignSGD and other Gradient Compression\n"
        "Schemes, ICML 2019",
    .look = {HUE_SIGNS, 1, 4},
    .params = schema,
    .params_size = sizeof(ScaledSign),
    .promises = EXACT_BYTES,
    .bound = bound,
    .encode = encode,
    .decode = decode,
};
