/* test_svd.c -- spectral ATOMO beyond what every codec must keep (test_promises.c): its probabilities, its
 * exact cases, and unbiasedness on the shapes of real networks.
 *
 * Expectations come from singular values by LAPACK and a water level by bisection, neither of which the codec
 * uses by default. Limits on gain and error are 6.22 standard errors plus 6.5 of the largest single step, as
 * in draws.h, with the exact variances of the atoms' coins: a false alarm has probability under 1e-9 a
 * comparison, 1e-6 for all. */
#include "codec_rig.h"
#include "linalg.h"

#include <float.h>

/* ---- what should come out ---- */

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

/* sum min(1, lambda / level) = rank by bisection. */
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

/* Singular values, largest first; what is rounding error of the largest counts as zero. */
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

/* Gain and squared error of R draws. A coin worth w/p with probability p has variance w^2 (1/p - 1). */
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
    if (all_counted) /* no draw was so large that it went as floats */
        check_near(atoms, e->atoms, 6.22 * sqrt(e->atoms / R) + 6.5 / R);
}

static const double ranks[] = {0.5, 1, 2.5, 3};

/* Every rank on one tensor: closed form against the reference, then draws, or the raw floats. */
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

/* Few strong directions under noise, as in gradients; `seed` picks them. */
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

/* LeNet's, ResNet-18's and the character transformer's shapes, the long sides cut. */
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

static void estimates_are_unbiased_on_the_shapes_of_networks(void **state)
{
    (void)state;
    float x[3072];
    for (size_t s = 0; s < countof(network_shapes); s++) {
        fill_gradient(&network_shapes[s], s, x);
        check_tensor(&network_shapes[s], x, 1000);
    }
}

/* Identical singular values: any basis is right, but it must be one. */
static void estimates_are_unbiased_when_singular_values_coincide(void **state)
{
    (void)state;
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

/* As in a layer before a classifier of few classes: the rest are roundings, whose atoms are sent once in a million. */
static void estimates_are_unbiased_when_most_singular_values_are_rounding_errors(void **state)
{
    (void)state;
    float x[60 * 48] = {0};
    const Shape shapes[] = {{2, {60, 48}, 60 * 48}, {2, {48, 60}, 60 * 48}};
    const Rng rng = rng_open(9, 0, 0, 0, 0);
    for (size_t s = 0; s < countof(shapes); s++) {
        const size_t cols = shapes[s].dim[1];
        for (size_t i = 0; i < shapes[s].n; i++) {
            double sum = 0;
            for (size_t k = 0; k < 6; k++)
                sum += rng_normal(&rng, USE_DATA, k << 32 | i / cols) *
                       rng_normal(&rng, USE_INIT, k << 32 | i % cols);
            x[i] = (float)sum;
        }
        check_tensor(&shapes[s], x, 2000);
    }
}

/* Nearly equal atoms, of which 30 in 32 are kept: 3000 draws see half a percent of bias. */
static void a_bias_of_one_percent_would_show(void **state)
{
    (void)state;
    const Shape shape = {2, {600, 32}, 600 * 32};
    const Rng rng = rng_open(5, 0, 0, 0, 0);
    Arena *a = arena_open(0);
    float *x = NEW(a, float, shape.n);
    Rig rig;
    for (size_t i = 0; i < shape.n; i++)
        x[i] = (float)rng_normal(&rng, USE_TEST, i);
    Expected e = expect(a, &shape, x);
    fill_ref(&e, 30);
    rig_open(&rig, "svd:rank=30", shape);
    check(!goes_raw(&e, &shape));
    check_draws(&rig, x, &e, 3000);
    rig_close(&rig);
    arena_close(a);
}

/* ---- real gradients ---- */

#define DATA "../shared/data/"

static void real_gradients(void **state)
{
    (void)state;
    const char *const files[] = {DATA "lenet-mnist-small.h5", DATA "resnet18-cifar10.h5",
                                 DATA "charlm-shakespeare.h5"};
    for (size_t f = 0; f < countof(files); f++) {
        Arena *a = arena_open(0);
        Error err;
        Dump *dump;
        if (dump_open(&dump, files[f], a, &err) != OK) {
            print_message("skipped: %s is not on this machine\n", files[f]);
            arena_close(a);
            continue;
        }
        for (size_t i = 0; i < dump_count(dump); i++) {
            const Shape *shape = &dump_tensor(dump, i)->shape;
            const ArenaMark mark = arena_mark(a);
            float *x = NEW(a, float, shape->n);
            check_ok(dump_read(dump, i, x, &err), &err);
            if (shape->n <= 70000) /* the largest take long; the shapes above have their forms */
                check_tensor(shape, x, (size_t)fmin(100, 4 + 200000 / (double)shape->n));
            arena_rewind(a, mark);
        }
        dump_close(dump);
        arena_close(a);
    }
}

/* ---- exact cases ---- */

static void whole_numbers_of_rank_three(float *x, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            x[i * cols + j] = 0;
            for (size_t q = 0; q < 3; q++)
                x[i * cols + j] +=
                    (float)((int)((i * (7 + q) + q) % 11) - 5) * (float)((int)((j * (5 + q)) % 13) - 6);
        }
}

