/* signs.c -- codecs that send the sign of every element, and scales for the signs: sign, scaledsign and onebit.
 *
 *     kind:8 = 1  { scale:f32 } x scales  signs          planes.h: bit set where x < 0
 *
 * Zero counts as plus. */
#include "compress/compressor.h"
#include "math/vec/kernels.h"
#include "base/parallel.h"
#include "coder/planes.h"

#include <math.h>

/* Elements of each sign: [0] for x >= 0, [1] for x < 0 */
typedef struct {
    double sum[2]; /* sums of |x| */
    size_t count[2];
} Sides;

typedef struct {
    const Call *c;
    size_t n, scales;
    const float *x;
    float *decoded;
    uint8_t *scale, *sign;
    const uint8_t *scale_in, *sign_in;
    Sides *sides; /* of each block; onebit: of each column if there are several */
} SignsJob;

/* The scales of a codec; Compressor.family points to them. */
typedef struct {
    size_t (*scales)(const Call *c); /* how many */
    void (*block)(const SignsJob *job, size_t block); /* measures a block */
    void (*finish)(SignsJob *job);                    /* writes the scales, after all blocks */
} SignScales;

static Status job_open(SignsJob *job, const Call *c)
{
    const SignScales *s = c->self->ops->family;
    const size_t blocks = blocks_of(c->shape->n), scales = s ? s->scales(c) : 0;
    *job = (SignsJob){.c = c, .n = c->shape->n, .scales = scales};
    job->sides = NEW_ZERO(c->scratch, Sides, scales > blocks ? scales : blocks);
    return arena_check(job->sides, c->scratch, c->err);
}

static size_t signs_bound(const Call *c)
{
    const SignScales *s = c->self->ops->family;
    return 1 + (s ? 4 * s->scales(c) : 0) + signs_size(c->shape->n);
}

static void put_block(void *data, size_t block)
{
    const SignsJob *job = data;
    const SignScales *s = job->c->self->ops->family;
    signs_put(job->x + block * BLOCK, block_size(job->n, block), job->sign + block * (BLOCK / 8));
    if (s)
        s->block(job, block);
}

static Status signs_encode(const Call *c, const float *x, Buf *out)
{
    const SignScales *s = c->self->ops->family;
    SignsJob job;
    if (sends_raw(c))
        return raw_put(c, x, out);
    TRY(job_open(&job, c));
    job.x = x;
    buf_u8(out, PAYLOAD_METHOD);
    job.scale = buf_room(out, 4 * job.scales);
    job.sign = buf_room(out, signs_size(job.n));
    parallel_for(c->threads, blocks_of(job.n), put_block, &job);
    if (s)
        s->finish(&job);
    streams_floats(c->streams, job.scales);
    streams_bits(c->streams, (double)job.n);
    return OK;
}

/* Reads a payload, and checks all that scaledsign and onebit have in common. */
static Status signs_open(SignsJob *job, const Call *c, Bytes in, float *decoded)
{
    Reader r = reader_open(in);
    TRY(payload_kind(c, take_u8(&r), own_kind(c)));
    TRY(job_open(job, c));
    job->decoded = decoded;
    job->scale_in = take_bytes(&r, 4 * job->scales);
    job->sign_in = take_bytes(&r, signs_size(job->n));
    if (!reader_done(&r))
        return payload_bad(c, "%zu bytes, want %zu", in.size, signs_bound(c));
    for (size_t i = 0; i < job->scales; i++) {
        const float scale = load_f32(job->scale_in + 4 * i);
        if (!isfinite(scale) || signbit(scale))
            return payload_bad(c, "scale %zu is no magnitude", i);
    }
    return signs_clean(job->sign_in, job->n) ? OK : payload_bad(c, "padding bits are set");
}

