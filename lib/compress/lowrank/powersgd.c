/* powersgd.c -- PowerSGD (Vogels, Karimireddy, Jaggi 2019): sends a matrix M as P Q', whose factors come from a
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
 * first step, the missing ones are drawn at random, the same for all workers (thin.h).
 *
 * Tensors with fewer than two dimensions, and matrices for which all rounds together would not be shorter than
 * M, are sent as raw floats in the last round. Their earlier rounds are empty. */
#include "compress/lowrank/addends.h"
#include "math/vec/kernels.h"
#include "math/linalg.h"
#include "math/thin.h"
#include "math/finite.h"

#include <float.h>
#include <math.h>

enum { ITERS_MAX = ROUNDS_MAX / 2 };

typedef struct {
    int64_t rank, iters;
    bool warm;
    int reshape;
} Powersgd;

static const Param schema[] = {
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

typedef struct {
    size_t rows, cols, rank;
    bool raw;
} PowersgdView;

static PowersgdView view_of(const Call *c)
{
    const Powersgd *p = params_of(c->self);
    PowersgdView v = {.rank = (size_t)p->rank, .raw = true};
    if (c->shape->rank < 2 || c->shape->n == 0)
        return v;
    matrix_view(c->shape, (Reshape)p->reshape, &v.rows, &v.cols);
    if (v.rank < v.rows && v.rank < v.cols)
        v.raw = (size_t)p->iters * (2 + 4 * v.rank * (v.rows + v.cols)) >= raw_size(c);
    return v;
}

static bool is_last(const Call *c, int round)
{
    return round == rounds(c->self) - 1;
}

/* Returns the number of floats in a round: the elements of P in even rounds, the elements of Q in odd
 * rounds. */
static size_t count_of(const PowersgdView *v, int round)
{
    return v->rank * (round % 2 ? v->cols : v->rows);
}

static size_t bound(const Call *c)
{
    const PowersgdView v = view_of(c);
    if (v.raw)
        return is_last(c, c->round) ? raw_size(c) : 0;
    return 1 + 4 * count_of(&v, c->round);
}

/* ---- factors ---- */

static Status heard_factor(const Call *c, const PowersgdView *v, int round, float **x)
{
    *x = NEW(c->scratch, float, count_of(v, round));
    TRY(arena_check(*x, c->scratch, c->err));
    return addends_get(c, c->heard[round], PAYLOAD_METHOD, count_of(v, round), *x);
}

static Status first_factor(const Call *c, const PowersgdView *v, float **x)
{
    const size_t count = count_of(v, 1);
    *x = NEW_ZERO(c->scratch, float, count);
    TRY(arena_check(*x, c->scratch, c->err));
    if (params_of(c->self)->warm && c->state)
        memcpy(*x, c->state, count * sizeof(float));
    return OK;
}

/* Computes the orthonormal columns by which a round multiplies M (even rounds) or M' (odd rounds). */
static Status basis_for(const Call *c, const PowersgdView *v, int round, float **x)
{
    const Rng rng = rng_below(&c->rng_shared, (uint64_t)round);
    TRY(round ? heard_factor(c, v, round - 1, x) : first_factor(c, v, x));
    return thin_orthonormal(*x, v->rank, round % 2 ? v->rows : v->cols, &rng, c->scratch, c->err);
}

/* Returns true only if no element of orth(P) Q' is beyond float32's range. Elements of orth(P) are at most 1,
 * so the sum over k of max |Q_k|, with Q_k the columns of Q, bounds every element. */
static bool decodes_finite(const PowersgdView *v, const float *q)
{
    double sum = 0;
    for (size_t k = 0; k < v->rank; k++)
        sum += (double)kernels()->abs_max(q + k * v->cols, v->cols);
    return sum <= (double)FLT_MAX / 2;
}

/* ---- the hooks of the codec ---- */

static Status encode(const Call *c, const float *x, Buf *out)
{
    const PowersgdView v = view_of(c);
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
        (is_last(c, c->round) && !decodes_finite(&v, product)))
        return FAIL(c->err, ERR_NUMERIC, "powersgd: a projection is beyond float32");
    buf_u8(out, PAYLOAD_METHOD);
    buf_floats(out, product, count);
    streams_floats(c->streams, count);
    return OK;
}

/* The estimate needs only the last P and Q. The payloads of the earlier rounds are read only to check them. */
static Status decode_factors(const Call *c, const PowersgdView *v, Bytes in, float *x)
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
    if (!decodes_finite(v, q))
        return payload_bad(c, "values beyond float32");
    TRY(basis_for(c, v, last, &p));
    linalg_outer(p, q, v->rank, v->rows, v->cols, c->threads, x);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const PowersgdView v = view_of(c);
    TRY(payload_last_round(c));
    return v.raw ? addends_get(c, in, PAYLOAD_RAW, c->shape->n, x) : decode_factors(c, &v, in, x);
}

static Numbers numbers(const Call *c)
{
    const PowersgdView v = view_of(c);
    const bool last = is_last(c, c->round);
    if (v.raw)
        return addends_numbers(last ? c->shape->n : 0, 1, FLT_MAX);
    return addends_numbers(count_of(&v, c->round), 1, last ? FLT_MAX / (2 * (double)v.rank) : FLT_MAX);
}

static Status merge(const Call *c, const Bytes *in, size_t n, Buf *out)
{
    const PowersgdView v = view_of(c);
    const Numbers m = numbers(c);
    if (v.raw) {
        const bool last = is_last(c, c->round);
        for (size_t w = 0; w < n && !last; w++)
            if (in[w].size)
                return payload_bad(c, "%zu bytes in round %d, want none", in[w].size, c->round);
        return last ? addends_merge(c, in, n, PAYLOAD_RAW, m.count, m.most, out) : OK;
    }
    return addends_merge(c, in, n, PAYLOAD_METHOD, m.count, m.most, out);
}

static size_t state_size(const Call *c)
{
    const PowersgdView v = view_of(c);
    return params_of(c->self)->warm && !v.raw ? count_of(&v, 1) * sizeof(float) : 0;
}

static Status settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    const PowersgdView v = view_of(c);
    (void)x, (void)sent, (void)agreed;
    return state_size(c) ? addends_get(c, c->heard[c->round], PAYLOAD_METHOD, count_of(&v, 1), state) : OK;
}

const Compressor compressor_powersgd = {
    .name = "powersgd",
    .brief = "low rank, from power iterations that go on from step to step",
    .plain = "Sends each matrix as the product of two thin ones, found by one power iteration from the "
             "result of the step before. Payloads add, so that an all-reduce can carry them.",
    .use_when = "layers are large matrices, an all-reduce joins the workers, and much compression is "
                "wanted: ef+powersgd.",
    .example = "atomo-bench synth -o g.h5 --law lowrank --shape 128x128 --steps 4\n"
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
    .params = schema,
    .params_size = sizeof(Powersgd),
    .promises = LINEAR | MERGEABLE | RANDOM | EXACT_BYTES | SHARED_DRAWS | FIXED_SIZE,
    .rounds = rounds,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .merge = merge,
    .numbers = numbers,
    .state_size = state_size,
    .settle = settle,
};
