/* lowrank.c -- reads and merges payloads that are lists of floats (addends.h), and the codecs lowrank and powersgd. */
#include "compress/lowrank/addends.h"
#include "math/vec/kernels.h"
#include "base/parallel.h"
#include "math/blockwise.h"
#include "math/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

const uint8_t *addends_open(const Call *c, Bytes in, unsigned own_kind, bool merges, size_t count,
                            const char *what, uint64_t *workers)
{
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    *workers = merges && kind == PAYLOAD_MERGED ? take_varint(&r) : 1;
    const uint8_t *values = take_bytes(&r, 4 * count);
    if (in.size && (merges ? payload_kind_or_merged : payload_kind)(c, kind, own_kind) != OK)
        return NULL;
    if (!reader_done(&r))
        payload_bad(c, "%zu bytes, want %zu %ss", in.size, count, what);
    else if (*workers == 0)
        payload_bad(c, "the sum of no workers");
    else
        return values;
    return NULL;
}

Status addends_open_all(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, size_t count,
                        const char *what, const uint8_t ***values, Buf *out)
{
    uint64_t total = 0, some;
    *values = NEW(c->scratch, const uint8_t *, workers);
    TRY(arena_check(*values, c->scratch, c->err));
    for (size_t w = 0; w < workers; w++) {
        (*values)[w] = addends_open(c, in[w], own_kind, true, count, what, &some);
        if (!(*values)[w])
            return ERR_CORRUPT;
        TRY(payload_add_workers(c, some, &total));
    }
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, total);
    return OK;
}

Status addends_get(const Call *c, Bytes in, unsigned own_kind, size_t count, float *x)
{
    uint64_t workers;
    const uint8_t *values = addends_open(c, in, own_kind, true, count, "value", &workers);
    if (!values)
        return ERR_CORRUPT;
    return blockwise_load(values, count, c->threads, x)
               ? OK
               : payload_bad(c, "value %zu is not finite", first_nonfinite(x, count, NULL));
}

typedef struct {
    const uint8_t *const *in;
    size_t workers, count;
    float part_most;
    double most;
    uint8_t *out;
    bool *good; /* for each block of 2^16 elements: false if a value or sum is out of range */
} AddendsJob;

static void add_block(void *data, size_t block)
{
    const AddendsJob *job = data;
    const size_t from = block * BLOCK;
    job->good[block] = kernels()->add_up(job->in, job->workers, from, from + block_size(job->count, block),
                                         job->part_most, job->most, job->out);
}

/* Fails with a message that names the first value or sum out of range. */
static Status refuse(const Call *c, const AddendsJob *job, const char *what)
{
    for (size_t i = 0; i < job->count; i++) {
        double sum = 0;
        for (size_t w = 0; w < job->workers; w++) {
            const float v = load_f32(job->in[w] + 4 * i);
            if (!(fabsf(v) <= job->part_most))
                return payload_bad(c, "%s %zu is %s", what, i, isfinite(v) ? "beyond float32" : "not finite");
            sum += (double)v;
        }
        if (!(fabs(sum) <= job->most))
            return FAIL(c->err, ERR_NUMERIC, "%s: the sum of %s %zu is beyond float32", c->self->ops->name,
                        what, i);
    }
    return OK;
}

Status addends_sum(const Call *c, const uint8_t *const *in, size_t workers, size_t count, double factor,
                   double most, const char *what, uint8_t *out)
{
    AddendsJob job = {.in = in, .workers = workers, .count = count, .most = most, .out = out};
    job.part_most = (float)((double)FLT_MAX / factor);
    while ((double)job.part_most * factor > (double)FLT_MAX)
        job.part_most = nextafterf(job.part_most, 0);
    job.good = NEW_ZERO(c->scratch, bool, blocks_of(count));
    TRY(arena_check(job.good, c->scratch, c->err));
    parallel_for(c->threads, blocks_of(count), add_block, &job);
    for (size_t b = 0; b < blocks_of(count); b++)
        if (!job.good[b])
            return refuse(c, &job, what);
    return OK;
}