static void check_exact(const char *spec, Shape shape, const float *x, double tol)
{
    Rig rig;
    rig_open(&rig, spec, shape);
    double norm2 = 0;
    for (size_t i = 0; i < shape.n; i++)
        norm2 += (double)x[i] * (double)x[i];
    check_near(codec_variance(&rig.call, x), 0, 1e-13 * norm2);
    for (size_t r = 0; r < 3; r++) {
        check_ok(rig_encode(&rig, x, r), &rig.err);
        check(rig.payload.data[0] == PAYLOAD_METHOD);
        check_ok(rig_decode(&rig), &rig.err);
        double off = 0;
        for (size_t i = 0; i < shape.n; i++)
            off += ((double)rig.decoded[i] - (double)x[i]) * ((double)rig.decoded[i] - (double)x[i]);
        check(off <= tol * tol * norm2);
    }
    rig_close(&rig);
}

static void a_budget_of_the_rank_sends_the_matrix_itself(void **state)
{
    (void)state;
    const char *const specs[] = {"svd:rank=3", "svd:rank=5", "svd:rank=3,draw=systematic",
                                 "svd:rank=3,method=gesdd"};
    const Shape shapes[] = {
        {2, {90, 18}, 1620}, {2, {18, 90}, 1620}, {2, {50, 60}, 3000}, {2, {60, 50}, 3000}};
    float x[3000];
    for (size_t s = 0; s < countof(shapes); s++)
        for (size_t i = 0; i < countof(specs); i++) {
            whole_numbers_of_rank_three(x, shapes[s].dim[0], shapes[s].dim[1]);
            check_exact(specs[i], shapes[s], x, 4 * 0x1p-24);
            for (size_t k = 0; k < shapes[s].n; k++)
                x[k] *= 0x1p100F;
            check_exact(specs[i], shapes[s], x, 4 * 0x1p-24);
            for (size_t k = 0; k < shapes[s].n; k++)
                x[k] = x[k] * 0x1p-100F * 0x1p-100F;
            check_exact(specs[i], shapes[s], x, 4 * 0x1p-24);
        }
}

static void zeros_are_sent_as_no_atoms(void **state)
{
    (void)state;
    const float x[600] = {0};
    Rig rig;
    rig_open(&rig, "svd:empty=resample", (Shape){2, {30, 20}, 600});
    check_ok(rig_encode(&rig, x, 0), &rig.err);
    check(rig.payload.size == 2);
    check_ok(rig_decode(&rig), &rig.err);
    for (size_t i = 0; i < 600; i++)
        check(rig.decoded[i] == 0);
    rig_close(&rig);
}

/* ---- choices ---- */

static double variance_with(const char *spec, Shape shape, const float *x)
{
    Rig rig;
    rig_open(&rig, spec, shape);
    const double v = codec_variance(&rig.call, x);
    rig_close(&rig);
    return v;
}

