/* svd.c -- spectral ATOMO: a matrix's singular vectors are the atoms, and few are sent (Wang et al., NeurIPS
 * 2018).
 *
 * A = sum lambda_i u_i v_i'. Atom i is kept with probability p_i and sent as u_i lambda_i / p_i and v_i, so
 * the mean is A. Which and how likely: svd_plan.h; how they travel: svd_payload.h. */
#include "svd_payload.h"

#include <float.h>
#include <math.h>

static const char *const methods[] = {"gram", "gesdd", NULL}; /* as SpectralMethod counts */

static const Param schema[] = {
    PARAM(Svd, rank, "3", 0.001, 65536, "expected number of atoms; need not be whole", .rate = true),
    PARAM_OF(Svd, reshape, "paper", reshape_names, "how a tensor becomes a matrix"),
    PARAM_OF(Svd, method, "gram", methods,
             "eigenvectors of A'A, or LAPACK's gesdd: slow, 16 to 40 bytes an element"),
    ATOM_PARAMS(Svd),
    {0},
};

static unsigned traits(const Codec *codec)
{
    const Svd *o = codec->params;
    return (o->empty == EMPTY_SEND ? UNBIASED : 0) | RANDOM;
}

static Status make_plan(const Call *c, const float *x, SvdPlan *plan)
{
    TRY(svd_plan_open(c, x, plan));
    return c->plan ? svd_plan_level(c, plan, ((const CurvePoint *)c->plan)->level) : svd_plan_rank(c, plan);
}

/* Sums the atoms into x; false when a value is beyond float32. */
static bool add_up(const Call *c, const SvdAtoms *a, float *x)
{
    linalg_outer(a->left, a->right, a->count, a->rows, a->cols, c->threads, x);
    return svd_ceiling(a) <= (double)FLT_MAX / 2 || first_nonfinite(x, c->shape->n, NULL) == c->shape->n;
}

/* Decodes what is about to be sent. */
static Status check_range(const Call *c, Bytes payload)
{
    SvdAtoms a;
    float *x = NEW(c->scratch, float, c->shape->n);
    if (!x)
        return arena_fail(c->scratch, c->err);
    Call quiet = *c;
    Error unread;
    quiet.err = &unread;
    const Status status = svd_get(&quiet, payload, &a);
    if (status == ERR_MEMORY)
        return arena_fail(c->scratch, c->err);
    if (status == OK && add_up(c, &a, x))
        return OK;
    return FAIL(c->err, ERR_NUMERIC, "svd: a decoded value would be beyond float32");
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    SvdPlan plan;
    TRY(make_plan(c, x, &plan));
    if (plan.raw)
        return raw_put(c, x, out);
    size_t *kept = NEW(c->scratch, size_t, plan.s.k);
    double most = 0;
    if (!kept)
        return arena_fail(c->scratch, c->err);
    const size_t start = out->size, count = svd_draw(c, &plan, kept);
    TRY(svd_put(c, &plan, kept, count, out));
    for (size_t i = 0; i < count; i++)
        most += plan.s.lambda[kept[i]] / plan.p[kept[i]];
    return most <= (double)FLT_MAX / 4 ? OK : check_range(c, (Bytes){out->data + start, out->size - start});
}

static Status decode(const Call *c, Bytes in, float *x)
{
    SvdAtoms a;
    TRY(svd_get(c, in, &a));
    return add_up(c, &a, x) ? OK : payload_bad(c, "a value is beyond float32");
}

/* lambda^2 (1/p - 1): of one atom. */
static double atom_variance(const SvdPlan *plan, size_t i)
{
    const double lambda = plan->s.lambda[i], p = plan->p[i];
    return p > 0 ? lambda * lambda * ((1 - p) / p) : 0;
}

/* The atoms are orthogonal, so coins that depend on one another change nothing. */
static double sum_variance(const SvdPlan *plan)
{
    double sum = 0;
    for (size_t i = 0; i < plan->s.k && !plan->raw; i++)
        sum += atom_variance(plan, i);
    return sum;
}

static double variance(const Call *c, const float *x)
{
    SvdPlan plan;
    if (make_plan(c, x, &plan) != OK)
        return NAN;
    return !plan.raw && ((const Svd *)c->self->params)->empty == EMPTY_RESAMPLE ? NAN : sum_variance(&plan);
}

static Status add_level(const Call *c, SvdPlan *plan, double level, CurvePoint *point, size_t *count)
{
    const ArenaMark mark = arena_mark(c->scratch);
    TRY(svd_plan_level(c, plan, level));
    const double bits = plan->raw ? 8 * (double)raw_size(c) : plan->bits;
    while (*count && point[*count - 1].bits >= bits) /* dearer, and no better */
        (*count)--;
    point[(*count)++] = (CurvePoint){level, bits, sum_variance(plan)};
    arena_rewind(c->scratch, mark);
    return OK;
}

/* From the level that spends one atom to the one that keeps all, 16 to the octave. */
static Status curve(const Call *c, const float *x, CurvePoint *point, size_t *count)
{
    SvdPlan plan;
    double sum = 0, least = INFINITY;
    TRY(svd_plan_open(c, x, &plan));
    for (size_t i = 0; i < plan.s.k; i++) {
        sum += plan.s.lambda[i];
        least = plan.s.lambda[i] > 0 ? fmin(least, plan.s.lambda[i]) : least;
    }
    *count = 0;
    plan.raw = false;
    for (int i = 0; sum * exp2(-i / 16.0) > least && !plan.raw && i < CURVE_MOST - 1; i++)
        TRY(add_level(c, &plan, sum * exp2(-i / 16.0), point, count));
    return add_level(c, &plan, 0, point, count);
}

static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    SvdPlan plan;
    if (((const Svd *)c->self->params)->draw == DRAW_SYSTEMATIC || make_plan(c, x, &plan) != OK)
        return DEPENDENT;
    *m = (AtomMoments){0};
    for (size_t i = 0; i < plan.s.k && !plan.raw; i++) {
        const double v = atom_variance(&plan, i);
        m->squares += v * v;
        m->weighted += v * plan.s.lambda[i] * plan.s.lambda[i];
    }
    return ATOMWISE;
}

const Compressor compressor_svd = {
    .name = "svd",
    .brief = "spectral ATOMO: few singular vectors, sampled",
    .formula =
        "A = sum lambda_i u_i v_i'; atom i is sent as lambda_i u_i / p_i and v_i with probability p_i\n"
        "p_i = min(1, lambda_i / tau), sum p = rank (Algorithm 1); variance sum lambda_i^2 (1/p_i - 1)",
    .paper = "Wang et al., ATOMO: Communication-efficient Learning via Atomic Sparsification, NeurIPS 2018",
    .params = schema,
    .params_size = sizeof(Svd),
    .traits = traits,
    .bound = svd_payload_most,
    .encode = encode,
    .decode = decode,
    .variance = variance,
    .moments = moments,
    .curve = curve,
};