/* ---- sign: signSGD, and the majority of all workers' signs (Bernstein, Wang, Azizzadenesheli, Anandkumar 2018).
 *
 *     merged: kind:8 = 2  workers:varint  votes    how many workers sent minus, in as many bit planes as the
 *                                                  number `workers` has bits
 *
 * A merged payload decodes to workers * (+1 or -1), the majority's sign, so that the mean
 * over workers is that sign. A tied vote decodes to 0. Decoding ties to +1 would bias the mean towards plus:
 * where the gradient is mostly noise, half of the votes of two workers are ties. ---- */

enum { VOTERS_MOST = (1 << 17) - 1 };

typedef struct {
    uint64_t voters;
    int width;           /* bits of a vote count */
    const uint8_t *vote; /* bit planes */
} Ballot;

static int width_of(uint64_t voters)
{
    int width = 1;
    while (voters >> width)
        width++;
    return width;
}

/* Checks length, number of workers and the padding of signs, but not the votes. */
static Status ballot_open(const Call *c, Bytes in, Ballot *b)
{
    const size_t n = c->shape->n;
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    TRY(payload_kind_or_merged(c, kind, own_kind(c)));
    b->voters = kind == PAYLOAD_MERGED ? take_varint(&r) : 1;
    if (r.bad || b->voters == 0 || b->voters > VOTERS_MOST)
        return payload_bad(c, "a vote of %llu workers, want 1 to %d", (unsigned long long)b->voters,
                           VOTERS_MOST);
    b->width = width_of(b->voters);
    b->vote = take_bytes(&r, planes_size(n, b->width));
    if (!reader_done(&r))
        return payload_bad(c, "%zu bytes, want signs or votes of %zu elements", in.size, n);
    if (kind == PAYLOAD_METHOD && !signs_clean(b->vote, n))
        return payload_bad(c, "padding bits are set");
    return OK;
}

static Status sign_merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const size_t n = c->shape->n;
    PlaneSet *part = NEW(c->scratch, PlaneSet, count);
    uint64_t voters = 0;
    TRY(arena_check(part, c->scratch, c->err));
    for (size_t w = 0; w < count; w++) {
        Ballot b = {0};
        TRY(ballot_open(c, in[w], &b));
        part[w] = (PlaneSet){b.vote, b.width, (uint32_t)b.voters};
        voters += b.voters;
        if (voters > VOTERS_MOST)
            return FAIL(c->err, ERR_NUMERIC, "sign: %llu workers vote, want at most %d",
                        (unsigned long long)voters, VOTERS_MOST);
    }
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, voters);
    const int width = width_of(voters);
    return planes_add(part, count, n, width, c->threads, buf_room(out, planes_size(n, width)))
               ? OK
               : payload_bad(c, "more votes than voters, or padding bits are set");
}

/* A worker's signs are bit planes of width 1; the vote counts of a merged payload have width_of(voters) planes. */
static Numbers sign_numbers(const Call *c)
{
    const uint64_t voters = (uint64_t)c->workers;
    const bool whole = sends_raw(c) || voters > VOTERS_MOST;
    return whole ? (Numbers){0} : numbers_in_planes(c->shape->n, 1, width_of(voters), 1);
}

static void get_block(void *data, size_t block)
{
    const SignsJob *job = data;
    signs_get(job->sign_in + block * (BLOCK / 8), block_size(job->n, block), 1, -1, job->decoded + block * BLOCK);
}

static Status sign_decode(const Call *c, Bytes in, float *x)
{
    const size_t n = c->shape->n;
    Ballot b = {0};
    TRY(ballot_open(c, in, &b));
    if (in.data[0] == PAYLOAD_METHOD) {
        SignsJob job = {.n = n, .sign_in = b.vote, .decoded = x};
        parallel_for(c->threads, blocks_of(n), get_block, &job);
        return OK;
    }
    const float all = (float)b.voters;
    for (size_t from = 0; from < n; from += PLANE_GROUP) {
        uint32_t minus[PLANE_GROUP];
        const size_t size = n - from < PLANE_GROUP ? n - from : PLANE_GROUP;
        bool good = planes_get(b.vote + planes_size(from, b.width), size, b.width, minus, true);
        for (size_t i = 0; i < size; i++) {
            const uint64_t twice = 2 * (uint64_t)minus[i];
            good &= minus[i] <= b.voters;
            x[from + i] = twice < b.voters ? all : twice > b.voters ? -all : 0;
        }
        if (!good)
            return payload_bad(c, "more votes than voters, or padding bits are set");
    }
    return OK;
}

