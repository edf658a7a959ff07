/* test_svd_cases.c -- the codec svd (spectral ATOMO) in cases with known results: the probabilities of
 * Algorithm 1 against clipped ones, and repeated draws. */
#include "rig/codec_rig.h"
#include "rig/network_shapes.h"

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
    cmocka_unit_test(algorithm_1_beats_clipping_at_the_same_expected_number),
    cmocka_unit_test(neither_method_nor_draw_changes_the_variance),
    cmocka_unit_test(resampling_never_sends_nothing_and_is_biased_as_known),
    cmocka_unit_test(a_draw_larger_than_the_floats_counts_as_raw),
};

CHECK_MAIN(tests)
