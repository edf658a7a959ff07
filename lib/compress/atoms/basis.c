/* basis.c -- implements basis.h. */
#include "compress/atoms/basis.h"

#include "base/parallel.h"
#include "math/blockwise.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>

static const Basis *basis_of(const Call *c)
{
    return c->self->ops->family;
}

/* ---- keys ---- */

AtomPlan basis_plan(const Call *c)
{
    const BasisKeys *k = c->self->params;
    AtomPlan plan = {.probs = k->probs, .empty = k->empty, .draw = k->draw};
    if (c->plan)
        plan.tau = (float)((const CurvePoint *)c->plan)->level;
    else
        plan.budget = k->ratio * (double)c->shape->n;
    return plan;
}

static Status open_coder(const Call *c, const float *x, AtomCoder *coder)
{
    const Basis *basis = basis_of(c);
    *coder = (AtomCoder){.light = basis->light};
    if (basis->plan)
        return basis->plan(c, x, &coder->plan);
    coder->plan = basis_plan(c);
    return OK;
}

unsigned basis_traits(const Codec *codec)
{
    return ((const BasisKeys *)codec->params)->empty == EMPTY_SEND ? UNBIASED : 0;
}

size_t basis_bound(const Call *c)
{
    return atoms_bound(c->shape->n);
}

/* ---- keeping estimates within float32's range ---- */

double basis_lift(float largest)
{
    int exponent;
    if (largest == 0 || (largest >= 0x1p-40f && largest <= 0x1p40f))
        return 1;
    frexp((double)largest, &exponent);
    return ldexp(1, -exponent);
}

typedef struct {
    const float *from;
    size_t n;
    double lift;
    float *to;
    atomic_bool beyond; /* a product is beyond float32's range */
} Scale;

static void scale_block(void *data, size_t block)
{
    Scale *s = data;
    const size_t some = block_size(s->n, block);
    const float *from = s->from + block * BLOCK;
    float *to = s->to + block * BLOCK;
    bool in = true;
    for (size_t i = 0; i < some; i++)
        in &= fabs((double)from[i] * s->lift) <= (double)FLT_MAX;
    for (size_t i = 0; i < some && in; i++)
        to[i] = (float)((double)from[i] * s->lift);
    if (!in)
        atomic_store(&s->beyond, true);
}

bool basis_scale(const float *from, size_t n, double lift, int threads, float *to)
{
    Scale s = {.from = from, .n = n, .lift = lift, .to = to};
    parallel_for(threads, blocks_of(n), scale_block, &s);
    return !s.beyond;
}

/* Returns true only if no estimate of the vector x can exceed float32's range; `largest` is m = max |x|. Since
 * |x|_2 <= sqrt(n) m, the sum of the coefficients' magnitudes is at most n m, and the water level at most n m /
 * budget. An estimate has at most n coefficients, each at most the water level or |x|_2, whichever is larger.
 * So the estimate's l2 norm is at most sqrt(n) times this maximum. */
bool basis_in_range(const AtomPlan *plan, size_t n, float largest)
{
    const double side = sqrt((double)n), most = (double)largest * side;
    const double level = plan->budget > 0 ? most * side / plan->budget : (double)plan->tau;
    return side * fmax(most, level) <= (double)FLT_MAX / 4;
}

Status basis_check_range(const Call *c, Bytes payload)
{
    float *x = NEW(c->scratch, float, c->shape->n);
    TRY(arena_check(x, c->scratch, c->err));
    const Status status = c->self->ops->decode(c, payload, x);
    if (status != ERR_CORRUPT)
        return status;
    return FAIL(c->err, ERR_NUMERIC, "%s: a decoded value would be beyond float32", c->self->ops->name);
}

/* ---- the transform between a tensor and its coefficients ---- */

static Status transform(const Call *c, const float *x, float *coef)
{
    const size_t n = c->shape->n;
    const double lift = basis_lift(blockwise_most(x, n, c->threads));
    if (lift == 1)
        return basis_of(c)->forward(c, x, coef);
    const ArenaMark mark = arena_mark(c->scratch);
    float *lifted = NEW(c->scratch, float, n);
    TRY(arena_check(lifted, c->scratch, c->err));
    basis_scale(x, n, lift, c->threads, lifted);
    TRY(basis_of(c)->forward(c, lifted, coef));
    arena_rewind(c->scratch, mark);
    if (!basis_scale(coef, n, 1 / lift, c->threads, coef))
        return FAIL(c->err, ERR_NUMERIC, "%s: a coefficient is beyond float32", c->self->ops->name);
    return OK;
}

/* Computes the coefficients of x in scratch memory. If the basis is the standard basis, sets *coef to x
 * itself. */
static Status coefficients(const Call *c, const float *x, const float **coef)
{
    *coef = x;
    if (!basis_of(c)->forward)
        return OK;
    float *y = NEW(c->scratch, float, c->shape->n);
    *coef = y;
    return y ? transform(c, x, y) : arena_fail(c->scratch, c->err);
}

Status basis_encode(const Call *c, const float *x, Buf *out)
{
    const size_t n = c->shape->n, start = out->size;
    const ArenaMark mark = arena_mark(c->scratch);
    AtomCoder coder;
    const float *coef;
    TRY(open_coder(c, x, &coder));
    TRY(coefficients(c, x, &coef));
    TRY(atoms_encode(c, &coder, coef, n, x, out));
    if (coef == x || out->data[start] == PAYLOAD_RAW ||
        basis_in_range(&coder.plan, n, blockwise_most(x, n, c->threads)))
        return OK;
    arena_rewind(c->scratch, mark);
    return basis_check_range(c, (Bytes){out->data + start, out->size - start});
}

Status basis_decode(const Call *c, Bytes in, float *x)
{
    const Basis *basis = basis_of(c);
    const size_t n = c->shape->n;
    if (!basis->inverse)
        return atoms_decode(c, basis->light, in, n, x);
    float *coef = NEW(c->scratch, float, n);
    TRY(arena_check(coef, c->scratch, c->err));
    const ArenaMark mark = arena_mark(c->scratch);
    TRY(atoms_decode(c, basis->light, in, n, coef));
    arena_rewind(c->scratch, mark);
    const double lift = basis_lift(blockwise_most(coef, n, c->threads));
    if (lift != 1)
        basis_scale(coef, n, lift, c->threads, coef);
    TRY(basis->inverse(c, coef, x));
    if (lift != 1 && !basis_scale(x, n, 1 / lift, c->threads, x))
        return payload_bad(c, "a value is beyond float32");
    return OK;
}

/* ---- formulas for the variance, the curve of variance against bits, and the moments of the error ---- */

double basis_variance(const Call *c, const float *x)
{
    AtomCoder coder;
    const float *coef;
    if (open_coder(c, x, &coder) != OK || coefficients(c, x, &coef) != OK)
        return NAN;
    return atoms_variance(c, &coder, coef, c->shape->n);
}

Status basis_curve(const Call *c, const float *x, CurvePoint *point, size_t *count)
{
    const float *coef;
    TRY(coefficients(c, x, &coef));
    return atoms_curve(c, coef, c->shape->n, point, count);
}

ErrorLaw basis_moments(const Call *c, const float *x, AtomMoments *m)
{
    AtomCoder coder;
    const float *coef;
    if (open_coder(c, x, &coder) != OK || coder.plan.draw == DRAW_SYSTEMATIC)
        return DEPENDENT;
    const ErrorLaw law =
        coefficients(c, x, &coef) == OK ? atoms_law(c, &coder, coef, c->shape->n, m) : DEPENDENT;
    m->elements = !basis_of(c)->forward;
    return law;
}