Status addends_merge(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, const Numbers *m, Buf *out)
{
    const uint8_t **values;
    const bool empty = own_kind == PAYLOAD_RAW && !is_last_round(c);
    for (size_t w = 0; w < workers && empty; w++)
        if (in[w].size)
            return payload_bad(c, "%zu bytes in round %d, want none", in[w].size, c->round);
    if (empty)
        return OK;
    TRY(addends_open_all(c, in, workers, own_kind, m->count, "value", &values, out));
    return addends_sum(c, values, workers, m->count, m->factor, m->most, "value", buf_room(out, 4 * m->count));
}

static Status add(const Call *c, const Numbers *m, const uint8_t *const *in, size_t payloads, size_t n,
                  uint8_t *out)
{
    return addends_sum(c, in, payloads, n, m->factor, m->most, "value", out);
}

Numbers addends_numbers(size_t count, double factor, double most)
{
    return (Numbers){
        .count = count, .bits = 32, .merged_bits = 32, .factor = factor, .most = most, .add = add};
}

/* ---- products of a matrix with a few vectors, and orthonormalisation of a few vectors. Results have the same bytes for
 * any number of threads and on any machine: BLAS is not used, and sums are computed in double in an order that depends
 * only on the shape ---- */

enum { AT_ONCE = 4 }; /* the most vectors that a kernel takes */

/* ---- products M q of a matrix and a vector ---- */

typedef struct {
    const float *m, *q;
    float *p;
    size_t rows, cols, count, step;
} Right;

static void thin_right_piece(void *data, size_t piece)
{
    const Right *j = data;
    const size_t from = piece * j->step, rows = size_least(j->step, j->rows - from);
    for (size_t k = 0; k < j->count; k += AT_ONCE) {
        const size_t some = size_least(AT_ONCE, j->count - k);
        const float *q[AT_ONCE];
        float *p[AT_ONCE];
        for (size_t i = 0; i < some; i++) {
            q[i] = j->q + (k + i) * j->cols;
            p[i] = j->p + (k + i) * j->rows + from;
        }
        kernels()->rows_dot(j->m + from * j->cols, rows, j->cols, q, some, p);
    }
}

void thin_right(const float *m, size_t rows, size_t cols, const float *q, size_t count, int threads, float *p)
{
    const size_t step = cols < BLOCK / 4 ? BLOCK / (cols ? cols : 1) / 4 * 4 : 4;
    Right j = {m, q, p, rows, cols, count, step};
    parallel_for(threads, size_parts(rows, step), thin_right_piece, &j);
}

/* ---- products M' p of a transposed matrix and a vector ---- */

/* Columns are cut into strips, so that the sums of a strip stay in the cache. If there are at most
 * ENOUGH_STRIPS strips, the rows are also cut, into up to STRETCHES stretches with sums of their own. */
enum { STRIP = 1024, ENOUGH_STRIPS = 8, STRETCHES = 16, LEAST_ROWS = 256 };

typedef struct {
    const float *m, *p;
    float *q;
    double *sum; /* (stretches, count, cols) */
    size_t rows, cols, count, strips, stretches;
} Left;

static void thin_left_piece(void *data, size_t piece)
{
    const Left *j = data;
    const size_t strip = piece % j->strips, stretch = piece / j->strips;
    const size_t first = strip * STRIP, cols = size_least(STRIP, j->cols - first);
    const size_t each = size_parts(j->rows, j->stretches), end = size_least((stretch + 1) * each, j->rows);
    double *const sum = j->sum + stretch * j->count * j->cols + first;
    for (size_t k = 0; k < j->count; k++)
        memset(sum + k * j->cols, 0, cols * sizeof *sum);
    for (size_t from = stretch * each, rows; from < end; from += rows) {
        rows = size_least(LEAST_ROWS, end - from);
        for (size_t k = 0; k < j->count; k += AT_ONCE) {
            const size_t some = size_least(AT_ONCE, j->count - k);
            const float *p[AT_ONCE];
            double *s[AT_ONCE];
            for (size_t i = 0; i < some; i++) {
                p[i] = j->p + (k + i) * j->rows + from;
                s[i] = sum + (k + i) * j->cols;
            }
            kernels()->rows_add(j->m + from * j->cols + first, j->cols, rows, cols, p, some, s);
        }
    }
}

