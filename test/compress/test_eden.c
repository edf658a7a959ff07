/* test_eden.c -- the codecs drive and eden, which rotate a vector at random and round each element: estimates
 * against a slow decoder, bias, error, and invalid payloads. */
#include "rig/try.h"

#include "num/lloyd.h"
#include "coder/planes.h"
#include "num/rotation.h"

#include <float.h>

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
            if (n < 2000)
                try_refuses_other_lengths(t);
            if (n < 600)
                try_survives_flips(t, t->out.size * 8 / 200 + 1);
            try_close(t);
        }
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 5 * BLOCK + 1234);
        try_normal(t, 31);
        try_any_threads(t);
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

static void traits_promise_what_holds(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 1);
        const bool biased = strstr(specs[s], "rotations=1") || strstr(specs[s], "mse");
        check(!(codec_traits(t->codec) & UNBIASED) == biased);
        check(codec_traits(t->codec) & EXACT_BYTES);
        try_close(t);
    }
}

/* Workers use different rotations, so the mean of the estimates of 64 workers has 1 / 64 of the error. */
static void averaging_over_workers_pays(void **state)
{
    (void)state;
    enum { COUNT = 4096, WORKERS = 64 };
    Try *t = try_open("drive", COUNT);
    double *mean = NEW_ZERO(t->arena, double, COUNT), off = 0, size = 0;
    try_normal(t, 44);
    for (int w = 0; w < WORKERS; w++) {
        t->call.rng = rng_open(1, 0, w, 0, 0);
        t->call.worker = w;
        try_both(t);
        for (size_t i = 0; i < COUNT; i++)
            mean[i] += (double)t->y[i] / WORKERS;
    }
    for (size_t i = 0; i < COUNT; i++) {
        off += pow(mean[i] - (double)t->x[i], 2);
        size += (double)t->x[i] * (double)t->x[i];
    }
    check_rel(off / size, 0.5708 / WORKERS, 0.1);
    try_close(t);
}

/* ---- edge cases ---- */

static void extremes_keep_their_size_or_are_refused(void **state)
{
    (void)state;
    static const float values[] = {1, -3e-20f, 1e-29f, 1e30f, 1e37f, 0x1p-149f, FLT_MAX};
    for (size_t v = 0; v < countof(values); v++)
        for (size_t s = 0; s < countof(specs); s++) {
            Try *t = try_open(specs[s], 700);
            double xx = 0, xy = 0;
            for (size_t i = 0; i < 700; i++)
                t->x[i] = i % 3 ? values[v] : -values[v];
            const Status status = try_send(t);
            if (status == OK) {
                check_ok(codec_receive(&t->call, &t->sent, t->y), &t->err);
                for (size_t i = 0; i < 700; i++) {
                    xx += (double)t->x[i] * (double)t->x[i];
                    xy += (double)t->x[i] * (double)t->y[i];
                }
                check_rel(xy, xx, strstr(specs[s], "mse") ? 0.5 : 1e-5);
            } else
                check(status == ERR_NUMERIC && values[v] == FLT_MAX);
            check(values[v] != 0x1p-149f || t->out.data[0] == PAYLOAD_RAW);
            try_close(t);
        }
}

static void zeros_and_blocks_of_zeros_are_zeros(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 1200);
        try_both(t);
        for (size_t i = 0; i < 1200; i++)
            check(t->y[i] == 0);
        /* 1200 elements are rotated in blocks of 512, 256 and 432 elements */
        t->x[1199] = 1;
        try_both(t);
        for (size_t i = 0; i < 768; i++)
            check(t->y[i] == 0);
        check(t->y[1199] != 0);
        for (size_t i = 0; i < 1200; i++) /* the first block has the least denormals */
            t->x[i] = i < 512 ? 0x1p-149f : 1;
        try_both(t);
        try_close(t);
    }
}

static void damaged_scales_and_codes_are_refused(void **state)
{
    (void)state;
    static const float bad[] = {-1, -0.0f, INFINITY, NAN, 0, FLT_MAX};
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 100);
        try_normal(t, 33);
        try_both(t);
        for (size_t i = 0; i < countof(bad); i++) {
            store_f32(t->out.data + 1, bad[i]);
            check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
        }
        try_both(t);
        t->out.data[0] = PAYLOAD_MERGED;
        check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
        t->out.data[0] = PAYLOAD_METHOD;
        /* 36 codes of a bit plane take 5 bytes, whose padding bits must be 0 */
        if (bits_of(specs[s]) == (int)bits_of(specs[s])) {
            t->out.data[t->out.size - 1] |= 0x80;
            check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
        }
        try_close(t);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_comes_back_as_a_slow_decoder_has_it),
    cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
    cmocka_unit_test(scales_are_the_unbiased_one_and_the_one_of_least_error),
    cmocka_unit_test(one_round_leaves_a_bias_on_two_spikes_and_two_rounds_none),
    cmocka_unit_test(traits_promise_what_holds),
    cmocka_unit_test(averaging_over_workers_pays),
    cmocka_unit_test(extremes_keep_their_size_or_are_refused),
    cmocka_unit_test(zeros_and_blocks_of_zeros_are_zeros),
    cmocka_unit_test(damaged_scales_and_codes_are_refused),
};

CHECK_MAIN(tests)
