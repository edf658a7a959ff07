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

#include <math.h>

typedef struct {
    double clip;
    int code;
    bool share;
} Terngrad;

enum { TRIT, TWO_BIT, RANS, ELIAS };
static const char *const code_names[] = {"trit", "2bit", "rans", "elias", NULL};

static const Param schema[] = {
    PARAM(Terngrad, clip, "0", 0, 1e6,
          "scale by this many standard deviations at most, 0: by the largest magnitude"),
    PARAM_OF(Terngrad, code, "trit", code_names, "how signs and zeros travel"),
    PARAM_SWITCH(Terngrad, share, "off", "one scale for all workers, sent in a round of its own"),
    {0},
};

static const Terngrad *params_of(const Codec *codec)
{
    return codec->params;
}

static unsigned traits(const Codec *codec)
{
    const bool fixed = params_of(codec)->code == TRIT || params_of(codec)->code == TWO_BIT;
    return (params_of(codec)->clip == 0 ? UNBIASED : 0u) | (fixed ? FIXED_SIZE : 0u);
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
    uint8_t *out;
    const uint8_t *in;
    bool *bad; /* for each piece of PIECE elements: true if no encoder writes its codes */
    Codes codes;
    uint8_t *code; /* (n) the codes; NULL: each piece is packed while it is in the cache */
} TerngradJob;

static void toss(const TerngradJob *job, size_t from, size_t to, uint8_t *code)
{
    for (size_t i = from, end; i < to; i = end) {
        const size_t left = BLOCK - i % BLOCK;
        const RngKey key = rng_key(&job->c->rng, USE_COIN, i / BLOCK);
        end = left < to - i ? i + left : to;
        if (job->scale > 0)
            kernels()->toss8(job->x + i, end - i, coin_make(job->scale), key, (uint32_t)(i % BLOCK),
                             code + (i - from));
        else
            memset(code + (i - from), 0, end - i);
    }
}

/* Decodes elements [from, to). Returns false if a code is a negative 0, or if the scale is 0 and a code is not
 * 0. */
static bool values(const TerngradJob *job, size_t from, size_t to, const uint8_t *code)
{
    uint8_t any = 0;
    for (size_t i = from; job->scale == 0 && i < to; i++)
        any |= code[i - from];
    return kernels()->dequantise8(code, to - from, dequantiser_make(job->scale, 1), job->decoded + from) &&
           !any;
}

/* Number of elements that are packed at a time: a whole number of groups of trits (base-3 digits). */
enum { PIECE = 64 * TRIT_GROUP };

static size_t pieces_of(size_t n)
{
    return n / PIECE + (n % PIECE != 0);
}

static void quantise(void *data, size_t piece)
{
    const TerngradJob *job = data;
    const size_t from = piece * PIECE, to = job->n - from < PIECE ? job->n : from + PIECE;
    uint8_t own[PIECE], *code = job->code ? job->code + from : own;
    toss(job, from, to, code);
    if (job->out)
        trits_put(code, to - from, job->out + trits_size(from));
}

static void dequantise(void *data, size_t piece)
{
    const TerngradJob *job = data;
    const size_t from = piece * PIECE, to = job->n - from < PIECE ? job->n : from + PIECE;
    uint8_t own[PIECE], *code = job->code ? job->code + from : own;
    job->bad[piece] = (job->in && !trits_get(job->in + trits_size(from), to - from, code)) || !values(job, from, to, code);
}

/* ---- sizes ---- */

