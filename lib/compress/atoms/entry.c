/* entry.c -- element-wise ATOMO: of all unbiased sparsifications of the entries with a given budget, the one of least
 * variance (Wang et al. 2018, Algorithm 1). The payload is that of atoms.h. */
#include "compress/atoms/atoms.h"

typedef struct {
    double ratio, budget, bits;
    int probs, empty, draw;
} Entry;

static const Param schema[] = {
    PARAM(Entry, ratio, "0.01", 0, 1, "expected atoms as a share of the elements", .above = true,
          .rate = true, .group = 1),
    PARAM(Entry, budget, NULL, 0, 1e15, "expected atoms", .above = true, .group = 1),
    PARAM(Entry, bits, NULL, 0, 64, "expected payload bits an element", .above = true, .group = 1),
    ATOM_PARAMS(Entry),
    {0},
};

static AtomCoder coder(const Call *c)
{
    const Entry *e = c->self->params;
    const double n = (double)c->shape->n;
    AtomPlan plan = {.probs = e->probs, .empty = e->empty, .draw = e->draw};
    if (e->bits > 0)
        plan.bits = e->bits * n;
    else
        plan.budget = e->budget > 0 ? e->budget : e->ratio * n;
    return (AtomCoder){.plan = atoms_at_level(c, plan)};
}

static unsigned traits(const Codec *codec)
{
    const Entry *e = codec->params;
    return e->empty == EMPTY_SEND ? UNBIASED : 0;
}

static size_t bound(const Call *c)
{
    return atoms_bound(c->shape->n);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const AtomCoder a = coder(c);
    return atoms_encode(c, &a, x, c->shape->n, x, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const AtomCoder a = coder(c);
    return atoms_decode(c, &a, in, c->shape->n, x);
}

static double variance(const Call *c, const float *x)
{
    const AtomCoder a = coder(c);
    return atoms_variance(c, &a, x, c->shape->n);
}

static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    (void)x, (void)m;
    return ((const Entry *)c->self->params)->draw == DRAW_SYSTEMATIC ? DEPENDENT : ELEMENTWISE;
}

static Status curve(const Call *c, const float *x, CurvePoint *point, size_t *count)
{
    return atoms_curve(c, x, c->shape->n, point, count);
}

static Status check(const Codec *codec, Error *err)
{
    const Entry *e = codec->params;
    if (e->bits > 0 && e->probs == PROBS_CLIP)
        return FAIL(err, ERR_USAGE, "entry: bits goes with probs=optimal; clip wants ratio or budget");
    return OK;
}

const Compressor compressor_entry = {
    .name = "entry",
    .brief = "element-wise ATOMO: the least variance for a budget of s expected elements",
    .formula = "keep g_i with p_i = min(1, |g_i| / tau), tau such that sum p = s; decode g_i / p_i\n"
               "|g_i| > tau: index and float; else index and sign, all of magnitude tau\n"
               "variance tau T1 - T2, T1 = sum |g|, T2 = sum g^2 over |g_i| <= tau",
    .paper = "Wang et al., ATOMO, NeurIPS 2018, Algorithm 1",
    .params = schema,
    .params_size = sizeof(Entry),
    .promises = RANDOM | EXACT_BYTES,
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .check = check,
    .variance = variance,
    .moments = moments,
    .curve = curve,
};