/* 0.5^i, 16 atoms: the values of REFERENCE's table, second moments f less |g|^2 = 1.33333. */
static void algorithm_1_beats_clipping_at_the_same_expected_number(void **state)
{
    (void)state;
    float x[40 * 16] = {0};
    const Shape shape = {2, {40, 16}, 640};
    double norm2 = 0;
    for (size_t i = 0; i < 16; i++) {
        x[i * 17] = powf(0.5F, (float)i);
        norm2 += (double)x[i * 17] * (double)x[i * 17];
    }
    check_near(variance_with("svd:rank=3,probs=clip", shape, x) + norm2, 1.6666, 1e-4);
    check_near(variance_with("svd:rank=3", shape, x) + norm2, 1.49997, 1e-5);
    check_near(variance_with("svd:rank=4,probs=clip", shape, x) + norm2, 1.49998, 1e-5);
    check_near(variance_with("svd:rank=4", shape, x) + norm2, 1.37498, 1e-5);
    check_near(variance_with("svd:rank=4,method=gesdd", shape, x) + norm2, 1.37498, 1e-5);
    /* clip at 3 spends 2.5 atoms; so does this */
    check(variance_with("svd:rank=2.5", shape, x) <=
          variance_with("svd:rank=3,probs=clip", shape, x) * (1 + 1e-3));
}

