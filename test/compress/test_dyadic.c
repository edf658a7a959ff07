/* test_dyadic.c -- ATOMO in wavelet and Hadamard bases. The atoms are the coefficients c in the basis; each is
 * kept with probability p = min(1, |c| / tau). The water level tau is such that sum p is the budget. */
#include "compress/atoms/atoms.h"
#include "rig/codec_rig.h"
#include "base/coin.h"
#include "rig/draws.h"
#include "math/dyadic_transform.h"
#include "rig/sources.h"
#include "compress/atoms/waterfill.h"

static Arena *forever;

typedef struct {
    const char *spec;
    double ratio;
    /* `family`: the wavelet family, or WAVELETS for the Hadamard basis */
    int family, levels;
} Case;

static const Case cases[] = {
    {"hadamard", 0.01, WAVELETS, 0},
    {"hadamard:ratio=0.2", 0.2, WAVELETS, 0},
    {"wavelet:ratio=0.05", 0.05, WAVELET_HAAR, 0},
    {"wavelet:ratio=0.05,family=db2", 0.05, WAVELET_DB2, 0},
    {"wavelet:ratio=0.05,family=db4", 0.05, WAVELET_DB4, 0},
    {"wavelet:ratio=0.2,family=db4,levels=2", 0.2, WAVELET_DB4, 2},
    {"wavelet:ratio=0.2,levels=1", 0.2, WAVELET_HAAR, 1},
};

static void transform(const Case *k, const float *x, float *c, size_t n)
{
    if (k->family == WAVELETS)
        hadamard_of(x, c, n, 1);
    else
        check(wavelet(k->family, k->levels, x, c, n, 1, forever));
}

static float *laplace(size_t n)
{
    const Rng rng = rng_open(8, 0, 0, 0, n);
    const Shape shape = shape_vector(n);
    float *x = NEW(forever, float, n);
    fill_laplace(&rng, &shape, x);
    return x;
}

static const size_t sizes[] = {500, 1001, 4096, 65536 + 3, 131072 + 4097};

/* The probabilities must minimise sum c^2 / p subject to sum p = s (the budget) and 0 < p <= 1. The
 * Karush-Kuhn-Tucker conditions are |c| / p = tau where p < 1, and |c| >= tau where p = 1. As tau is a float32,
 * sum p has a relative error of up to 6e-8. */
TEST(probabilities_are_optimal_in_each_basis)
{
    for (size_t k = 0; k < countof(cases); k++)
        for (size_t s = 0; s < countof(sizes); s++) {
            const size_t n = sizes[s];
            const ArenaMark mark = arena_mark(forever);
            Rig rig;
            AtomDraw draw;
            double sum = 0, V = 0;
            size_t heavy = 0;
            rig_open(&rig, cases[k].spec, shape_vector(n));
            float *c = NEW(forever, float, n);
            const float *x = laplace(n);
            transform(&cases[k], x, c, n);
            const AtomPlan plan = {.budget = cases[k].ratio * (double)n};
            check_ok(atoms_open(&rig.call, &plan, c, n, &draw), &rig.err);
            for (size_t i = 0; i < n; i++) {
                const double size = fabs((double)c[i]), p = fmin(1, size / (double)draw.tau);
                sum += p;
                heavy += p == 1 && size > (double)draw.tau;
                if (p < 1 && p > 0)
                    check_rel(size / p, (double)draw.tau, 1e-15);
                V += p > 0 ? size * size * (1 / p - 1) : 0;
            }
            check_rel(sum, plan.budget, 1e-6);
            check(heavy == draw.heavy);
            check_rel(codec_variance(&rig.call, x), V, 1e-9);
            rig_close(&rig);
            arena_rewind(forever, mark);
        }
}

/* The worked example of docs/FORMAT.md. */
TEST(the_formats_example_decodes_as_it_says)
{
    static const uint8_t payload[] = {1, 1, 0, 0x40, 0, 0, 0, 0xc0, 0};
    static const double want[] = {-1, -1, 1, 1, 0};
    Rig rig;
    rig_open(&rig, "wavelet", shape_vector(5));
    rig.message.rounds = 1;
    check_ok(rig_decode_bytes(&rig, payload, sizeof payload, rig.decoded), &rig.err);
    for (int i = 0; i < 5; i++)
        check_near((double)rig.decoded[i], want[i], 1e-7);
    rig_close(&rig);
}

CHECK_ALL_IN(forever)
