/* gspar.c -- gradient sparsification (Wangni, Wang, Liu, Zhang 2018). Element i is kept with probability p_i =
 * min(1, |g_i| / tau). If `eps` is set, tau gives a variance of at most eps |g|^2 with the fewest expected
 * elements: the dual problem of element-wise ATOMO. If `density` is set, tau gives an expected share `density`
 * of elements: element-wise ATOMO. atoms.h describes the payload. */
#include "compress/atoms/basis.h"

typedef struct {
    double density, eps;
} Gspar;

static const Param schema[] = {
    PARAM(Gspar, density, "0.01", 0, 1, "expected elements as a share of all", .above = true, .rate = true,
          .group = 1),
    PARAM(Gspar, eps, NULL, 0, 1e15, "variance as a share of |g|^2: as few elements as it takes",
          .above = true, .group = 1),
    {0},
};

static Status plan(const Call *c, const float *x, AtomPlan *plan)
{
    const Gspar *g = c->self->params;
    (void)x;
    *plan = (AtomPlan){.eps = g->eps > 0 ? g->eps : 0};
    if (!(g->eps > 0))
        plan->budget = g->density * (double)c->shape->n;
    return OK;
}

static const Basis basis = {.plan = plan};

const Compressor compressor_gspar = {
    .name = "gspar",
    .brief = "the least expected density for a variance; the dual of ATOMO over the entries",
    .plain = "Keeps elements at random, large ones more often, enlarged to make up for those left out. The "
             "mean over draws is the gradient. You set the variance, and it finds the fewest expected "
             "elements, or you set their number.",
    .use_when = "you know how much variance the training bears and want the fewest elements for it.",
    .example = "atomo-bench synth -o g.h5 --law laplace\n"
               "atomo-bench compare g.h5 -c gspar:eps=1 -c gspar:density=0.05",
    .formula =
        "keep g_i with p_i = min(1, |g_i| / tau); decode g_i / p_i\n"
        "density: tau such that sum p = density n, the limit of the paper's greedy iteration; the same draws\n"
        "as entry:ratio=density. Variance tau T1 - T2, T1 = sum |g|, T2 = sum g^2 over |g_i| <= tau\n"
        "eps: the least sum p with E |decoded|^2 <= (1 + eps) |g|^2: tau = (eps |g|^2 + T2) / T1,\n"
        "variance eps |g|^2, to float32 rounding of tau",
    .paper = "Wangni, Wang, Liu, Zhang: Gradient Sparsification for Communication-Efficient Distributed\n"
             "Optimization, NeurIPS 2018",
    .look = {HUE_ATOMS, 1, 2},
    .params = schema,
    .params_size = sizeof(Gspar),
    .promises = UNBIASED | RANDOM | EXACT_BYTES,
    .family = &basis,
    BASIS_HOOKS,
};
