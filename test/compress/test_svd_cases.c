/* test_svd_cases.c -- the codec svd (spectral ATOMO) in cases with known results: matrices that are decoded
 * exactly, the probabilities of Algorithm 1 against clipped ones, repeated draws, and payloads that no encoder
 * writes. */
#include "rig/codec_rig.h"
#include "rig/network_shapes.h"

#include <float.h>

/* ---- matrices that are decoded exactly ---- */

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

/* ---- parameters ---- */

static double variance_with(const char *spec, Shape shape, const float *x)
{
    Rig rig;
    rig_open(&rig, spec, shape);
    const double v = codec_variance(&rig.call, x);
    rig_close(&rig);
    return v;
}

/* The 16 singular values are 0.5^i, so |g|^2 = 1.33333. The expected values are variance plus |g|^2. */
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
    /* clipped probabilities with a budget of 3 keep 2.5 atoms on average, as rank=2.5 does */
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

/* With 16 equal singular values and a budget of one atom, a draw is empty with probability (15/16)^16. If empty
 * draws are repeated, estimates are 1 / (1 - (15/16)^16) = 1.553 times too large. */
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
        /* the variance of the number of atoms is at most the sum of the probabilities of all atoms */
        check_near(atoms, cases[i].atoms, 6.22 * sqrt(cases[i].atoms / R));
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

/* Two atoms of a 4 x 4 matrix take more bytes than 16 floats, so the draw is sent as floats. `streams.raw` must
 * be true then. */
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
    cmocka_unit_test(a_budget_of_the_rank_sends_the_matrix_itself),
    cmocka_unit_test(zeros_are_sent_as_no_atoms),
    cmocka_unit_test(algorithm_1_beats_clipping_at_the_same_expected_number),
    cmocka_unit_test(neither_method_nor_draw_changes_the_variance),
    cmocka_unit_test(resampling_never_sends_nothing_and_is_biased_as_known),
    cmocka_unit_test(payloads_no_encoder_writes_are_refused),
    cmocka_unit_test(values_beyond_float32_are_refused_not_sent),
    cmocka_unit_test(a_draw_larger_than_the_floats_counts_as_raw),
};

CHECK_MAIN(tests)
