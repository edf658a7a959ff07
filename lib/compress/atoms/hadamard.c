/* hadamard.c -- ATOMO in the Walsh-Hadamard basis. An atom has the same magnitude at all elements of a
 * block, so a draw's error is spread evenly over the block. The payload has the format of atoms.h. */
#include "math/dyadic_transform.h"
#include "compress/atoms/basis.h"

static const Param schema[] = {
    BASIS_KEYS,
    {0},
};

static Status forward(const Call *c, const float *x, float *coef)
{
    hadamard_of(x, coef, c->shape->n, c->threads);
    return OK;
}

static Status inverse(const Call *c, float *coef, float *x)
{
    hadamard_of(coef, x, c->shape->n, c->threads);
    return OK;
}

static const Basis basis = {.forward = forward, .inverse = inverse};

const Compressor compressor_hadamard = {
    .name = "hadamard",
    .brief = "ATOMO in the Walsh-Hadamard basis: the error of a draw spreads evenly over the tensor",
    .plain = "Transforms each tensor by sums and differences alone (Walsh-Hadamard) and keeps few "
             "coefficients, chosen at random in proportion to their magnitude. The mean over draws is the "
             "gradient, and the error spreads evenly over all elements.",
    .use_when = "no single element may bear a large error, and the transform must be fast.",
    .example = "atomo-bench synth -o g.h5\n"
               "atomo-bench compare g.h5 -c hadamard:ratio=0.05 -c entry:ratio=0.05",
    .formula =
        "blocks of 2^L elements, the powers of two that make up n, the largest first; in each\n"
        "c_k = 2^(-L/2) sum_i (-1)^popcount(i & k) g_i; keep c_k with p_k = min(1, |c_k| / tau), sum p = ratio n\n"
        "decode the same transform of c_k / p_k; variance tau T1 - T2, T1 = sum |c|, T2 = sum c^2 over |c_k| <= tau",
    .paper =
        "Wang et al., ATOMO, NeurIPS 2018 (any orthonormal atoms); Fino and Algazi, IEEE Trans. Computers, 1976",
    .look = {HUE_ATOMS, 1, 1},
    .params = schema,
    .params_size = sizeof(BasisKeys),
    .promises = RANDOM | EXACT_BYTES,
    .traits = basis_traits,
    .family = &basis,
    BASIS_HOOKS,
    BASIS_CURVE,
};
