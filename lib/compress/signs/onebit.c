/* onebit.c -- 1-bit SGD: a non-negative element decodes to the mean of the non-negative elements, a negative
 * one to the mean of the negative elements, over its column or the whole tensor (Seide, Fu, Droppo, Li, Yu
 * 2014).
 *
 *     kind:8  { plus:f32  minus:f32 } x columns  signs     planes.h: bit set where x < 0
 *
 * plus and minus are the magnitudes of the two means, 0 for a sign without elements. A tensor of two dimensions
 * or more is a matrix of dim[0] rows; other tensors are one column. */
#include "compress/compressor.h"
#include "math/vec/kernels.h"
#include "base/parallel.h"
#include "coder/planes.h"

#include <math.h>

typedef struct {
    int scope;
} Onebit;

enum { COLUMN, TENSOR };
static const char *const scopes[] = {"column", "tensor", NULL};

static const Param schema[] = {
    PARAM_OF(Onebit, scope, "column", scopes, "two means for each column of the matrix, or two in all"),
    {0},
};

static size_t columns_of(const Call *c)
{
    const Shape *s = c->shape;
    const bool one = ((const Onebit *)c->self->params)->scope == TENSOR || s->rank < 2 || s->n == 0;
    return one ? 1 : s->n / s->dim[0];
}

static size_t own_size(const Call *c)
{
    return 1 + 8 * columns_of(c) + signs_size(c->shape->n);
}

static bool goes_raw(const Call *c)
{
    return own_size(c) >= raw_size(c);
}

static size_t bound(const Call *c)
{
    return goes_raw(c) ? raw_size(c) : own_size(c);
}

/* ---- sums over non-negative and over negative elements ---- */

typedef struct {
    double sum[2]; /* sums of |x|: [0] over x >= 0, [1] over x < 0 */
    size_t count[2];
} OnebitSides;

/* The mean of no elements is written as 0; a mean may also underflow to 0. */
static void put_means(const OnebitSides *s, uint8_t *out)
{
    for (int side = 0; side < 2; side++)
        store_f32(out + 4 * side, s->count[side] ? (float)(s->sum[side] / (double)s->count[side]) : 0);
}

static bool means_good(const OnebitSides *s, const uint8_t *in)
{
    bool good = true;
    for (int side = 0; side < 2; side++) {
        const float mean = load_f32(in + 4 * side);
        good &= isfinite(mean) && !signbit(mean) && (s->count[side] || mean == 0);
    }
    return good;
}

typedef struct {
    size_t n, columns;
    const float *x;
    float *decoded;
    uint8_t *sign;
    const uint8_t *sign_in, *means_in;
    OnebitSides *sides; /* for each column; for each block if there is one column */
} OnebitJob;

/* ---- sums of a matrix with one column: each thread takes blocks of elements ---- */

static void sum_block(void *data, size_t block)
{
    const OnebitJob *job = data;
    const size_t n = block_size(job->n, block);
    OnebitSides *s = &job->sides[block];
    kernels()->sign_sums(job->x + block * BLOCK, n, s->sum);
    s->count[1] = signs_count(job->sign + block * (BLOCK / 8), n);
    s->count[0] = n - s->count[1];
}

static void sign_block(void *data, size_t block)
{
    const OnebitJob *job = data;
    signs_put(job->x + block * BLOCK, block_size(job->n, block), job->sign + block * (BLOCK / 8));
    if (job->columns == 1)
        sum_block(data, block);
}

static void value_block(void *data, size_t block)
{
    const OnebitJob *job = data;
    const uint8_t *sign = job->sign_in + block * (BLOCK / 8);
    const size_t n = block_size(job->n, block);
    OnebitSides *s = &job->sides[block];
    signs_get(sign, n, load_f32(job->means_in), -load_f32(job->means_in + 4), job->decoded + block * BLOCK);
    s->count[1] = signs_count(sign, n);
    s->count[0] = n - s->count[1];
}

static void join_blocks(const OnebitJob *job)
{
    for (size_t b = 1; b < blocks_of(job->n); b++)
        for (int side = 0; side < 2; side++) {
            job->sides[0].sum[side] += job->sides[b].sum[side];
            job->sides[0].count[side] += job->sides[b].count[side];
        }
}

/* ---- sums of a matrix with several columns: each thread takes strips of STRIP columns ---- */

enum { STRIP = 256 };

static size_t strips_of(const OnebitJob *job)
{
    return job->columns / STRIP + (job->columns % STRIP != 0);
}