static void neither_method_nor_draw_changes_the_variance(void **state)
{
    (void)state;
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

/* A flat spectrum of 16 at budget 1: none is kept with chance (15/16)^16, so what is resampled is 1.553 too
 * large. */
static void resampling_never_sends_nothing_and_is_biased_as_known(void **state)
{
    (void)state;
    enum { R = 20000 };
    float x[32 * 16] = {0};
    for (size_t i = 0; i < 16; i++)
        x[i * 17] = 1;
    const struct {
        const char *spec;
        double gain, atoms;
    } cases[] = {{"svd:rank=1,empty=resample", 1.553, 1.553},
                 {"svd:rank=1,empty=send", 1, 1},
                 {"svd:rank=0.5,empty=resample,draw=systematic", 2, 1},
                 {"svd:rank=0.5,draw=systematic", 1, 0.5}};
    for (size_t i = 0; i < countof(cases); i++) {
        Rig rig;
        double gain = 0, atoms = 0;
        bool empty = false;
        rig_open(&rig, cases[i].spec, (Shape){2, {32, 16}, 512});
        for (size_t r = 0; r < R; r++) {
            check_ok(rig_encode(&rig, x, r), &rig.err);
            check_ok(rig_decode(&rig), &rig.err);
            empty |= rig.payload.data[1] == 0;
            atoms += (double)rig.payload.data[1] / R;
            for (size_t k = 0; k < 16; k++)
                gain += (double)rig.decoded[k * 17] / 16 / R;
        }
        check(empty == !strstr(cases[i].spec, "resample"));
        check(!(codec_traits(rig.codec) & UNBIASED) == !empty);
        check(isnan(codec_variance(&rig.call, x)) == !empty);
        check_near(atoms, cases[i].atoms,
                   6.22 * sqrt(cases[i].atoms / R)); /* its variance is at most that of p */
        check_near(gain, cases[i].gain, 6.22 * cases[i].gain * sqrt(1.0 / R));
        rig_close(&rig);
    }
}

/* ---- payloads ---- */

static void payloads_no_encoder_writes_are_refused(void **state)
{
    (void)state;
    const Shape shape = {2, {40, 18}, 720};
    float x[720];
    Rig rig;
    whole_numbers_of_rank_three(x, 40, 18);
    rig_open(&rig, "svd:rank=3", shape);
    check_ok(rig_encode(&rig, x, 0), &rig.err);
    const size_t size = rig.payload.size;
    uint8_t *p = rig.payload.data;
    check(size == 2 + 3 * 4 * (40 + 18) && p[0] == PAYLOAD_METHOD && p[1] == 3);
    for (size_t cut = 0; cut < size; cut++)
        check(rig_decode_bytes(&rig, p, cut, rig.decoded) == ERR_CORRUPT);
    const struct {
        size_t at;
        uint32_t bits;
        const char *what;
    } bad[] = {{2, 0x7fc00000, "NaN"},
               {2 + 4 * 57, 0x7f800000, "infinity"},
               {2 + 4 * 40, 0x40000000, "a right vector of length two"}};
    for (size_t i = 0; i < countof(bad); i++) {
        const uint32_t was = load_u32(p + bad[i].at);
        store_u32(p + bad[i].at, bad[i].bits);
        check(rig_decode_bytes(&rig, p, size, rig.decoded) == ERR_CORRUPT);
        store_u32(p + bad[i].at, was);
    }
    const uint8_t many[] = {PAYLOAD_METHOD, 19},
                  huge[] = {PAYLOAD_METHOD, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
                  merged[] = {PAYLOAD_MERGED, 0}, none[] = {PAYLOAD_METHOD, 0};
    check(rig_decode_bytes(&rig, many, sizeof many, rig.decoded) == ERR_CORRUPT);
    check(rig_decode_bytes(&rig, huge, sizeof huge, rig.decoded) == ERR_CORRUPT);
    check(rig_decode_bytes(&rig, merged, sizeof merged, rig.decoded) == ERR_CORRUPT);
    check_ok(rig_decode_bytes(&rig, none, sizeof none, rig.decoded), &rig.err);
    rig_close(&rig);
}

static void values_beyond_float32_are_refused_not_sent(void **state)
{
    (void)state;
    float x[40 * 30];
    Rig rig;
    for (size_t i = 0; i < countof(x); i++)
        x[i] = (i * 7 % 5 < 2 ? -1.F : 1.F) * FLT_MAX / (float)(1 + i % 3);
    rig_open(&rig, "svd:rank=1", (Shape){2, {40, 30}, countof(x)});
    check(rig_encode(&rig, x, 0) == ERR_NUMERIC);
    rig_close(&rig);
}

/* Two atoms of a matrix of side four take more than its floats do. */
static void a_draw_larger_than_the_floats_counts_as_raw(void **state)
{
    (void)state;
    float x[16];
    size_t raw = 0;
    Rig rig;
    for (size_t i = 0; i < 16; i++)
        x[i] = (float)(i % 5 == 0) + 0.1f * (float)(i % 3);
    rig_open(&rig, "svd:rank=1.2", (Shape){.rank = 2, .dim = {4, 4}, .n = 16});
    for (uint64_t r = 0; r < 50; r++) {
        Streams streams = {0};
        rig.call.streams = &streams;
        check_ok(rig_encode(&rig, x, r), &rig.err);
        rig.call.streams = NULL;
        check_ok(rig_decode(&rig), &rig.err);
        check(streams.raw == (rig.payload.data[0] == PAYLOAD_RAW));
        check(!streams.raw || memcmp(rig.decoded, x, sizeof x));
        raw += streams.raw;
    }
    check(raw > 5 && raw < 45);
    rig_close(&rig);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_draw_larger_than_the_floats_counts_as_raw),
    cmocka_unit_test(estimates_are_unbiased_on_the_shapes_of_networks),
    cmocka_unit_test(estimates_are_unbiased_when_singular_values_coincide),
    cmocka_unit_test(estimates_are_unbiased_when_most_singular_values_are_rounding_errors),
    cmocka_unit_test(a_bias_of_one_percent_would_show),
    cmocka_unit_test(real_gradients),
    cmocka_unit_test(a_budget_of_the_rank_sends_the_matrix_itself),
    cmocka_unit_test(zeros_are_sent_as_no_atoms),
    cmocka_unit_test(algorithm_1_beats_clipping_at_the_same_expected_number),
    cmocka_unit_test(neither_method_nor_draw_changes_the_variance),
    cmocka_unit_test(resampling_never_sends_nothing_and_is_biased_as_known),
    cmocka_unit_test(payloads_no_encoder_writes_are_refused),
    cmocka_unit_test(values_beyond_float32_are_refused_not_sent),
};

CHECK_MAIN(tests)
