/* test_svd.c -- the codec svd (spectral ATOMO) where singular values coincide: probabilities, the closed form
 * of the variance, and unbiasedness. An atom is a singular value lambda with its two singular vectors. An atom
 * is kept with probability p = min(1, lambda / tau), where the water level tau is such that sum p is the budget
 * (the rank).
 *
 * Expected values come from singular values by LAPACK and from a water level found by bisection; by default,
 * the codec uses neither.
 *
 * Limits are 6.22 standard errors, from exact variances, plus 6.5 times the largest change by a single draw, as
 * in draws.h. The false-alarm probability is below 1e-9 for each comparison and 1e-6 for all. */
#include "dump/tensor.h"
#include "rig/codec_rig.h"
#include "rig/sources.h"
#include "base/rng.h"
#include "math/linalg.h"

/* Fills x with a matrix like a gradient: noise plus a few outer products of high norm. `seed` selects the
 * random numbers. */
static void fill_gradient(const Shape *shape, uint64_t seed, float *x)
{
    size_t rows, cols;
    const Rng rng = rng_open(seed, 0, 0, 0, 0);
    matrix_view(shape, RESHAPE_PAPER, &rows, &cols);
    for (size_t i = 0; i < shape->n; i++) {
        double sum = 0.05 * rng_normal(&rng, USE_TEST, i);
        for (uint64_t k = 0; k < 4; k++)
            sum += pow(0.5, (double)k) * rng_normal(&rng, USE_DATA, k << 32 | i / cols) *
                   rng_normal(&rng, USE_INIT, k << 32 | i % cols);
        x[i] = (float)(1e-3 * sum);
    }
}

/* Shapes of tensors of LeNet, ResNet-18 and a character transformer, with shortened long sides. */
static const Shape network_shapes[] = {
    {4, {20, 1, 5, 5}, 500},
    {4, {8, 4, 5, 5}, 800},
    {1, {20}, 20},
    {2, {40, 60}, 2400},
    {2, {10, 50}, 500},
    {1, {10}, 10},
    {4, {16, 3, 3, 3}, 432},
    {1, {64}, 64},
    {4, {16, 16, 3, 3}, 2304},
    {4, {32, 16, 1, 1}, 512},
    {2, {13, 40}, 520},
    {2, {64, 48}, 3072},
    {2, {36, 12}, 432},
    {2, {12, 36}, 432},
    {4, {3, 5, 3, 3}, 135},
    {1, {9}, 9},
    {3, {6, 5, 4}, 120},
    {2, {1, 30}, 30},
    {2, {30, 1}, 30},
    {1, {1}, 1},
};

/* ---- expected values ---- */

typedef struct {
    size_t k;
    double *lambda, *p;
    double norm2, atoms;
} Expected;

static double spent(const Expected *e, double level)
{
    double sum = 0;
    for (size_t i = 0; i < e->k; i++)
        sum += fmin(1, e->lambda[i] / level);
    return sum;
}

/* Finds the water level by bisection, and computes the probabilities p and the expected number of atoms. */
static void fill_ref(Expected *e, double rank)
{
    double low = 0, high = 0, nonzero = 0;
    for (size_t i = 0; i < e->k; i++) {
        high += e->lambda[i] / rank;
        nonzero += e->lambda[i] > 0;
    }
    for (int i = 0; i < 200 && rank < nonzero; i++) {
        const double mid = low + (high - low) / 2;
        if (spent(e, mid) > rank)
            low = mid;
        else
            high = mid;
    }
    e->atoms = 0;
    for (size_t i = 0; i < e->k; i++) {
        e->p[i] = rank < nonzero ? fmin(1, e->lambda[i] / high) : e->lambda[i] > 0;
        e->atoms += e->p[i];
    }
}

/* Returns the decreasing singular values of x. Singular values within the rounding error of the largest become
 * 0. */
static Expected expect(Arena *a, const Shape *shape, const float *x)
{
    Error err;
    size_t rows, cols;
    matrix_view(shape, RESHAPE_PAPER, &rows, &cols);
    const Tall tall = tall_of(x, rows, cols);
    Expected e = {tall.cols, NEW(a, double, tall.cols), NEW(a, double, tall.cols), 0, 0};
    check_ok(linalg_svd(&tall, NULL, e.lambda, NULL, a, &err), &err);
    for (size_t i = 0; i < e.k; i++) {
        e.lambda[i] = e.lambda[i] > 1e-13 * e.lambda[0] ? e.lambda[i] : 0;
        e.norm2 += e.lambda[i] * e.lambda[i];
    }
    return e;
}

