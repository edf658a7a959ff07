/* test_waves.c -- the codecs dct and fourier: ATOMO in the bases of the cosine and Fourier transforms. An atom
 * of weight w is kept with probability p = min(1, w / tau). The water level tau is such that sum p is the
 * budget. */
#include "compress/atoms/atoms.h"
#include "compress/atoms/fourier.c"
#include "rig/codec_rig.h"
#include "math/fourier_transform.h"
#include "rig/draws.h"
#include "rig/set_bits.h"
#include "rig/sources.h"

static Arena *forever;

static float *laplace(size_t n)
{
    const Rng rng = rng_open(8, 0, 0, 0, n);
    const Shape shape = shape_vector(n);
    float *x = NEW(forever, float, n);
    fill_laplace(&rng, &shape, x);
    return x;
}

static Shape matrix(size_t rows, size_t cols)
{
    Shape shape;
    check(shape_make(&shape, 2, (const size_t[]){rows, cols}));
    return shape;
}

typedef struct {
    const char *spec;
    double ratio;
    size_t rows, cols; /* shape of the tensor; with dims=1 it is treated as one vector */
} Case;

static const Case waves[] = {
    {"dct", 0.01, 1, 5000},
    {"dct:ratio=0.2", 0.2, 77, 13},
    {"dct:ratio=0.1,dims=2", 0.1, 64, 150},
    {"fourier", 0.01, 1, 70000},
    {"fourier:ratio=0.1", 0.1, 77, 13},
    {"fourier:ratio=0.2", 0.2, 1, 4096},
    {"fourier:ratio=0.1,dims=2", 0.1, 64, 150},
    {"fourier:ratio=0.05,dims=2", 0.05, 301, 18},
};

static bool two_dims(const Case *k)
{
    return strstr(k->spec, "dims=2") != NULL;
}

/* Computes the weight of each atom and the magnitude `length` of its coefficient. Returns the number of
 * atoms. */
static size_t weigh(const Case *k, const Call *c, const float *x, float **weight, float **length)
{
    const size_t n = k->rows * k->cols, rows = two_dims(k) ? k->rows : 1;
    if (k->spec[0] == 'd') {
        *weight = *length = NEW(forever, float, n);
        check_ok(cosine_forward(x, rows, n / rows, *weight, 1, forever, c->err), c->err);
        for (size_t i = 0; i < n; i++)
            (*weight)[i] = fabsf((*weight)[i]);
        return n;
    }
    FourierSpectrum s = spectrum_shape(rows, n / rows);
    *weight = NEW(forever, float, s.atoms);
    *length = NEW(forever, float, s.atoms);
    check_ok(spectrum_of(c, x, &s, *weight), c->err);
    for (size_t i = 0; i < s.atoms; i++) {
        const float *z = s.data + spectrum_frequency(&s, i).at;
        (*length)[i] = (float)sqrt((double)z[0] * (double)z[0] + (double)z[1] * (double)z[1]);
    }
    return s.atoms;
}

/* The probabilities must minimise sum w^2 / p subject to sum p = s (the budget) and 0 < p <= 1. The
 * Karush-Kuhn-Tucker conditions are w / p = tau where p < 1, and w >= tau where p = 1. A kept atom with p < 1
 * is decoded with length tau. */
TEST(probabilities_are_optimal_in_each_basis)
{
    for (size_t k = 0; k < countof(waves); k++) {
        const ArenaMark mark = arena_mark(forever);
        const size_t n = waves[k].rows * waves[k].cols;
        Rig rig;
        AtomDraw draw;
        float *weight, *length;
        double sum = 0, V = 0;
        size_t heavy = 0;
        rig_open(&rig, waves[k].spec, matrix(waves[k].rows, waves[k].cols));
        const float *x = laplace(n);
        const size_t atoms = weigh(&waves[k], &rig.call, x, &weight, &length);
        const AtomPlan plan = {.budget = waves[k].ratio * (double)n};
        check_ok(atoms_open(&rig.call, &plan, weight, atoms, &draw), &rig.err);
        const double tau = (double)draw.tau;
        for (size_t i = 0; i < atoms; i++) {
            const double w = (double)weight[i], p = fmin(1, w / tau);
            sum += p;
            heavy += w > tau;
            if (p < 1 && p > 0)
                check_rel(w / p, tau, 1e-15);
            V += w <= tau ? w * tau - (double)length[i] * (double)length[i] : 0;
        }
        check_rel(sum, plan.budget, 1e-6);
        check(heavy == draw.heavy);
        check_rel(codec_variance(&rig.call, x), V, 1e-6);
        rig_close(&rig);
        arena_rewind(forever, mark);
    }
}