/* Writes q_k = M' p_k, where q_k is row k of q (count, cols), and p_k is row k of p (count, rows). */
static Status thin_left(const float *m, size_t rows, size_t cols, const float *p, size_t count, int threads,
                 float *q, Arena *scratch, Error *err)
{
    const ArenaMark mark = arena_mark(scratch);
    const size_t strips = size_parts(cols, STRIP), cells = count * cols;
    Left j = {m, p, q, NULL, rows, cols, count, strips, 1};
    if (strips <= ENOUGH_STRIPS)
        j.stretches = size_least(STRETCHES, size_parts(rows, LEAST_ROWS));
    j.sum = NEW(scratch, double, j.stretches *cells);
    TRY(arena_check(j.sum, scratch, err));
    parallel_for(threads, strips * j.stretches, thin_left_piece, &j);
    for (size_t i = 0; i < cells; i++) {
        double total = 0;
        for (size_t s = 0; s < j.stretches; s++)
            total += j.sum[s * cells + i];
        q[i] = (float)total;
    }
    arena_rewind(scratch, mark);
    return OK;
}

/* ---- orthonormalisation of vectors ---- */

static double thin_dot(const double *a, const double *b, size_t n)
{
    double s[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t l = 0; l < 8; l++)
            s[l] += a[i + l] * b[i + l];
    for (size_t l = 0; i < n; i++, l++)
        s[l] += a[i] * b[i];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Subtracts from vector k of w its projections on vectors 0 .. k - 1, which are orthonormal, and normalises
 * the remainder. Returns the ratio of the remainder's length to the vector's; 0: there is no remainder. */
static double thin_orthogonal(double *w, size_t k, size_t n)
{
    double *v = w + k * n;
    const double whole = sqrt(thin_dot(v, v, n));
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j < k; j++) {
            const double *u = w + j * n, along = thin_dot(u, v, n);
            for (size_t i = 0; i < n; i++)
                v[i] -= along * u[i];
        }
    const double rest = sqrt(thin_dot(v, v, n));
    if (!(rest > 0))
        return 0;
    for (size_t i = 0; i < n; i++)
        v[i] /= rest;
    return rest / whole;
}

/* Makes the rows of v (count, n), count <= n, orthonormal, in place, by Gram-Schmidt in two passes, in
 * double. If less than a millionth of a row's length is orthogonal to the previous rows, a random normal
 * vector replaces the row. */
static Status thin_orthonormal(float *v, size_t count, size_t n, const Rng *rng, Arena *scratch, Error *err)
{
    const double least = 1e-6; /* ten times the rounding error of float32 */
    const ArenaMark mark = arena_mark(scratch);
    double *w = NEW(scratch, double, count *n);
    TRY(arena_check(w, scratch, err));
    for (size_t k = 0; k < count; k++) {
        double *const own = w + k * n;
        for (size_t i = 0; i < n; i++)
            own[i] = (double)v[k * n + i];
        if (thin_orthogonal(w, k, n) > least)
            continue;
        rng_normals(rng, USE_INIT, k * n, n, 1, v + k * n);
        for (size_t i = 0; i < n; i++)
            own[i] = (double)v[k * n + i];
        thin_orthogonal(w, k, n);
    }
    for (size_t i = 0; i < count * n; i++)
        v[i] = (float)w[i];
    arena_rewind(scratch, mark);
    return OK;
}

/* ---- a tensor as a matrix, which two thin factors replace ---- */

typedef struct {
    size_t rows, cols, rank;
    bool raw; /* true: the tensor is sent as raw floats */
} View;

/* Tensors with fewer than two dimensions have no rows and columns. */
static View view_of(const Call *c, int64_t rank, Reshape reshape)
{
    View v = {.rank = (size_t)rank};
    if (c->shape->rank > 1 && c->shape->n)
        matrix_view(c->shape, reshape, &v.rows, &v.cols);
    return v;
}

/* Returns true only if no element of P Q' is beyond float32's range. The sum over k of max |P_k| max |Q_k|,
 * with P_k and Q_k the columns of P and Q, bounds every element. `p` NULL: the columns of P are orthonormal. */
static bool decodes_finite(const View *v, const float *p, const float *q)
{
    double sum = 0;
    for (size_t k = 0; k < v->rank; k++)
        sum += (p ? (double)kernels()->abs_max(p + k * v->rows, v->rows) : 1) *
               (double)kernels()->abs_max(q + k * v->cols, v->cols);
    return sum <= (double)FLT_MAX / 2;
}