static const Compressor compressor_sign = {
    .name = "sign",
    .brief = "the sign of every element, one bit; workers vote",
    .plain = "Sends the sign of each element, one bit. The workers vote on each sign. Magnitudes are lost.",
    .use_when = "one bit an element is the limit, and the step size does not rely on magnitudes.",
    .example = "atomo-bench synth -o g.h5 --force --workers 4\n"
               "atomo-bench merge g.h5 -c sign --workers 4",
    .formula =
        "decode sgn(g_i), with sgn(0) = +1: two levels, so one bit an element says all.\n"
        "Merged payloads count the workers that said minus; they decode to\n"
        "workers * sgn(sum over workers of sgn(g_i)), a tie to 0, so that the mean over workers is the\n"
        "majority vote, +1 or -1, or 0. Biased, and without a scale: the step size is the optimiser's.",
    .paper =
        "Bernstein, Wang, Azizzadenesheli, Anandkumar: signSGD: Compressed Optimisation for Non-Convex\n"
        "Problems, ICML 2018; Bernstein, Zhao, Azizzadenesheli, Anandkumar: signSGD with Majority Vote is\n"
        "Communication Efficient and Fault Tolerant, ICLR 2019",
    .look = {HUE_SIGNS, 3, 4},
    .promises = MERGEABLE | EXACT_BYTES,
    .bound = signs_bound,
    .encode = signs_encode,
    .decode = sign_decode,
    .merge = sign_merge,
    .numbers = sign_numbers,
};

/* ---- scaledsign: an element decodes to its sign times a scale. The scale is the mean magnitude of the tensor's
 * elements, or of the elements of a bucket (Karimireddy, Rebjock, Stich, Jaggi 2019). A bucket is 512 consecutive
 * elements; the last bucket may be shorter. ---- */

typedef struct {
    int scale;
} ScaledSign;

enum { OF_TENSOR, OF_BUCKET, BUCKET = 512 };
static const char *const scales[] = {"tensor", "bucket", NULL};

static const Param scaledsign_schema[] = {
    PARAM_OF(ScaledSign, scale, "tensor", scales, "one mean for all, or one for each 512 elements"),
    {0},
};

static bool in_buckets(const Call *c)
{
    return ((const ScaledSign *)c->self->params)->scale == OF_BUCKET;
}

static size_t scaledsign_scales(const Call *c)
{
    return in_buckets(c) ? c->shape->n / BUCKET + (c->shape->n % BUCKET != 0) : 1;
}

static void put_mean(double sum, size_t n, uint8_t *out)
{
    store_f32(out, (float)(sum / (double)n));
}

static void scaledsign_block(const SignsJob *job, size_t block)
{
    const float *x = job->x + block * BLOCK;
    const size_t n = block_size(job->n, block);
    if (!in_buckets(job->c)) {
        job->sides[block].sum[0] = kernels()->sum_magnitudes(x, n);
        return;
    }
    uint8_t *scale = job->scale + 4 * (block * (BLOCK / BUCKET));
    for (size_t i = 0; i < n; i += BUCKET, scale += 4) {
        const size_t size = n - i < BUCKET ? n - i : BUCKET;
        put_mean(kernels()->sum_magnitudes(x + i, size), size, scale);
    }
}

static void scaledsign_finish(SignsJob *job)
{
    double sum = 0;
    for (size_t b = 0; b < blocks_of(job->n); b++)
        sum += job->sides[b].sum[0];
    if (!in_buckets(job->c))
        put_mean(sum, job->n, job->scale);
}

