/* test_eden.c -- the codecs drive and eden, which rotate a vector at random and round each element: estimates
 * against a slow decoder, scales and bias. */
#include "rig/try.h"

#include "math/best_levels.h"
#include "coder/planes.h"
#include "math/rotation.h"

static const size_t sizes[] = {0,   1,   2,    63,   64,   65,   128,   200,   255,   256,   257,
                               512, 600, 1000, 1023, 1200, 4096, 65535, 65536, 65537, 65792, 200000};
static const char *const specs[] = {"drive",
                                    "drive:scale=mse",
                                    "drive:rotations=1",
                                    "eden",
                                    "eden:bits=0.2",
                                    "eden:bits=1",
                                    "eden:bits=2.51",
                                    "eden:bits=8",
                                    "eden:bits=4,rotations=1",
                                    "eden:bits=1.999",
                                    "eden:bits=7.5"};

/* Decodes a payload one code at a time. `bits` (per element), `rounds` (of rotation) and `drive` are those of
 * the spec. */
static void slow_decode(const Try *t, double bits, int rounds, bool drive, float *y)
{
    Reader r = reader_open(buf_bytes(&t->out));
    const int w = (int)bits;
    check(take_u8(&r) == PAYLOAD_METHOD);
    for (size_t p = 0; p < rotation_pieces(t->shape.n); p++)
        for (size_t at = 0, end = rotation_piece(t->shape.n, p), n; at < end; at += n) {
            n = rotation_block(end - at);
            size_t wide = (size_t)((bits - w) * (double)n + 0.5);
            if (!w && wide < 32)
                wide = 32;
            const float scale = take_f32(&r);
            float *z = y + p * BLOCK + at;
            uint8_t *code = NEW(t->scratch, uint8_t, n);
            check(planes_get8(take_bytes(&r, planes_size(wide, w + 1)), wide, w + 1, code));
            if (w)
                check(planes_get8(take_bytes(&r, planes_size(n - wide, w)), n - wide, w, code + wide));
            for (size_t i = 0; i < n; i++) {
                const int width = i < wide ? w + 1 : w, count = width ? 1 << (width - 1) : 0;
                const float level = !width ? 0 : (drive ? 1 : lloyd_levels(width)[code[i] % count]) * scale;
                z[i] = width && code[i] >= count ? -level : level;
            }
            const Rotation turn = rotation_open(&t->call.rng, p, at, rounds);
            rotation_turn_back(&turn, z, n);
        }
    check(reader_done(&r));
}

static double bits_of(const char *spec)
{
    const char *bits = strstr(spec, "bits=");
    return bits ? atof(bits + 5) : strncmp(spec, "eden", 4) ? 1 : 2;
}

static void every_size_comes_back_as_a_slow_decoder_has_it(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t k = 0; k < countof(sizes); k++) {
            const size_t n = sizes[k];
            Try *t = try_open(specs[s], n);
            try_normal(t, 30 + k);
            try_both(t);
            if (n < ROTATION_SHORTEST) {
                assert_int_equal(t->out.size, raw_size(&t->call));
                assert_memory_equal(t->x, t->y, n * sizeof(float));
            } else {
                float *want = NEW(t->arena, float, n);
                const int rounds = strstr(specs[s], "rotations=1") ? 1 : 2;
                slow_decode(t, bits_of(specs[s]), rounds, specs[s][0] == 'd', want);
                for (size_t i = 0; i < n; i++)
                    check(t->y[i] == want[i]);
            }
            try_close(t);
        }
}

/* ---- the default scale of estimates (no bias) and scale=mse (least error) ---- */

/* Every estimate y must have <y, x> = |x|^2 with the default scale, and <y - x, y> = 0 with scale=mse. */
static void scales_are_the_unbiased_one_and_the_one_of_least_error(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t n = 64; n < 200000; n = n * 5 + 7) {
            Try *t = try_open(specs[s], n);
            double xx = 0, xy = 0, yy = 0;
            try_laplace(t, 40);
            try_both(t);
            for (size_t i = 0; i < n; i++) {
                xx += (double)t->x[i] * (double)t->x[i];
                xy += (double)t->x[i] * (double)t->y[i];
                yy += (double)t->y[i] * (double)t->y[i];
            }
            if (strstr(specs[s], "mse"))
                check_rel(xy, yy, 1e-5);
            else
                check_rel(xy, xx, 1e-5);
            try_close(t);
        }
}

/* Returns |m - x|^2 / |x|^2 for an x with two non-zero elements (spikes) and the mean m of `repeats`
 * estimates. */
static double bias_on_two_spikes(const char *spec, size_t n, size_t repeats)
{
    Try *t = try_open(spec, n);
    double *mean = NEW_ZERO(t->arena, double, n), off = 0;
    t->x[n / 5] = 1;
    t->x[n / 2] = 0.9f; /* after one round, all signs depend on the larger spike only */
    for (uint64_t r = 0; r < repeats; r++) {
        try_repeat(t, r);
        try_both(t);
        for (size_t i = 0; i < n; i++)
            mean[i] += (double)t->y[i] / (double)repeats;
    }
    for (size_t i = 0; i < n; i++)
        off += pow(mean[i] - (double)t->x[i], 2);
    try_close(t);
    return off / 1.81;
}

/* If x has two spikes of nearly equal size, drive with one round of rotation is biased. With two rounds drive
 * is unbiased: the mean of R estimates has the relative squared error 0.571 / R. */
static void one_round_leaves_a_bias_on_two_spikes_and_two_rounds_none(void **state)
{
    (void)state;
    static const size_t powers[] = {64, 256, 1024}, others[] = {100, 300, 1000};
    for (size_t i = 0; i < countof(powers); i++) {
        print_message("two spikes in %zu: %.4f, %.4f of the square after one round and two\n", powers[i],
                      bias_on_two_spikes("drive:rotations=1", powers[i], 1000),
                      bias_on_two_spikes("drive", powers[i], 1000));
        check(bias_on_two_spikes("drive:rotations=1", powers[i], 200) > 0.2);
        check(bias_on_two_spikes("drive", powers[i], 1000) < 1.3 * 0.571 / 1000);
        check(bias_on_two_spikes("eden", powers[i], 1000) < 1.3 * 0.133 / 1000);
    }
    for (size_t i = 0; i < countof(others); i++) {
        check(bias_on_two_spikes("drive", others[i], 1000) < 1.3 * 0.571 / 1000);
        check(bias_on_two_spikes("eden:bits=0.5", others[i], 1000) < 1.3 * (M_PI - 1) / 1000);
    }
}

/* ---- edge cases ---- */

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_comes_back_as_a_slow_decoder_has_it),
    cmocka_unit_test(scales_are_the_unbiased_one_and_the_one_of_least_error),
    cmocka_unit_test(one_round_leaves_a_bias_on_two_spikes_and_two_rounds_none),
};

CHECK_MAIN(tests)