/* ---- lowrank: sends a matrix M as M Q Q', where Q is random and the same for all workers. The estimate is
 * unbiased, and linear in M (a baseline in the PowerSGD paper: Vogels, Karimireddy, Jaggi 2019).
 *
 *     kind:8 = 1  { p:f32 } x rank rows        P = M Q, column by column; merged by adding P (addends.h)
 *
 * Q (cols, rank) has independent normal entries of variance 1 / rank, so E Q Q' is the identity. Receivers draw
 * the same Q, so only P is sent. Tensors with fewer than two dimensions, and matrices whose P is not shorter
 * than M, are sent as raw floats. ---- */

typedef struct {
    int64_t rank;
} Lowrank;

static const Param lowrank_schema[] = {
    PARAM(Lowrank, rank, "2", 1, 65536, "columns of Q", .rate = true),
    {0},
};

/* ---- sizes ---- */

static View lowrank_view_of(const Call *c)
{
    View v = view_of(c, ((const Lowrank *)c->self->params)->rank, RESHAPE_ROWS);
    v.raw = v.rank >= v.cols;
    return v;
}

static size_t lowrank_bound(const Call *c)
{
    const View v = lowrank_view_of(c);
    return v.raw ? raw_size(c) : 1 + 4 * v.rank * v.rows;
}

/* ---- the random matrix ---- */

/* Draws Q into scratch, column after column. Returns NULL if memory runs out. */
static float *draw(const Call *c, const View *v)
{
    float *q = NEW(c->scratch, float, v->rank * v->cols);
    if (q)
        rng_normals(&c->rng_shared, USE_INIT, 0, v->rank * v->cols, 1 / sqrt((double)v->rank), q);
    return q;
}

/* ---- the hooks of the codec ---- */

static Status lowrank_encode(const Call *c, const float *x, Buf *out)
{
    const View v = lowrank_view_of(c);
    if (v.raw)
        return raw_put(c, x, out);
    float *q = draw(c, &v), *p = NEW(c->scratch, float, v.rank *v.rows);
    TRY(arena_check(q && p, c->scratch, c->err));
    thin_right(x, v.rows, v.cols, q, v.rank, c->threads, p);
    if (first_nonfinite(p, v.rank * v.rows, NULL) < v.rank * v.rows || !decodes_finite(&v, p, q))
        return FAIL(c->err, ERR_NUMERIC, "lowrank: what is decoded would be beyond float32");
    buf_u8(out, PAYLOAD_METHOD);
    buf_floats(out, p, v.rank * v.rows);
    streams_floats(c->streams, v.rank * v.rows);
    return OK;
}

static Status lowrank_decode(const Call *c, Bytes in, float *x)
{
    const View v = lowrank_view_of(c);
    if (v.raw)
        return addends_get(c, in, PAYLOAD_RAW, c->shape->n, x);
    float *q = draw(c, &v), *p = NEW(c->scratch, float, v.rank *v.rows);
    TRY(arena_check(q && p, c->scratch, c->err));
    TRY(addends_get(c, in, PAYLOAD_METHOD, v.rank * v.rows, p));
    if (!decodes_finite(&v, p, q))
        return payload_bad(c, "values beyond float32");
    linalg_outer(p, q, v.rank, v.rows, v.cols, c->threads, x);
    return OK;
}

/* Limits the sums in P so that no estimate is beyond float32's range, without drawing Q: normal numbers made
 * from 53 random bits are at most 9 standard deviations. */
static Numbers lowrank_numbers(const Call *c)
{
    const View v = lowrank_view_of(c);
    return v.raw ? addends_numbers(c->shape->n, 1, FLT_MAX)
                 : addends_numbers(v.rank * v.rows, 1, FLT_MAX / (18 * sqrt((double)v.rank)));
}

static Status lowrank_merge(const Call *c, const Bytes *in, size_t n, Buf *out)
{
    const Numbers m = lowrank_numbers(c);
    return addends_merge(c, in, n, lowrank_view_of(c).raw ? PAYLOAD_RAW : PAYLOAD_METHOD, &m, out);
}

static double variance(const Call *c, const float *x)
{
    const View v = lowrank_view_of(c);
    return v.raw ? 0 : ((double)v.cols + 1) / (double)v.rank * blockwise_squares(x, c->shape->n, c->threads);
}