static void open_job(TerngradJob *job, const Call *c)
{
    static const CodeKind kinds[] = {[TRIT] = CODE_FIXED, /* only codes_report uses this kind for trits */
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

static size_t codes_size(const TerngradJob *job)
{
    return params_of(job->c->self)->code == TRIT ? trits_size(job->n) : codes_most(&job->codes);
}

enum { SCALE_BYTES = 5 }; /* kind byte and scale */

static bool goes_raw(const TerngradJob *job)
{
    return SCALE_BYTES + params_of(job->c->self)->share + codes_size(job) >= raw_size(job->c);
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
    return goes_raw(&job) ? raw_size(c) : SCALE_BYTES + codes_size(&job);
}

/* ---- computing the scale s of the levels -s, 0 and s ---- */

typedef struct {
    const float *x;
    size_t n;
    double *sum, *squares;
    float *most;
} ScaleStats;

static void stats_block(void *data, size_t block)
{
    const ScaleStats *s = data;
    const float *x = s->x + block * BLOCK;
    const size_t n = block_size(s->n, block);
    s->most[block] = kernels()->abs_max(x, n);
    if (s->sum)
        kernels()->moments(x, n, &s->sum[block], &s->squares[block]);
}

/* Returns min(clip * standard deviation, most). The variance is computed as the mean square minus the squared
 * mean, whose rounding errors may give a constant vector a small variance. So a vector whose variance is at
 * most 2^-40 of the mean square counts as constant and is not clipped. */
static float clipped(const ScaleStats *s, double clip, float most)
{
    double sum = 0, squares = 0;
    for (size_t b = 0; b < blocks_of(s->n); b++) {
        sum += s->sum[b];
        squares += s->squares[b];
    }
    const double n = (double)s->n, spread = squares / n - sum / n * (sum / n);
    if (spread <= 0x1p-40 * (squares / n))
        return most;
    const double scale = clip * sqrt(spread);
    return scale < (double)most ? (float)scale : most;
}

static Status own_scale(const Call *c, const float *x, float *scale)
{
    const double clip = params_of(c->self)->clip;
    const size_t blocks = blocks_of(c->shape->n);
    ScaleStats s = {.x = x, .n = c->shape->n, .most = NEW(c->scratch, float, blocks)};
    if (clip > 0) {
        s.sum = NEW(c->scratch, double, blocks);
        s.squares = NEW(c->scratch, double, blocks);
    }
    if (!s.most || (clip > 0 && (!s.sum || !s.squares)))
        return arena_fail(c->scratch, c->err);
    parallel_for(c->threads, blocks, stats_block, &s);
    *scale = 0;
    for (size_t b = 0; b < blocks; b++)
        *scale = s.most[b] > *scale ? s.most[b] : *scale;
    if (clip > 0)
        *scale = clipped(&s, clip, *scale);
    return OK;
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

static Status put_codes(TerngradJob *job, Buf *out)
{
    const Call *c = job->c;
    const bool trits = params_of(c->self)->code == TRIT;
    if ((!trits || c->streams) && !(job->code = codes_array(&job->codes)))
        return arena_fail(c->scratch, c->err);
    job->out = trits ? buf_room(out, trits_size(job->n)) : NULL;
    parallel_for(c->threads, pieces_of(job->n), quantise, job);
    if (!trits)
        TRY(codes_put(&job->codes, job->code, out));
    return c->streams ? codes_report(&job->codes, job->code) : OK;
}

static Status get_codes(TerngradJob *job, Reader *r)
{
    const Call *c = job->c;
    const size_t want = trits_size(job->n), pieces = pieces_of(job->n);
    const bool trits = params_of(c->self)->code == TRIT;
    job->code = trits ? NULL : codes_array(&job->codes);
    job->bad = NEW(c->scratch, bool, pieces);
    TRY(arena_check((trits || job->code) && job->bad, c->scratch, c->err));
    if (trits && reader_left(r) != want)
        return payload_bad(c, "%zu bytes of trits, want %zu", reader_left(r), want);
    if (trits)
        job->in = take_bytes(r, want);
    else
        TRY(codes_get(&job->codes, r, job->code));
    parallel_for(c->threads, pieces, dequantise, job);
    for (size_t i = 0; i < pieces; i++)
        if (job->bad[i])
            return trits ? payload_bad(c, "trits that no encoder writes, in piece %zu", i)
                         : payload_bad(c, "block %zu: a sign of 0, or an element at scale 0", i * PIECE / BLOCK);
    return OK;
}

static Status put_scale(const Call *c, const float *x, Buf *out)
{
    float scale;
    TRY(own_scale(c, x, &scale));
    buf_u8(out, PAYLOAD_METHOD);
    buf_f32(out, scale);
    streams_floats(c->streams, 1);
    return OK;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    TerngradJob job;
    open_job(&job, c);
    if (scale_round(c))
        return goes_raw(&job) ? OK : put_scale(c, x, out);
    if (goes_raw(&job))
        return raw_put(c, x, out);
    job.x = x;
    if (params_of(c->self)->share) {
        TRY(heard_scale(&job, &job.scale));
        buf_u8(out, PAYLOAD_METHOD);
    } else {
        TRY(own_scale(c, x, &job.scale));
        buf_u8(out, PAYLOAD_METHOD);
        buf_f32(out, job.scale);
        streams_floats(c->streams, 1);
    }
    return put_codes(&job, out);
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
    return get_codes(&job, &r);
}

/* Returns the sum of |x| (s - |x|) = s |x|_1 - |x|^2. In round 1 of share=on, s is the scale shared by all
 * workers; otherwise s is this worker's own scale. */
static double variance(const Call *c, const float *x)
{
    TerngradJob job;
    float scale;
    open_job(&job, c);
    if (goes_raw(&job))
        return 0;
    if (params_of(c->self)->clip > 0 || own_scale(c, x, &scale) != OK)
        return NAN;
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
    .params_size = sizeof(Terngrad),
    .promises = RANDOM | EXACT_BYTES,
    .traits = traits,
    .rounds = rounds,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .merge = merge,
    .variance = variance,
};
