/* wavelet.c -- ATOMO in an orthonormal wavelet basis: an atom is a wavelet of one width at one position, which
 * suits gradients whose neighbouring elements are similar. The payload has the format of atoms.h. */
#include "math/dyadic_transform.h"
#include "compress/atoms/basis.h"

typedef struct {
    BasisKeys keys;
    int family;
    int64_t levels;
} Wavelet;

static const Param schema[] = {
    BASIS_KEYS,
    PARAM_OF(Wavelet, family, "haar", wavelet_families, "filters: Haar, Daubechies' of 4 and of 8 taps"),
    PARAM(Wavelet, levels, "0", 0, 64, "how often smooths are split again; 0: down to one"),
    {0},
};

static Status forward(const Call *c, const float *x, float *coef)
{
    const Wavelet *w = c->self->params;
    TRY(arena_check(wavelet(w->family, (int)w->levels, x, coef, c->shape->n, c->threads, c->scratch),
                    c->scratch, c->err));
    return OK;
}

static Status inverse(const Call *c, float *coef, float *x)
{
    const Wavelet *w = c->self->params;
    wavelet_back(w->family, (int)w->levels, coef, x, c->shape->n, c->threads);
    return OK;
}

static const Basis basis = {.forward = forward, .inverse = inverse};

const Compressor compressor_wavelet = {
    .name = "wavelet",
    .brief = "ATOMO in an orthonormal wavelet basis, of any length",
    .plain = "Transforms each tensor to wavelets, which are differences at several scales, and keeps few "
             "coefficients, chosen at random in proportion to their magnitude. The mean over draws is the "
             "gradient.",
    .use_when = "large elements stand together in runs.",
    .example = "atomo-bench synth -o g.h5 --law sparse\n"
               "atomo-bench compare g.h5 -c wavelet:ratio=0.05 -c entry:ratio=0.05",
    .formula =
        "a level: m values to h = floor(m/2) smooths sum_t s_t x_(2k+t mod 2h) and h details, d_t = (-1)^t s_(T-1-t);\n"
        "an odd last value stays as it is; the next level splits the smooths. Orthonormal at every length\n"
        "keep coefficient c_k with p_k = min(1, |c_k| / tau), sum p = ratio n; decode the inverse of c_k / p_k\n"
        "variance tau T1 - T2, T1 = sum |c|, T2 = sum c^2 over |c_k| <= tau",
    .paper =
        "Wang et al., ATOMO, NeurIPS 2018 (any orthonormal atoms); Daubechies, Comm. Pure Appl. Math. 41, 1988",
    .look = {HUE_ATOMS, 4, 4},
    .params = schema,
    .params_size = sizeof(Wavelet),
    .promises = RANDOM | EXACT_BYTES,
    .traits = basis_traits,
    .family = &basis,
    BASIS_HOOKS,
    BASIS_CURVE,
};