/* The rows' errors are dependent, because all rows are multiplied by the same Q. With K = M M', the covariance
 * of the errors of elements (i, j) and (i', j') is C = (K_ii' [j = j'] + M_ij' M_i'j) / rank. So `squares`, the
 * trace of C^2, is ((cols + 2) |K|^2 + |M|^4) / rank^2, and `weighted`, x' C x, is 2 |K|^2 / rank. */
static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    const View v = lowrank_view_of(c);
    const double g = blockwise_squares(x, c->shape->n, c->threads), rank = (double)v.rank;
    *m = (AtomMoments){0};
    if (v.raw)
        return ATOMWISE;
    const Tall a = tall_of(x, v.rows, v.cols);
    double *gram = NEW(c->scratch, double, a.cols *a.cols), fourth = 0;
    if (!gram || linalg_gram(&a, c->threads, gram, c->scratch, c->err) != OK)
        return DEPENDENT;
    for (size_t i = 0; i < a.cols * a.cols; i++)
        fourth += gram[i] * gram[i];
    m->squares = (((double)v.cols + 2) * fourth + g * g) / (rank * rank);
    m->weighted = 2 * fourth / rank;
    return ATOMWISE;
}

static const Compressor compressor_lowrank = {
    .name = "lowrank",
    .brief = "a matrix times a random one of low rank and its transpose",
    .plain = "Multiplies each matrix by a thin random one that all workers share, and sends the product. "
             "The mean over draws is the gradient and payloads add, but the variance is large.",
    .use_when = "you want the unbiased relative of powersgd in a comparison.",
    .example = "atomo-bench synth -o g.h5 --force --workers 4\n"
               "atomo-bench merge g.h5 -c lowrank:rank=2 --workers 4",
    .formula =
        "M^ = (M Q) Q',  Q cols x rank,  Q_jk ~ N(0, 1/rank),  the same for all workers and never sent.\n"
        "M is the tensor, first axis by the rest. E Q Q' = 1, so E M^ = M, and E |M^ - M|^2 = (cols + 1)/rank |M|^2.\n"
        "Payloads add; as Q is shared, averaging over workers does not lessen the variance of their mean.\n"
        "32 rank rows bits. Tensors of rank 0 and 1 travel as floats, as do those of no more than rank columns.",
    .paper = "Vogels, Karimireddy, Jaggi: PowerSGD: Practical Low-Rank Gradient Compression for\n"
             "Distributed Optimization, NeurIPS 2019 (its unbiased variant of rank r)",
    .look = {HUE_LOWRANK, 1, 2},
    .params = lowrank_schema,
    .promises = UNBIASED | LINEAR | MERGEABLE | RANDOM | EXACT_BYTES | SHARED_DRAWS | FIXED_SIZE,
    .bound = lowrank_bound,
    .encode = lowrank_encode,
    .decode = lowrank_decode,
    .merge = lowrank_merge,
    .numbers = lowrank_numbers,
    .variance = variance,
    .moments = moments,
};

/* ---- powersgd: PowerSGD (Vogels, Karimireddy, Jaggi 2019): sends a matrix M as P Q', whose factors come from a
 * power iteration that continues from step to step.
 *
 *     round 0    P = M orth(Q of the previous step)      kind:8  { p:f32 } x rank rows
 *     round 1    Q = M' orth(merged P)                   kind:8  { q:f32 } x rank cols
 *
 * Each of `iters` iterations has two rounds. A later iteration multiplies M by orth(merged Q) of the
 * iteration before. Factors are sent column by column. The estimate is orth(P) Q' with the last P and Q.
 * Every round is linear in M, so payloads can be added (addends.h): the merged factors belong to the sum of
 * the workers' matrices.
 *
 * State: the last merged Q, 0 before the first step. If Q has fewer than `rank` independent columns, as in the
 * first step, the missing ones are drawn at random, the same for all workers.
 *
 * Tensors with fewer than two dimensions, and matrices for which all rounds together would not be shorter than
 * M, are sent as raw floats in the last round. Their earlier rounds are empty. ---- */

enum { ITERS_MAX = ROUNDS_MAX / 2 };

typedef struct {
    int64_t rank, iters;
    bool warm;
    int reshape;
} Powersgd;

