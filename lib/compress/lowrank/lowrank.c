/* lowrank.c -- sends a matrix M as M Q Q', where Q is random and the same for all workers. The estimate is
 * unbiased, and linear in M (a baseline in the PowerSGD paper: Vogels, Karimireddy, Jaggi 2019).
 *
 *     kind:8 = 1  { p:f32 } x rank rows        P = M Q, column by column; merged by adding P (addends.h)
 *
 * Q (cols, rank) has independent normal entries of variance 1 / rank, so E Q Q' is the identity. Receivers draw
 * the same Q, so only P is sent. Tensors with fewer than two dimensions, and matrices whose P is not shorter
 * than M, are sent as raw floats. */
#include "compress/lowrank/addends.h"
#include "math/vec/kernels.h"
#include "math/linalg.h"
#include "math/thin.h"
#include "math/finite.h"

#include <float.h>
#include <math.h>

typedef struct {
    int64_t rank;
} Lowrank;

static const Param schema[] = {
    PARAM(Lowrank, rank, "2", 1, 65536, "columns of Q", .rate = true),
    {0},
};

/* ---- sizes ---- */

typedef struct {
    size_t rows, cols, rank;
    bool raw;
} LowrankView;

static LowrankView view_of(const Call *c)
{
    const Lowrank *p = c->self->params;
    LowrankView v = {.rank = (size_t)p->rank, .raw = true};
    if (c->shape->rank < 2 || c->shape->n == 0)
        return v;
    matrix_view(c->shape, RESHAPE_ROWS, &v.rows, &v.cols);
    v.raw = v.rank >= v.cols;
    return v;
}

static size_t bound(const Call *c)
{
    const LowrankView v = view_of(c);
    return v.raw ? raw_size(c) : 1 + 4 * v.rank * v.rows;
}

/* ---- the random matrix ---- */

/* Draws Q into scratch, column after column. Returns NULL if memory runs out. */
static float *draw(const Call *c, const LowrankView *v)
{
    float *q = NEW(c->scratch, float, v->rank * v->cols);
    if (q)
        thin_normal(&c->rng_shared, 0, v->rank * v->cols, 1 / sqrt((double)v->rank), c->threads, q);
    return q;
}

/* Returns true only if no element of P Q' is beyond float32's range. The sum over k of max |P_k| max |Q_k|,
 * with P_k and Q_k the columns of P and Q, bounds every element. */
static bool decodes_finite(const LowrankView *v, const float *p, const float *q)
{
    double sum = 0;
    for (size_t k = 0; k < v->rank; k++)
        sum += (double)kernels()->abs_max(p + k * v->rows, v->rows) *
               (double)kernels()->abs_max(q + k * v->cols, v->cols);
    return sum <= (double)FLT_MAX / 2;
}

/* ---- the hooks of the codec ---- */

static Status encode(const Call *c, const float *x, Buf *out)
{
    const LowrankView v = view_of(c);
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

static Status decode(const Call *c, Bytes in, float *x)
{
    const LowrankView v = view_of(c);
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
static Numbers numbers(const Call *c)
{
    const LowrankView v = view_of(c);
    return v.raw ? addends_numbers(c->shape->n, 1, FLT_MAX)
                 : addends_numbers(v.rank * v.rows, 1, FLT_MAX / (18 * sqrt((double)v.rank)));
}

static Status merge(const Call *c, const Bytes *in, size_t n, Buf *out)
{
    const Numbers m = numbers(c);
    return addends_merge(c, in, n, view_of(c).raw ? PAYLOAD_RAW : PAYLOAD_METHOD, m.count, m.most, out);
}

static double squares_of(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

static double variance(const Call *c, const float *x)
{
    const LowrankView v = view_of(c);
    return v.raw ? 0 : ((double)v.cols + 1) / (double)v.rank * squares_of(x, c->shape->n);
}

/* The rows' errors are dependent, because all rows are multiplied by the same Q. With K = M M', the covariance
 * of the errors of elements (i, j) and (i', j') is C = (K_ii' [j = j'] + M_ij' M_i'j) / rank. So `squares`, the
 * trace of C^2, is ((cols + 2) |K|^2 + |M|^4) / rank^2, and `weighted`, x' C x, is 2 |K|^2 / rank. */
static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    const LowrankView v = view_of(c);
    const double g = squares_of(x, c->shape->n), rank = (double)v.rank;
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

const Compressor compressor_lowrank = {
    .name = "lowrank",
    .brief = "a matrix times a random one of low rank and its transpose",
    .plain = "Multiplies each matrix by a thin random one that all workers share, and sends the product. "
             "The mean over draws is the gradient and payloads add, but the variance is large.",
    .use_when = "you want the unbiased relative of powersgd in a comparison.",
    .example = "atomo-bench synth -o g.h5 --workers 4\n"
               "atomo-bench merge g.h5 -c lowrank:rank=2 --workers 4",
    .formula =
        "M^ = (M Q) Q',  Q cols x rank,  Q_jk ~ N(0, 1/rank),  the same for all workers and never sent.\n"
        "M is the tensor, first axis by the rest. E Q Q' = 1, so E M^ = M, and E |M^ - M|^2 = (cols + 1)/rank |M|^2.\n"
        "Payloads add; as Q is shared, averaging over workers does not lessen the variance of their mean.\n"
        "32 rank rows bits. Tensors of rank 0 and 1 travel as floats, as do those of no more than rank columns.",
    .paper = "Vogels, Karimireddy, Jaggi: PowerSGD: Practical Low-Rank Gradient Compression for\n"
             "Distributed Optimization, NeurIPS 2019 (its unbiased variant of rank r)",
    .look = {HUE_LOWRANK, 1, 2},
    .params = schema,
    .params_size = sizeof(Lowrank),
    .promises = UNBIASED | LINEAR | MERGEABLE | RANDOM | EXACT_BYTES | SHARED_DRAWS | FIXED_SIZE,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .merge = merge,
    .numbers = numbers,
    .variance = variance,
    .moments = moments,
};