static void sum_strip(void *data, size_t strip)
{
    const OnebitJob *job = data;
    const size_t from = strip * STRIP, to = job->columns - from < STRIP ? job->columns : from + STRIP;
    for (size_t row = 0; row < job->n; row += job->columns)
        for (size_t k = from; k < to; k++) {
            const float v = job->x[row + k];
            job->sides[k].sum[v < 0] += fabs((double)v);
            job->sides[k].count[v < 0]++;
        }
}

static void value_strip(void *data, size_t strip)
{
    const OnebitJob *job = data;
    const size_t from = strip * STRIP, to = job->columns - from < STRIP ? job->columns : from + STRIP;
    float mean[STRIP][2];
    for (size_t k = from; k < to; k++) {
        mean[k - from][0] = load_f32(job->means_in + 8 * k);
        mean[k - from][1] = -load_f32(job->means_in + 8 * k + 4);
    }
    for (size_t row = 0; row < job->n; row += job->columns)
        for (size_t k = from; k < to; k++) {
            const bool minus = signs_bit(job->sign_in, row + k);
            job->decoded[row + k] = mean[k - from][minus];
            job->sides[k].count[minus]++;
        }
}

/* ---- the hooks of the codec ---- */

static bool open_job(OnebitJob *job, const Call *c)
{
    const size_t n = c->shape->n, columns = columns_of(c);
    *job = (OnebitJob){.n = n, .columns = columns};
    job->sides = NEW_ZERO(c->scratch, OnebitSides, columns == 1 ? blocks_of(n) : columns);
    return job->sides != NULL;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    OnebitJob job;
    if (goes_raw(c))
        return raw_put(c, x, out);
    TRY(arena_check(open_job(&job, c), c->scratch, c->err));
    job.x = x;
    buf_u8(out, PAYLOAD_METHOD);
    uint8_t *means = buf_room(out, 8 * job.columns);
    job.sign = buf_room(out, signs_size(job.n));
    parallel_for(c->threads, blocks_of(job.n), sign_block, &job);
    if (job.columns == 1)
        join_blocks(&job);
    else
        parallel_for(c->threads, strips_of(&job), sum_strip, &job);
    for (size_t k = 0; k < job.columns; k++)
        put_means(&job.sides[k], means + 8 * k);
    streams_floats(c->streams, 2 * job.columns);
    streams_bits(c->streams, (double)job.n);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    OnebitJob job;
    Reader r = reader_open(in);
    TRY(payload_kind(c, take_u8(&r), goes_raw(c) ? PAYLOAD_RAW : PAYLOAD_METHOD));
    TRY(arena_check(open_job(&job, c), c->scratch, c->err));
    job.decoded = x;
    job.means_in = take_bytes(&r, 8 * job.columns);
    job.sign_in = take_bytes(&r, signs_size(job.n));
    if (!reader_done(&r))
        return payload_bad(c, "%zu bytes, want %zu", in.size, own_size(c));
    if (!signs_clean(job.sign_in, job.n))
        return payload_bad(c, "padding bits are set");
    if (job.columns == 1) {
        parallel_for(c->threads, blocks_of(job.n), value_block, &job);
        join_blocks(&job);
    } else {
        parallel_for(c->threads, strips_of(&job), value_strip, &job);
    }
    for (size_t k = 0; k < job.columns; k++)
        if (!means_good(&job.sides[k], job.means_in + 8 * k))
            return payload_bad(c, "the means of column %zu are none of its elements'", k);
    return OK;
}

const Compressor compressor_onebit = {
    .name = "onebit",
    .brief = "one bit an element: the mean of those from zero on, or of those under zero",
    .plain = "Sends one bit an element, below zero or not, and the mean of each of the two classes.",
    .use_when = "you reproduce 1-bit SGD: ef+onebit.",
    .example = "atomo-bench synth -o g.h5 --steps 4\n"
               "atomo-bench compare g.h5 -c ef+onebit -c ef+scaledsign",
    .formula =
        "decode mean{g_j >= 0} where g_i >= 0, else mean{g_j < 0}, over the column of i or the tensor:\n"
        "the least squared error that any two values reach for this cut.\n"
        "A tensor of two dimensions or more is a matrix of dim[0] rows, any other one column.\n"
        "Biased: meant for ef+. Raw where that is smaller (a matrix of one row).",
    .paper = "Seide, Fu, Droppo, Li, Yu: 1-Bit Stochastic Gradient Descent and its Application to\n"
             "Data-Parallel Distributed Training of Speech DNNs, Interspeech 2014",
    .look = {HUE_SIGNS, 0, 3},
    .params = schema,
    .params_size = sizeof(Onebit),
    .promises = EXACT_BYTES,
    .bound = bound,
    .encode = encode,
    .decode = decode,
};