static const Param powersgd_schema[] = {
    PARAM(Powersgd, rank, "2", 1, 65536, "rank of what is sent", .rate = true),
    PARAM_SWITCH(Powersgd, warm, "on", "each step goes on from the Q that was heard in the one before"),
    PARAM(Powersgd, iters, "1", 1, ITERS_MAX, "power iterations a step, of two rounds each"),
    PARAM_OF(Powersgd, reshape, "rows", reshape_names,
             "the matrix: first axis by the rest, the paper's, or most nearly square"),
    {0},
};

static const Powersgd *params_of(const Codec *codec)
{
    return codec->params;
}

static int rounds(const Codec *codec)
{
    return (int)(2 * params_of(codec)->iters);
}

/* ---- sizes ---- */

static View powersgd_view_of(const Call *c)
{
    const Powersgd *p = params_of(c->self);
    View v = view_of(c, p->rank, (Reshape)p->reshape);
    v.raw = v.rank >= v.rows || v.rank >= v.cols ||
            (size_t)p->iters * (2 + 4 * v.rank * (v.rows + v.cols)) >= raw_size(c);
    return v;
}

static bool is_last(const Call *c, int round)
{
    return round == rounds(c->self) - 1;
}

/* Returns the number of floats in a round: the elements of P in even rounds, the elements of Q in odd
 * rounds. */
static size_t count_of(const View *v, int round)
{
    return v->rank * (round % 2 ? v->cols : v->rows);
}

static size_t powersgd_bound(const Call *c)
{
    const View v = powersgd_view_of(c);
    if (v.raw)
        return is_last(c, c->round) ? raw_size(c) : 0;
    return 1 + 4 * count_of(&v, c->round);
}

/* ---- factors ---- */

static Status heard_factor(const Call *c, const View *v, int round, float **x)
{
    *x = NEW(c->scratch, float, count_of(v, round));
    TRY(arena_check(*x, c->scratch, c->err));
    return addends_get(c, c->heard[round], PAYLOAD_METHOD, count_of(v, round), *x);
}

static Status first_factor(const Call *c, const View *v, float **x)
{
    const size_t count = count_of(v, 1);
    *x = NEW_ZERO(c->scratch, float, count);
    TRY(arena_check(*x, c->scratch, c->err));
    if (params_of(c->self)->warm && c->state)
        memcpy(*x, c->state, count * sizeof(float));
    return OK;
}

/* Computes the orthonormal columns by which a round multiplies M (even rounds) or M' (odd rounds). */
static Status basis_for(const Call *c, const View *v, int round, float **x)
{
    const Rng rng = rng_below(&c->rng_shared, (uint64_t)round);
    TRY(round ? heard_factor(c, v, round - 1, x) : first_factor(c, v, x));
    return thin_orthonormal(*x, v->rank, round % 2 ? v->rows : v->cols, &rng, c->scratch, c->err);
}

/* ---- the hooks of the codec ---- */

static Status powersgd_encode(const Call *c, const float *x, Buf *out)
{
    const View v = powersgd_view_of(c);
    float *basis;
    if (v.raw)
        return is_last(c, c->round) ? raw_put(c, x, out) : OK;
    TRY(basis_for(c, &v, c->round, &basis));
    const size_t count = count_of(&v, c->round);
    float *product = NEW(c->scratch, float, count);
    TRY(arena_check(product, c->scratch, c->err));
    if (c->round % 2 == 0)
        thin_right(x, v.rows, v.cols, basis, v.rank, c->threads, product);
    else
        TRY(thin_left(x, v.rows, v.cols, basis, v.rank, c->threads, product, c->scratch, c->err));
    if (first_nonfinite(product, count, NULL) < count ||
        (is_last(c, c->round) && !decodes_finite(&v, NULL, product)))
        return FAIL(c->err, ERR_NUMERIC, "powersgd: a projection is beyond float32");
    buf_u8(out, PAYLOAD_METHOD);
    buf_floats(out, product, count);
    streams_floats(c->streams, count);
    return OK;
}

