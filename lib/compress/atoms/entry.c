/* entry.c -- element-wise ATOMO: the unbiased sparsification of least variance among those that keep a given
 * expected number of elements (Wang et al. 2018, Algorithm 1). The payload has the format of atoms.h. */
#include "compress/atoms/basis.h"

typedef struct {
    BasisKeys keys;
    double budget, bits;
} Entry;

static const Param schema[] = {
    PARAM(BasisKeys, ratio, "0.01", 0, 1, "expected atoms as a share of the elements", .above = true,
          .rate = true, .group = 1),
    PARAM(Entry, budget, NULL, 0, 1e15, "expected atoms", .above = true, .group = 1),
    PARAM(Entry, bits, NULL, 0, 64, "expected payload bits an element", .above = true, .group = 1),
    ATOM_PARAMS(BasisKeys),
    {0},
};

static Status plan(const Call *c, const float *x, AtomPlan *plan)
{
    const Entry *e = c->self->params;
    (void)x;
    *plan = basis_plan(c);
    if (!c->plan && e->bits > 0) {
        plan->bits = e->bits * (double)c->shape->n;
        plan->budget = 0;
    } else if (!c->plan && e->budget > 0) {
        plan->budget = e->budget;
    }
    return OK;
}

static const Basis basis = {.plan = plan};

static Status check(const Codec *codec, Error *err)
{
    const Entry *e = codec->params;
    if (e->bits > 0 && e->keys.probs == PROBS_CLIP)
        return FAIL(err, ERR_USAGE, "entry: bits goes with probs=optimal; clip wants ratio or budget");
    return OK;
}

const Compressor compressor_entry = {
    .name = "entry",
    .brief = "element-wise ATOMO: the least variance for a budget of s expected elements",
    .plain = "Keeps some elements at random: large ones surely, small ones with a probability in proportion"
             " to their magnitude, enlarged to make up for those left out. The mean over draws is the "
             "gradient. No other probabilities with the same expected number of elements have less "
             "variance.",
    .use_when = "you want an unbiased sparse gradient, and its elements differ much in size.",
    .example = "atomo-bench synth -o g.h5 --law laplace\n"
               "atomo-bench compare g.h5 -c entry:ratio=0.01/0.1",
    .formula = "keep g_i with p_i = min(1, |g_i| / tau), tau such that sum p = s; decode g_i / p_i\n"
               "|g_i| > tau: index and float; else index and sign, all of magnitude tau\n"
               "variance tau T1 - T2, T1 = sum |g|, T2 = sum g^2 over |g_i| <= tau",
    .paper = "Wang et al., ATOMO, NeurIPS 2018, Algorithm 1",
    .look = {HUE_ATOMS, 5, 0},
    .params = schema,
    .params_size = sizeof(Entry),
    .promises = RANDOM | EXACT_BYTES,
    .traits = basis_traits,
    .family = &basis,
    BASIS_HOOKS,
    BASIS_CURVE,
    .check = check,
};
