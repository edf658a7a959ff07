/* terngrad.c -- TernGrad (Wen, Xu, Yan, Wu, Wang, Chen, Li 2017): each element is rounded at random to -s, 0 or
 * s, where s is the tensor's scale.
 *
 *     share=off   kind:8  scale:32  codes
 *     share=on    round 0: kind:8  scale:32            merged by maximum: kind:8  workers:varint  scale:32
 *                 round 1: kind:8  codes               at the merged scale of round 0
 *
 *     code=trit   five to the byte (planes.h);  2bit: two bit planes;  rans, elias: codes.h with one level
 *
 * The tensor is sent as raw floats if the longest payload of its shape is not shorter. Round 0 of share=on is
 * then empty. */
#include "compress/levels/codes.h"
#include "compress/levels/sums.h"
#include "math/blockwise.h"

#include <math.h>

typedef struct {
    double clip;
    int code;
    bool share;
    int rounding;
} Terngrad;

enum { TRIT, TWO_BIT, RANS, ELIAS };
static const char *const code_names[] = {"trit", "2bit", "rans", "elias", NULL};

static const Param schema[] = {
    PARAM(Terngrad, clip, "0", 0, 1e6,
          "scale by this many standard deviations at most, 0: by the largest magnitude"),
    PARAM_OF(Terngrad, code, "trit", code_names, "how signs and zeros travel"),
    PARAM_SWITCH(Terngrad, share, "off", "one scale for all workers, sent in a round of its own"),
    PARAM_OF(Terngrad, rounding, "independent", rounding_names, WORKERS_ROUNDING_HELP),
    {0},
};

static const Terngrad *params_of(const Codec *codec)
{
    return codec->params;
}

static unsigned traits(const Codec *codec)
{
    const bool fixed = params_of(codec)->code == TRIT || params_of(codec)->code == TWO_BIT;
    return (params_of(codec)->clip == 0 ? UNBIASED : 0u) | (fixed ? FIXED_SIZE : 0u) |
           (params_of(codec)->rounding == ROUNDING_CORRELATED ? PART_SHARED : 0u);
}

static int rounds(const Codec *codec)
{
    return params_of(codec)->share ? 2 : 1;
}

/* ---- codes ---- */

typedef struct {
    const Call *c;
    size_t n;
    const float *x;
    float *decoded, scale;
    Codes codes;
} TerngradJob;

/* Pieces of trits need not begin or end with a block. */
static void quantise(const void *data, size_t from, size_t n, void *codes)
{
    const TerngradJob *job = data;
    uint8_t *code = codes;
    for (size_t i = from, to = from + n, end; i < to; i = end) {
        const size_t left = BLOCK - i % BLOCK;
        const RngKey key = rounding_key(job->c, params_of(job->c->self)->rounding == ROUNDING_CORRELATED, i / BLOCK);
        end = left < to - i ? i + left : to;
        if (job->scale > 0)
            kernels()->toss8(job->x + i, end - i, coin_make(job->scale), key, (uint32_t)(i % BLOCK),
                             code + (i - from));
        else
            memset(code + (i - from), 0, end - i);
    }
}

static const char *dequantise(const void *data, size_t from, size_t n, const void *codes)
{
    const TerngradJob *job = data;
    const uint8_t *code = codes;
    uint8_t any = 0;
    for (size_t i = 0; job->scale == 0 && i < n; i++)
        any |= code[i];
    return kernels()->dequantise8(code, n, dequantiser_make(job->scale, 1), job->decoded + from) && !any
               ? NULL
               : "a sign of 0, or an element at scale 0";
}

/* ---- sizes ---- */

static void open_job(TerngradJob *job, const Call *c)
{
    static const CodeKind kinds[] = {[TRIT] = CODE_TRITS,
                                     [TWO_BIT] = CODE_FIXED,
                                     [RANS] = CODE_RANS,
                                     [ELIAS] = CODE_ELIAS};
    const size_t n = c->shape->n;
    *job = (TerngradJob){.c = c, .n = n};
    job->codes = (Codes){.c = c,
                         .kind = kinds[params_of(c->self)->code],
                         .s = 1,
                         .run = n ? n : 1};
}

enum { SCALE_BYTES = 5 }; /* kind byte and scale */

static bool goes_raw(const TerngradJob *job)
{
    return SCALE_BYTES + params_of(job->c->self)->share + codes_most(&job->codes) >= raw_size(job->c);
}

static bool scale_round(const Call *c)
{
    return params_of(c->self)->share && c->round == 0;
}

static size_t bound(const Call *c)
{
    TerngradJob job;
    open_job(&job, c);
    if (scale_round(c))
        return SCALE_BYTES;
    return goes_raw(&job) ? raw_size(c) : SCALE_BYTES + codes_most(&job.codes);
}

/* ---- computing the scale s of the levels -s, 0 and s ---- */

/* Returns min(clip * standard deviation, most). The variance is computed as the mean square minus the squared
 * mean, whose rounding errors may give a constant vector a small variance. So a vector whose variance is at
 * most 2^-40 of the mean square counts as constant and is not clipped. */
static float clipped(const Call *c, const float *x, double clip, float most)
{
    double sum, squares;
    blockwise_moments(x, c->shape->n, c->threads, &sum, &squares);
    const double n = (double)c->shape->n, spread = squares / n - sum / n * (sum / n);
    if (spread <= 0x1p-40 * (squares / n))
        return most;
    const double scale = clip * sqrt(spread);
    return scale < (double)most ? (float)scale : most;
}