static bool goes_raw(const Expected *e, const Shape *shape)
{
    size_t rows, cols;
    matrix_view(shape, RESHAPE_PAPER, &rows, &cols);
    return 2 + 4 * e->atoms * (double)(rows + cols) >= 4 * (double)shape->n + 1;
}

static double variance_of(const Expected *e)
{
    double sum = 0;
    for (size_t i = 0; i < e->k; i++)
        sum += e->p[i] > 0 ? e->lambda[i] * e->lambda[i] * (1 / e->p[i] - 1) : 0;
    return sum;
}

/* ---- draws against expectations ---- */

/* Checks the gain <estimate, x> / |x|^2 and the squared error, as means over R draws. A value that decodes to w
 * / p with probability p, else to 0, has the variance w^2 (1 / p - 1). */
static void check_draws(Rig *rig, const float *x, const Expected *e, size_t repeats)
{
    double gain = 0, mse = 0, gain_var = 0, mse_var = 0, gain_step = 0, mse_step = 0, atoms = 0;
    const double R = (double)repeats, expected = variance_of(e);
    size_t rows, cols;
    bool all_counted = true;
    matrix_view(&rig->shape, RESHAPE_PAPER, &rows, &cols);
    for (size_t i = 0; i < e->k; i++) {
        const double w = e->lambda[i] * e->lambda[i], p = e->p[i], q = 1 - p;
        if (p <= 0)
            continue;
        gain_var += w * w * (1 / p - 1) / (e->norm2 * e->norm2);
        gain_step = fmax(gain_step, w / p / e->norm2);
        mse_var += w * w * (q + q * q * q * q / (p * p * p) - (1 / p - 1) * (1 / p - 1));
        mse_step = fmax(mse_step, w * (1 / p - 1) * (1 / p - 1));
    }
    for (size_t r = 0; r < repeats; r++) {
        double dot = 0, error = 0;
        check_ok(rig_encode(rig, x, r), &rig->err);
        check_ok(rig_decode(rig), &rig->err);
        all_counted = all_counted && rig->payload.data[0] == PAYLOAD_METHOD;
        for (size_t i = 0; i < rig->shape.n; i++) {
            const double off = (double)rig->decoded[i] - (double)x[i];
            dot += off * (double)x[i];
            error += off * off;
        }
        gain += dot / e->norm2 / R;
        mse += error / R;
        atoms += (double)((rig->payload.size - 2) / (4 * (rows + cols))) / R;
    }
    check_near(gain, 0, 6.22 * sqrt(gain_var / R) + 6.5 * gain_step / R + 1e-6);
    check_near(mse, expected,
               6.22 * sqrt(mse_var / R) + 6.5 * mse_step / R + 1e-6 * expected + 1e-12 * e->norm2);
    if (all_counted) /* no draw was so large that it was sent raw */
        check_near(atoms, e->atoms, 6.22 * sqrt(e->atoms / R) + 6.5 / R);
}

static const double ranks[] = {0.5, 1, 2.5, 3};

static void check_tensor(const Shape *shape, const float *x, size_t repeats)
{
    Arena *a = arena_open(0);
    Expected e = expect(a, shape, x);
    for (size_t i = 0; i < countof(ranks); i++) {
        char spec[64];
        Rig rig;
        snprintf(spec, sizeof spec, "svd:rank=%g", ranks[i]);
        rig_open(&rig, spec, *shape);
        fill_ref(&e, ranks[i]);
        const double closed = codec_variance(&rig.call, x);
        if (goes_raw(&e, shape)) {
            check(closed == 0);
            check_ok(rig_encode(&rig, x, 0), &rig.err);
            check(rig.payload.data[0] == PAYLOAD_RAW);
        } else if (e.norm2 > 0) {
            check_near(closed, variance_of(&e), 1e-7 * variance_of(&e) + 1e-12 * e.norm2);
            check_draws(&rig, x, &e, repeats);
        }
        rig_close(&rig);
    }
    arena_close(a);
}