static void scaledsign_values(void *data, size_t block)
{
    const SignsJob *job = data;
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

static Status scaledsign_decode(const Call *c, Bytes in, float *x)
{
    SignsJob job;
    TRY(signs_open(&job, c, in, x));
    parallel_for(c->threads, blocks_of(job.n), scaledsign_values, &job);
    return OK;
}

static const Compressor compressor_scaledsign = {
    .name = "scaledsign",
    .brief = "sign times mean magnitude",
    .plain = "Sends the sign of each element, one bit, and the mean magnitude of the tensor.",
    .use_when = "one bit an element is the limit, and error feedback makes up for the bias: ef+scaledsign.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
               "atomo-bench compare g.h5 -c ef+scaledsign -c scaledsign",
    .formula =
        "decode sgn(g_i) |g|_1 / n, with sgn(0) = +1; of the whole tensor, or of its bucket's 512.\n"
        "|g^ - g|^2 = |g|^2 - |g|_1^2 / n where no element is 0: a contraction by 1 - |g|_1^2 / (n |g|^2).\n"
        "Biased: meant for ef+ (EF-signSGD). Raw where that is smaller.",
    .paper =
        "Karimireddy, Rebjock, Stich, Jaggi: Error Feedback Fixes SignSGD and other Gradient Compression\n"
        "Schemes, ICML 2019",
    .look = {HUE_SIGNS, 1, 4},
    .params = scaledsign_schema,
    .family = &(const SignScales){scaledsign_scales, scaledsign_block, scaledsign_finish},
    .promises = EXACT_BYTES,
    .bound = signs_bound,
    .encode = signs_encode,
    .decode = scaledsign_decode,
};

/* ---- onebit: 1-bit SGD: a non-negative element decodes to the mean of the non-negative elements, a negative
 * one to the mean of the negative elements, over its column or the whole tensor (Seide, Fu, Droppo, Li, Yu
 * 2014). The scales are the magnitudes of the two means of each column, 0 for a sign without elements. A tensor of two
 * dimensions or more is a matrix of dim[0] rows; other tensors are one column. ---- */

typedef struct {
    int scope;
} Onebit;

enum { COLUMN, TENSOR };
static const char *const scopes[] = {"column", "tensor", NULL};

static const Param onebit_schema[] = {
    PARAM_OF(Onebit, scope, "column", scopes, "two means for each column of the matrix, or two in all"),
    {0},
};

static size_t columns_of(const Call *c)
{
    const Shape *s = c->shape;
    const bool one = ((const Onebit *)c->self->params)->scope == TENSOR || s->rank < 2 || s->n == 0;
    return one ? 1 : s->n / s->dim[0];
}

static size_t onebit_scales(const Call *c)
{
    return 2 * columns_of(c);
}

/* ---- one column: each thread takes blocks of elements ---- */

static void count_signs(const SignsJob *job, const uint8_t *sign, size_t block)
{
    const size_t n = block_size(job->n, block), minus = signs_count(sign + block * (BLOCK / 8), n);
    job->sides[block].count[0] = n - minus;
    job->sides[block].count[1] = minus;
}

static void onebit_block(const SignsJob *job, size_t block)
{
    if (job->scales > 2)
        return;
    kernels()->sign_sums(job->x + block * BLOCK, block_size(job->n, block), job->sides[block].sum);
    count_signs(job, job->sign, block);
}

static void value_block(void *data, size_t block)
{
    const SignsJob *job = data;
    signs_get(job->sign_in + block * (BLOCK / 8), block_size(job->n, block), load_f32(job->scale_in),
              -load_f32(job->scale_in + 4), job->decoded + block * BLOCK);
    count_signs(job, job->sign_in, block);
}

/* ---- several columns: each thread takes strips of STRIP columns ---- */

enum { STRIP = 256 };

static void sum_strip(void *data, size_t strip)
{
    const SignsJob *job = data;
    const size_t columns = job->scales / 2, from = strip * STRIP, n = columns - from < STRIP ? columns - from : STRIP;
    double sum[2][STRIP] = {{0}};
    uint64_t below[STRIP] = {0};
    for (size_t row = 0; row < job->n; row += columns)
        kernels()->sign_columns(job->x + row + from, n, sum[0], sum[1], below);
    for (size_t k = 0; k < n; k++)
        job->sides[from + k] = (Sides){{sum[0][k], sum[1][k]}, {job->n / columns - below[k], below[k]}};
}

static void value_strip(void *data, size_t strip)
{
    const SignsJob *job = data;
    const size_t columns = job->scales / 2, from = strip * STRIP, to = columns - from < STRIP ? columns : from + STRIP;
    float mean[STRIP][2];
    for (size_t k = from; k < to; k++) {
        mean[k - from][0] = load_f32(job->scale_in + 8 * k);
        mean[k - from][1] = -load_f32(job->scale_in + 8 * k + 4);
    }
    for (size_t row = 0; row < job->n; row += columns)
        for (size_t k = from; k < to; k++) {
            const bool minus = signs_bit(job->sign_in, row + k);
            job->decoded[row + k] = mean[k - from][minus];
            job->sides[k].count[minus]++;
        }
}

/* ---- the hooks of the codec ---- */

/* Sets job->sides to the sums and counts of the columns: of the strips, or of all blocks together. */
static void columns_sum(SignsJob *job, void (*strips)(void *data, size_t strip))
{
    const size_t columns = job->scales / 2;
    if (columns > 1)
        parallel_for(job->c->threads, columns / STRIP + (columns % STRIP != 0), strips, job);
    for (size_t b = 1; columns == 1 && b < blocks_of(job->n); b++)
        for (int side = 0; side < 2; side++) {
            job->sides[0].sum[side] += job->sides[b].sum[side];
            job->sides[0].count[side] += job->sides[b].count[side];
        }
}

/* The mean of no elements is written as 0; a mean may also underflow to 0. */
static void onebit_finish(SignsJob *job)
{
    columns_sum(job, sum_strip);
    for (size_t k = 0; k < job->scales; k++) {
        const Sides *s = &job->sides[k / 2];
        store_f32(job->scale + 4 * k, 0);
        if (s->count[k % 2])
            put_mean(s->sum[k % 2], s->count[k % 2], job->scale + 4 * k);
    }
}

static Status onebit_decode(const Call *c, Bytes in, float *x)
{
    SignsJob job;
    TRY(signs_open(&job, c, in, x));
    if (job.scales == 2)
        parallel_for(c->threads, blocks_of(job.n), value_block, &job);
    columns_sum(&job, value_strip);
    for (size_t k = 0; k < job.scales; k++)
        if (!job.sides[k / 2].count[k % 2] && load_f32(job.scale_in + 4 * k) != 0)
            return payload_bad(c, "the means of column %zu are none of its elements'", k / 2);
    return OK;
}

static const Compressor compressor_onebit = {
    .name = "onebit",
    .brief = "one bit an element: the mean of those from zero on, or of those under zero",
    .plain = "Sends one bit an element, below zero or not, and the mean of each of the two classes.",
    .use_when = "you reproduce 1-bit SGD: ef+onebit.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
               "atomo-bench compare g.h5 -c ef+onebit -c ef+scaledsign",
    .formula =
        "decode mean{g_j >= 0} where g_i >= 0, else mean{g_j < 0}, over the column of i or the tensor:\n"
        "the least squared error that any two values reach for this cut.\n"
        "A tensor of two dimensions or more is a matrix of dim[0] rows, any other one column.\n"
        "Biased: meant for ef+. Raw where that is smaller (a matrix of one row).",
    .paper = "Seide, Fu, Droppo, Li, Yu: 1-Bit Stochastic Gradient Descent and its Application to\n"
             "Data-Parallel Distributed Training of Speech DNNs, Interspeech 2014",
    .look = {HUE_SIGNS, 0, 3},
    .params = onebit_schema,
    .family = &(const SignScales){onebit_scales, onebit_block, onebit_finish},
    .promises = EXACT_BYTES | NEEDS_ALL,
    .bound = signs_bound,
    .encode = signs_encode,
    .decode = onebit_decode,
};

const Compressor *const compressors_signs[] = {&compressor_sign, &compressor_scaledsign, &compressor_onebit, NULL};
