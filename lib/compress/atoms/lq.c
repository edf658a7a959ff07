/* lq.c -- quantises to {-N, 0, N} with N = |g|_q: q = 2 is 1-bit QSGD, q = inf is TernGrad. The codec is ATOMO
 * with the budget s = |g|_1 / |g|_q (Wang et al. 2018, Theorem 5). Element i is kept with p = |g_i| / N. The
 * payload is a list of light atoms (p < 1; atoms.h) with tau = N. */
#include "compress/atoms/basis.h"
#include "math/vec/kernels.h"
#include "base/parallel.h"

#include <float.h>
#include <math.h>

typedef struct {
    double q;
} Lq;

static const Param schema[] = {
    PARAM(Lq, q, "2", 0, INFINITY, "which norm is the scale", .above = true),
    {0},
};

/* Promises equal bytes on all machines (EXACT_BYTES) only for q = 1, 2 and inf. Other norms use pow, and its
 * last bit may differ between machines. */
static unsigned traits(const Codec *codec)
{
    const double q = ((const Lq *)codec->params)->q;
    return q == 1 || q == 2 || isinf(q) ? EXACT_BYTES : 0;
}

/* ---- the norm |x|_q ---- */

typedef struct {
    double sum; /* sum over the block: |x| if q = 1, x^2 if q = 2, else (|x| / largest)^q */
    float largest;
} NormPart;

typedef struct {
    const float *x;
    size_t n;
    double q, largest; /* q: the key q; largest: max |x| */
    NormPart *part;
} NormJob;

static void measure_block(void *data, size_t block)
{
    const NormJob *s = data;
    const float *x = s->x + block * BLOCK;
    NormPart *p = &s->part[block];
    const size_t n = block_size(s->n, block);
    p->largest = kernels()->abs_max(x, n);
    if (s->q == 1)
        p->sum = kernels()->sum_magnitudes(x, n);
    if (s->q == 2)
        p->sum = kernels()->sum_squares(x, n);
}

static void power_block(void *data, size_t block)
{
    const NormJob *s = data;
    const float *x = s->x + block * BLOCK;
    double sum = 0;
    for (size_t i = 0; i < block_size(s->n, block); i++)
        sum += pow(fabs((double)x[i]) / s->largest, s->q);
    s->part[block].sum = sum;
}

static double add_parts(const NormJob *s)
{
    double sum = 0;
    for (size_t b = 0; b < blocks_of(s->n); b++)
        sum += s->part[b].sum;
    return sum;
}

/* Returns |x|_q (a quasi-norm for q < 1). Returns NaN if memory runs out. To avoid overflow, computes the
 * powers of |x| / max |x|. */
static double norm(const Call *c, const float *x)
{
    const size_t blocks = blocks_of(c->shape->n);
    NormJob s = {.x = x, .n = c->shape->n, .q = ((const Lq *)c->self->params)->q};
    s.part = NEW(c->scratch, NormPart, blocks);
    if (!s.part)
        return NAN;
    parallel_for(c->threads, blocks, measure_block, &s);
    for (size_t b = 0; b < blocks; b++)
        if ((double)s.part[b].largest > s.largest)
            s.largest = (double)s.part[b].largest;
    if (s.largest == 0 || isinf(s.q))
        return s.largest;
    if (s.q == 1)
        return fmax(add_parts(&s), s.largest);
    if (s.q == 2)
        return fmax(sqrt(add_parts(&s)), s.largest);
    parallel_for(c->threads, blocks, power_block, &s);
    return fmax(s.largest * pow(add_parts(&s), 1 / s.q), s.largest);
}

static Status plan(const Call *c, const float *x, AtomPlan *plan)
{
    const double scale = norm(c, x);
    if (isnan(scale))
        return arena_fail(c->scratch, c->err);
    if (scale > (double)FLT_MAX)
        return FAIL(c->err, ERR_NUMERIC, "lq: the norm %.3g is beyond float32", scale);
    *plan = (AtomPlan){.tau = (float)scale};
    return OK;
}

static const Basis basis = {.plan = plan, .light = true};

const Compressor compressor_lq = {
    .name = "lq",
    .brief = "signs times the l_q norm, kept with p = |g_i| / |g|_q: ATOMO at the budget |g|_1 / |g|_q",
    .plain = "Sends each element as its sign times the l_q norm of the tensor, or as zero. The probability "
             "of sending is the magnitude over the norm. q = 2 is qsgd with one level and q = inf is "
             "terngrad.",
    .use_when = "you study Theorem 5 of the ATOMO paper, or what lies between qsgd and terngrad.",
    .example = "atomo-bench synth -o g.h5\n"
               "atomo-bench compare g.h5 -c lq -c lq:q=inf -c terngrad",
    .formula = "N = |g|_q; decode N sign(g_i) with p_i = |g_i| / N, else 0\n"
               "variance |g|_1 |g|_q - |g|_2^2",
    .paper = "Wang et al., ATOMO, NeurIPS 2018, Theorem 5",
    .look = {HUE_ATOMS, 0, 1},
    .params = schema,
    .params_size = sizeof(Lq),
    .promises = UNBIASED | RANDOM,
    .traits = traits,
    .family = &basis,
    BASIS_HOOKS,
};
