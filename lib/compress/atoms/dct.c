/* dct.c -- ATOMO in the cosine basis: the atoms are the basis vectors of an orthonormal DCT-II. atoms.h
 * describes the payload. */
#include "compress/atoms/basis.h"
#include "math/fourier_transform.h"

typedef struct {
    BasisKeys keys;
    int64_t dims;
} Dct;

static const Param schema[] = {
    BASIS_KEYS,
    PARAM(Dct, dims, "1", 1, 2, "the tensor as one line, or as svd's matrix, both ways"),
    {0},
};

static void view(const Call *c, size_t *rows, size_t *cols)
{
    const Dct *o = c->self->params;
    *rows = 1;
    *cols = c->shape->n;
    if (o->dims == 2)
        matrix_view(c->shape, RESHAPE_PAPER, rows, cols);
}

static Status forward(const Call *c, const float *x, float *coef)
{
    size_t rows, cols;
    view(c, &rows, &cols);
    return cosine_forward(x, rows, cols, coef, c->threads, c->scratch, c->err);
}

static Status inverse(const Call *c, float *coef, float *x)
{
    size_t rows, cols;
    view(c, &rows, &cols);
    return cosine_back(coef, rows, cols, x, c->threads, c->scratch, c->err);
}

static const Basis basis = {.forward = forward, .inverse = inverse};

const Compressor compressor_dct = {
    .name = "dct",
    .brief = "ATOMO over the coefficients of a cosine transform",
    .plain = "Transforms each tensor to cosines and keeps few coefficients, chosen at random in proportion "
             "to their magnitude. The mean over draws is the gradient.",
    .use_when = "neighbouring elements are alike, so that few slow cosines hold most of the gradient.",
    .example = "atomo-bench synth -o g.h5\n"
               "atomo-bench compare g.h5 -c dct:ratio=0.05 -c entry:ratio=0.05",
    .formula = "y = DCT-II of g, orthonormal; keep y_k with p_k = min(1, |y_k| / tau), sum p = ratio n\n"
               "decode y_k / p_k and transform back; variance tau T1 - T2 over |y_k| <= tau, as for entry",
    .paper = "Wang et al., ATOMO, NeurIPS 2018, Algorithm 1; Makhoul, IEEE Trans. ASSP 28, 1980",
    .look = {HUE_ATOMS, 3, 3},
    .params = schema,
    .params_size = sizeof(Dct),
    .promises = RANDOM,
    .traits = basis_traits,
    .family = &basis,
    BASIS_HOOKS,
    BASIS_CURVE,
};