/* An atom with probability 1 must be unchanged in the estimate. Any other atom must be 0, or have length tau
 * and a phase that differs by at most 1/64 turn. */
TEST(draws_decode_to_atoms_of_the_tensor)
{
    for (size_t k = 3; k < countof(waves); k++) {
        const ArenaMark mark = arena_mark(forever);
        const size_t n = waves[k].rows * waves[k].cols, rows = two_dims(&waves[k]) ? waves[k].rows : 1;
        Rig rig;
        AtomDraw draw;
        FourierSpectrum before = spectrum_shape(rows, n / rows), after = before;
        float *weight = NEW(forever, float, before.atoms), *kept = NEW(forever, float, before.atoms);
        size_t count = 0;
        rig_open(&rig, waves[k].spec, matrix(waves[k].rows, waves[k].cols));
        const float *x = laplace(n);
        const AtomPlan plan = {.budget = waves[k].ratio * (double)n};
        check_ok(rig_encode(&rig, x, 4), &rig.err);
        check(rig.payload.data[0] == PAYLOAD_METHOD);
        check_ok(rig_decode(&rig), &rig.err);
        check_ok(spectrum_of(&rig.call, x, &before, weight), &rig.err);
        check_ok(spectrum_of(&rig.call, rig.decoded, &after, kept), &rig.err);
        check_ok(atoms_open(&rig.call, &plan, weight, before.atoms, &draw), &rig.err);
        const double tau = (double)draw.tau, slack = 2e-6 * tau * sqrt(plan.budget);
        for (size_t i = 0; i < before.atoms; i++) {
            const float *z = before.data + spectrum_frequency(&before, i).at;
            const float *y = after.data + spectrum_frequency(&after, i).at;
            const double size = hypot((double)y[0], (double)y[1]);
            const double along = (double)z[0] * (double)y[0] + (double)z[1] * (double)y[1];
            if ((double)weight[i] > tau) {
                check_near((double)y[0], (double)z[0], slack);
                check_near((double)y[1], (double)z[1], slack);
            } else if (size > tau / 2) {
                check_near(size, tau, slack);
                check(along >=
                      cos(2 * M_PI / PHASES) * size * hypot((double)z[0], (double)z[1]) * (1 - 1e-4));
                count++;
            } else {
                check(size <= slack);
            }
        }
        check_near((double)count, draw.light, 6 * sqrt(draw.light)); /* about Poisson distributed */
        rig_close(&rig);
        arena_rewind(forever, mark);
    }
}

TEST(sizes_are_what_was_expected)
{
    static const struct {
        const char *spec;
        double budget;
    } rows[] = {
        {"fourier:ratio=0.01", 0.01}, {"fourier:ratio=0.1", 0.1}, {"fourier:ratio=0.02,dims=2", 0.02}};
    const size_t n = 65536;
    const ArenaMark mark = arena_mark(forever);
    const float *x = laplace(n);
    for (size_t r = 0; r < countof(rows); r++) {
        Rig rig;
        Streams streams = {0};
        double bytes = 0;
        rig_open(&rig, rows[r].spec, matrix(256, 256));
        rig.call.streams = &streams;
        for (uint64_t k = 0; k < 40; k++) {
            streams = (Streams){0};
            check_ok(rig_encode(&rig, x, k), &rig.err);
            const SetBits bits = set_bits(buf_bytes(&rig.payload), n / 2 + 2, 64, 6, rig.forever);
            const double sent = 8 * (double)rig.payload.size;
            check(streams.reported && !streams.raw);
            check_rel(streams.entropy_bits, bits.entropy, 1e-9);
            check(bits.information > 0.98 * sent && bits.information < sent &&
                  bits.entropy < bits.information);
            bytes += (double)rig.payload.size / 40;
        }
        const size_t atoms = n / 2 + 2;
        check_rel(8 * bytes, atoms_bits(atoms, 0, rows[r].budget * (double)n, true), 0.02);
        rig_close(&rig);
    }
    arena_rewind(forever, mark);
}

CHECK_ALL_IN(forever)