static float own_scale(const Call *c, const float *x)
{
    const double clip = params_of(c->self)->clip;
    const float most = blockwise_most(x, c->shape->n, c->threads);
    return clip > 0 ? clipped(c, x, clip, most) : most;
}

/* Returns the Sums for the functions of sums.h that read and merge the shared scale. Ternary codes do not
 * merge. */
static Sums shared_scale(const TerngradJob *job)
{
    return (Sums){.c = job->c, .scales = 1, .shared = true, .raw = goes_raw(job)};
}

static Status heard_scale(const TerngradJob *job, float *scale)
{
    const Sums sums = shared_scale(job);
    const uint8_t *heard;
    TRY(sums_heard(&sums, &heard));
    *scale = load_f32(heard);
    return OK;
}

static Status merge(const Call *c, const Bytes *in, size_t n, Buf *out)
{
    TerngradJob job;
    open_job(&job, c);
    if (!scale_round(c))
        return FAIL(c->err, ERR_USAGE, "terngrad: only the scales of share=on merge, not the codes");
    const Sums sums = shared_scale(&job);
    return sums_merge(&sums, in, n, out);
}

/* ---- the hooks of the codec ---- */

static void put_scale(const Call *c, float scale, Buf *out)
{
    buf_u8(out, PAYLOAD_METHOD);
    buf_f32(out, scale);
    streams_floats(c->streams, 1);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    TerngradJob job;
    open_job(&job, c);
    if (scale_round(c)) {
        if (!goes_raw(&job))
            put_scale(c, own_scale(c, x), out);
        return OK;
    }
    if (goes_raw(&job))
        return raw_put(c, x, out);
    job.x = x;
    if (params_of(c->self)->share) {
        TRY(heard_scale(&job, &job.scale));
        buf_u8(out, PAYLOAD_METHOD);
    } else {
        job.scale = own_scale(c, x);
        put_scale(c, job.scale, out);
    }
    return codes_put(&job.codes, quantise, &job, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    TerngradJob job;
    open_job(&job, c);
    Reader r = reader_open(in);
    TRY(payload_last_round(c));
    TRY(payload_kind(c, take_u8(&r), goes_raw(&job) ? PAYLOAD_RAW : PAYLOAD_METHOD));
    job.decoded = x;
    if (params_of(c->self)->share)
        TRY(heard_scale(&job, &job.scale));
    else
        job.scale = take_f32(&r);
    if (r.bad)
        return payload_bad(c, "%zu bytes, want a scale", in.size);
    if (!isfinite(job.scale) || signbit(job.scale))
        return payload_bad(c, "the scale is %g", (double)job.scale);
    return codes_get(&job.codes, dequantise, &job, &r);
}

/* Returns the sum of |x| (s - |x|) = s |x|_1 - |x|^2. In round 1 of share=on, s is the scale shared by all
 * workers; otherwise s is this worker's own scale. */
static double variance(const Call *c, const float *x)
{
    TerngradJob job;
    open_job(&job, c);
    if (goes_raw(&job))
        return 0;
    if (params_of(c->self)->clip > 0)
        return NAN;
    float scale = own_scale(c, x);
    if (params_of(c->self)->share && c->round == 1 && c->heard) {
        const float own = scale;
        if (heard_scale(&job, &scale) != OK || scale < own)
            return NAN;
    }
    double sum = 0;
    for (size_t i = 0; i < job.n; i++)
        sum += fabs((double)x[i]) * ((double)scale - fabs((double)x[i]));
    return sum;
}

const Compressor compressor_terngrad = {
    .name = "terngrad",
    .brief = "each element -s, 0 or s",
    .plain = "Sends each element as the largest magnitude, as minus that, or as zero, at random so that the"
             " mean is the element.",
    .use_when = "about 1.6 bits an element are wanted, encoding must be cheap, and no element is far larger"
                " than the others.",
    .example = "atomo-bench synth -o g.h5\n"
               "atomo-bench compare g.h5 -c terngrad -c qsgd:bits=1",
    .formula =
        "x^_i = s sgn(x_i) b_i,  P(b_i = 1) = min(1, |x_i| / s),\n"
        "s = max |x|, or with clip c > 0: min(c sigma, max |x|), sigma the standard deviation about the\n"
        "mean: clipping is biased (the paper's c is 2.5).\n"
        "E x^ = x and E |x^ - x|^2 = s |x|_1 - |x|^2 without clipping.\n"
        "share=on: a first round finds the largest scale of all workers, and all use it.\n"
        "trit: 1.6 bits an element, 2bit: 2, elias: omega codes of gaps and signs,\n"
        "rans: the entropy of signs and zeros, by their shares in a table.\n"
        "Raw where that is smaller.",
    .paper = "Wen, Xu, Yan, Wu, Wang, Chen, Li: TernGrad: Ternary Gradients to Reduce Communication in\n"
             "Distributed Deep Learning, NIPS 2017",
    .look = {HUE_LEVELS, 3, 0},
    .params = schema,
    .promises = RANDOM | EXACT_BYTES,
    .traits = traits,
    .rounds = rounds,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .merge = merge,
    .variance = variance,
};