/* Singular vectors of equal singular values are not unique, but must still be orthonormal. */
TEST(estimates_are_unbiased_when_singular_values_coincide)
{
    enum { SIDE = 40 };
    float x[SIDE * SIDE] = {0};
    const Shape large = {2, {SIDE, SIDE}, SIDE * SIDE}, small = {2, {20, 20}, 400};
    for (size_t i = 0; i < SIDE; i++)
        x[i * (SIDE + 1)] = i % 2 ? -1 : 1;
    check_tensor(&large, x, 2000);
    memset(x, 0, sizeof x);
    for (size_t i = 0; i < 20; i++)
        x[i * 21] = 3;
    check_tensor(&small, x, 2000);
}

/* ---- parameters ---- */

static double variance_with(const char *spec, Shape shape, const float *x)
{
    Rig rig;
    rig_open(&rig, spec, shape);
    const double v = codec_variance(&rig.call, x);
    rig_close(&rig);
    return v;
}

TEST(neither_method_nor_draw_changes_the_variance)
{
    float x[3072];
    for (size_t s = 0; s < countof(network_shapes); s++) {
        const Shape shape = network_shapes[s];
        fill_gradient(&shape, s, x);
        const double v = variance_with("svd:rank=2", shape, x);
        check_rel(variance_with("svd:rank=2,method=gesdd", shape, x), v, 1e-6);
        check_rel(variance_with("svd:rank=2,draw=systematic", shape, x), v, 1e-12);
        check(variance_with("svd:rank=2,probs=clip", shape, x) >= v * (1 - 1e-9) ||
              variance_with("svd:rank=2,probs=clip", shape, x) == 0 || v == 0);
    }
}

static uint64_t payload_hash(const char *spec, Shape shape, const float *x)
{
    Rig r;
    rig_open(&r, spec, shape);
    check_ok(rig_encode(&r, x, 0), &r.err);
    const uint64_t hash = hash_bytes(r.payload.data, r.payload.size);
    rig_close(&r);
    return hash;
}

/* method=auto is method=gram up to 1024 rows or columns, and method=randomized beyond; the two give other payloads. */
TEST(large_matrices_take_the_leading_vectors_by_themselves)
{
    const Shape most = {2, {1040, 1024}, 1040 * 1024}, beyond = {2, {1025, 1030}, 1025 * 1030};
    float *x = malloc(most.n * sizeof *x);
    fill_gradient(&most, 1, x);
    const uint64_t gram = payload_hash("svd:method=gram", most, x);
    check(payload_hash("svd", most, x) == gram && payload_hash("svd:method=randomized", most, x) != gram);
    check(payload_hash("svd", beyond, x) == payload_hash("svd:method=randomized", beyond, x));
    free(x);
}

/* A vector of other values at the same address has its own decomposition, once its owner has cleared `found`. */
TEST(a_kept_decomposition_changes_no_payload_and_is_made_once)
{
    /* the last decomposes another vector in each draw, so it keeps nothing */
    static const char *const specs[] = {"svd:rank=2", "svd:rank=2,method=randomized,directions=8", "svd:rank=2,vectors=qsgd",
                                        "induced:with=svd:rank=2+randk:ratio=0.1"};
    const Shape shape = {2, {60, 48}, 60 * 48};
    float *x = malloc(shape.n * sizeof *x);
    for (size_t i = 0; i < countof(specs); i++) {
        Rig plain, keeps;
        AtomMoments m = {0}, kept_m = {0};
        const bool once = specs[i][0] == 's';
        rig_open(&plain, specs[i], shape);
        rig_open(&keeps, specs[i], shape);
        Kept kept = {.arena = arena_open(0)};
        keeps.call.kept = &kept;
        for (uint64_t pass = 0; pass < 2; pass++, kept.found = NULL) {
            const void *found = NULL;
            fill_gradient(&shape, 1 + pass, x);
            for (uint64_t r = 0; r < 3; r++) {
                check_ok(rig_encode(&plain, x, r), &plain.err);
                check_ok(rig_encode(&keeps, x, r), &keeps.err);
                check(plain.payload.size == keeps.payload.size && !memcmp(plain.payload.data, keeps.payload.data, plain.payload.size));
                check(!kept.found == !once && (r == 0 || kept.found == found));
                found = kept.found;
            }
            check(!once || codec_variance(&plain.call, x) == codec_variance(&keeps.call, x));
            check(codec_moments(&plain.call, x, &m) == codec_moments(&keeps.call, x, &kept_m) && m.squares == kept_m.squares);
            check(kept.found == found);
        }
        rig_close(&plain);
        rig_close(&keeps);
        arena_close(kept.arena);
    }
    free(x);
}

CHECK_ALL(NULL, NULL)
