/* test_eden.c -- the codecs drive and eden, which rotate a vector at random and round each element: estimates
 * against a slow decoder, and scales. */
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

/* ---- edge cases ---- */

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_comes_back_as_a_slow_decoder_has_it),
    cmocka_unit_test(scales_are_the_unbiased_one_and_the_one_of_least_error),
};

CHECK_MAIN(tests)