/* The estimate needs only the last P and Q. The payloads of the earlier rounds are read only to check them. */
static Status decode_factors(const Call *c, const View *v, Bytes in, float *x)
{
    const int last = rounds(c->self) - 1;
    float *p, *q = NEW(c->scratch, float, count_of(v, last));
    TRY(arena_check(q, c->scratch, c->err));
    for (int round = 0; round < last - 1; round++) {
        const ArenaMark mark = arena_mark(c->scratch);
        TRY(heard_factor(c, v, round, &p));
        arena_rewind(c->scratch, mark);
    }
    TRY(addends_get(c, in, PAYLOAD_METHOD, count_of(v, last), q));
    if (!decodes_finite(v, NULL, q))
        return payload_bad(c, "values beyond float32");
    TRY(basis_for(c, v, last, &p));
    linalg_outer(p, q, v->rank, v->rows, v->cols, c->threads, x);
    return OK;
}

static Status powersgd_decode(const Call *c, Bytes in, float *x)
{
    const View v = powersgd_view_of(c);
    TRY(payload_last_round(c));
    return v.raw ? addends_get(c, in, PAYLOAD_RAW, c->shape->n, x) : decode_factors(c, &v, in, x);
}

static Numbers powersgd_numbers(const Call *c)
{
    const View v = powersgd_view_of(c);
    const bool last = is_last(c, c->round);
    if (v.raw)
        return addends_numbers(last ? c->shape->n : 0, 1, FLT_MAX);
    return addends_numbers(count_of(&v, c->round), 1, last ? FLT_MAX / (2 * (double)v.rank) : FLT_MAX);
}

static Status powersgd_merge(const Call *c, const Bytes *in, size_t n, Buf *out)
{
    const Numbers m = powersgd_numbers(c);
    return addends_merge(c, in, n, powersgd_view_of(c).raw ? PAYLOAD_RAW : PAYLOAD_METHOD, &m, out);
}

static size_t state_size(const Call *c)
{
    const View v = powersgd_view_of(c);
    return params_of(c->self)->warm && !v.raw ? count_of(&v, 1) * sizeof(float) : 0;
}

static Status settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    const View v = powersgd_view_of(c);
    (void)x, (void)sent, (void)agreed;
    return state_size(c) ? addends_get(c, c->heard[c->round], PAYLOAD_METHOD, count_of(&v, 1), state) : OK;
}

static const Compressor compressor_powersgd = {
    .name = "powersgd",
    .brief = "low rank, from power iterations that go on from step to step",
    .plain = "Sends each matrix as the product of two thin ones, found by one power iteration from the "
             "result of the step before. Payloads add, so that an all-reduce can carry them.",
    .use_when = "layers are large matrices, an all-reduce joins the workers, and much compression is "
                "wanted: ef+powersgd.",
    .example = "atomo-bench synth -o g.h5 --force --law lowrank --shape 128x128 --steps 4\n"
               "atomo-bench compare g.h5 -c ef+powersgd:rank=2",
    .formula =
        "P = M Q0,  P^ = orth(P),  Q = M' P^,  M^ = P^ Q',  Q0 = orth(Q of the step before).\n"
        "P is one round and Q another. Both are linear in M: workers' payloads add, and P^ is that of the sum.\n"
        "M^ is M projected on rank directions, so |M^ - M| <= |M|; biased, meant for ef+.\n"
        "warm=on: where gradients change slowly, Q comes to span their first right singular vectors. In\n"
        "the first step, with warm=off, and where a direction is missing, Q0 is drawn, the same for all workers.\n"
        "iters: that many times P and Q in a step, each P from orth(Q) of the one before: 2 iters rounds,\n"
        "all of which count as bytes. 32 rank iters (rows + cols) bits and a byte a round.\n"
        "Tensors of rank 0 and 1 travel as floats, and those that would not be smaller.",
    .paper = "Vogels, Karimireddy, Jaggi: PowerSGD: Practical Low-Rank Gradient Compression for\n"
             "Distributed Optimization, NeurIPS 2019",
    .look = {HUE_LOWRANK, 3, 3},
    .params = powersgd_schema,
    .promises = LINEAR | MERGEABLE | RANDOM | EXACT_BYTES | SHARED_DRAWS | FIXED_SIZE | NEEDS_ALL,
    .rounds = rounds,
    .bound = powersgd_bound,
    .encode = powersgd_encode,
    .decode = powersgd_decode,
    .merge = powersgd_merge,
    .numbers = powersgd_numbers,
    .state_size = state_size,
    .settle = settle,
};

const Compressor *const compressors_lowrank[] = {&compressor_powersgd, &compressor_lowrank, NULL};
