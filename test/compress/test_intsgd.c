/* test_intsgd.c -- the codec intsgd, which rounds elements at random to integer multiples of a scale that all
 * workers share: estimates against qsgd, merged payloads, mean, variance and damaged payloads. */
#include "rig/crowd.h"

#include "coder/planes.h"

#include <float.h>

static const size_t sizes[] = {0, 1, 2, 3, 4, 7, 63, 64, 65, 500, 4097, 65535, 65536, 65537, 200000};

/* ---- tests with one worker ---- */

/* intsgd and qsgd with norm=linf and the same number of levels round with the same random numbers. */
static void numbers_are_those_of_qsgd_under_the_largest_magnitude(void **state)
{
    (void)state;
    for (int bits = 2; bits <= 16; bits += bits < 4 ? 1 : 4)
        for (int share = 0; share < 2; share++)
            for (size_t k = 0; k < countof(sizes); k++) {
                char spec[64], other[64];
                snprintf(spec, sizeof spec, "intsgd:bits=%d,share=%s", bits, share ? "on" : "off");
                snprintf(other, sizeof other, "qsgd:levels=%d,bucket=0,norm=linf,code=fixed",
                         (1 << (bits - 1)) - 1);
                Try *t = try_open(spec, sizes[k]), *q = try_open(other, sizes[k]);
                try_normal(t, 30 + k), try_normal(q, 30 + k);
                try_both(t), try_both(q);
                const Bytes last = t->sent.round[share], raw = q->sent.round[0];
                const size_t head = share ? 1 : 5, own = head + planes_size(sizes[k], bits);
                const bool floats = own + 5 * (size_t)share >= 4 * sizes[k] + 1;
                assert_int_equal(last.data[0], floats ? PAYLOAD_RAW : PAYLOAD_METHOD);
                if (last.data[0] == PAYLOAD_METHOD) {
                    assert_int_equal(last.size, own);
                    check(load_f32(t->sent.round[0].data + 1) == load_f32(raw.data + 1));
                } else {
                    assert_int_equal(last.size, 4 * sizes[k] + 1);
                    check(!share || t->sent.round[0].size == 0);
                }
                if ((last.data[0] == PAYLOAD_RAW) == (raw.data[0] == PAYLOAD_RAW))
                    assert_memory_equal(t->y, q->y, sizes[k] * sizeof(float));
                if (sizes[k] < 600) {
                    try_refuses_other_lengths(t);
                    try_survives_flips(t, last.size * 8 / 300 + 1);
                }
                try_close(t), try_close(q);
            }
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    static const char *const specs[] = {"intsgd", "intsgd:share=off", "intsgd:bits=10"};
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 5 * BLOCK + 123);
        try_normal(t, 31);
        try_any_threads(t);
        try_close(t);
    }
}

/* The largest magnitude is the highest level, so in every draw the element must decode exactly. */
static void nothing_is_clipped(void **state)
{
    (void)state;
    static const float values[] = {0, -0.0f, 1, -3e-20f, 0x1p-149f, 0x1.8p-140f, 3e38f, -3e38f};
    for (size_t v = 0; v < countof(values); v++)
        for (int bits = 2; bits <= 16; bits += 7) {
            char spec[32];
            snprintf(spec, sizeof spec, "intsgd:bits=%d", bits);
            Try *t = try_open(spec, 700);
            for (size_t i = 0; i < 700; i++)
                t->x[i] = i % 3 ? values[v] : i % 2 ? -values[v] : 0;
            for (uint64_t r = 0; r < 4; r++) {
                try_repeat(t, r);
                try_both(t);
                for (size_t i = 0; i < 700; i++)
                    check_near((double)t->y[i], (double)t->x[i], 2e-7 * fabs((double)t->x[i]));
            }
            try_close(t);
        }
}

static void a_scale_at_the_end_of_float32_works_or_is_refused(void **state)
{
    (void)state;
    for (int bits = 2; bits <= 16; bits++) {
        char spec[32];
        snprintf(spec, sizeof spec, "intsgd:bits=%d", bits);
        Try *t = try_open(spec, 100);
        t->x[50] = -FLT_MAX;
        const Status status = try_send(t);
        check(status == OK || status == ERR_NUMERIC);
        if (status == OK)
            check_ok(codec_receive(&t->call, &t->sent, t->y), &t->err);
        try_close(t);
    }
}

/* ---- tests with several workers ---- */

static void merged_numbers_decode_to_the_sum(void **state)
{
    (void)state;
    static const int wider[] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 4};
    static const int widths[] = {2, 7, 8, 13};
    for (size_t b = 0; b < countof(widths); b++)
        for (int workers = 1; workers <= 9; workers += 1 + workers / 3) {
            char spec[32];
            const size_t n = b == 2 ? BLOCK + 77 : 3001;
            snprintf(spec, sizeof spec, "intsgd:bits=%d", widths[b]);
            Crowd k = crowd_open(spec, n, workers);
            for (int w = 0; w < workers; w++)
                try_normal(k.t[w], 60 + (uint64_t)w);
            crowd_run(&k);
            assert_int_equal(k.merged.size, 2 + planes_size(n, widths[b] + wider[workers]));
            for (size_t i = 0; i < n; i++) {
                double sum = 0, size = 0;
                for (int w = 0; w < workers; w++) {
                    sum += (double)k.t[w]->y[i];
                    size += fabs((double)k.t[w]->y[i]);
                }
                check_near((double)k.sum[i], sum, 3e-7 * size);
            }
            crowd_merges_in_any_order(&k);
            crowd_refuses_other_lengths(&k);
            crowd_close(&k);
        }
}

/* All workers send the highest level, or all send the lowest, so the sums are extreme. */
static void sums_do_not_overflow(void **state)
{
    (void)state;
    for (int bits = 2; bits <= 16; bits += 2) {
        char spec[32];
        snprintf(spec, sizeof spec, "intsgd:bits=%d", bits);
        Crowd k = crowd_open(spec, 200, 8);
        for (int w = 0; w < 8; w++)
            for (size_t i = 0; i < 200; i++)
                k.t[w]->x[i] = i % 2 ? 0.75f : -0.75f;
        crowd_run(&k);
        for (size_t i = 0; i < 200; i++)
            check_near((double)k.sum[i], i % 2 ? 6 : -6, 1e-6);
        crowd_close(&k);
    }
}

static void short_tensors_merge_as_floats(void **state)
{
    (void)state;
    for (size_t n = 0; n < 3; n++) {
        Crowd k = crowd_open("intsgd", n, 3);
        for (int w = 0; w < 3; w++)
            for (size_t i = 0; i < n; i++)
                k.t[w]->x[i] = (float)(w + 1) + 0.1f * (float)i;
        crowd_run(&k);
        assert_int_equal(k.heard.size, 0);
        assert_int_equal(k.merged.size, 2 + 4 * n);
        for (size_t i = 0; i < n; i++)
            check_near((double)k.sum[i], 6 + 0.3 * (double)i, 1e-6);
        crowd_merges_in_any_order(&k);
        crowd_refuses_other_lengths(&k);
        crowd_close(&k);
    }
}

static void what_cannot_merge_is_refused(void **state)
{
    (void)state;
    enum { MANY = 257 };
    Try *t = try_open("intsgd:share=off", 100);
    uint8_t room[4096];
    Buf out = {room, 0, sizeof room};
    try_normal(t, 61);
    try_both(t);
    const Bytes own = t->sent.round[0];
    check(codec_merge(&t->call, &own, 1, &out) == ERR_USAGE);
    check(!(codec_traits(t->codec) & LINEAR));
    try_close(t);

    Crowd k = crowd_open("intsgd:bits=16", 64, 1);
    Bytes many[MANY];
    try_normal(k.t[0], 62);
    crowd_run(&k);
    check(codec_traits(k.t[0]->codec) & LINEAR);
    for (size_t i = 0; i < MANY; i++)
        many[i] = k.last[0];
    check_ok(codec_merge(&k.call[0], many, MANY - 1, &out), &k.t[0]->err);
    check_ok(codec_decode(&k.call[0], buf_bytes(&out), k.t[0]->x), &k.t[0]->err);
    for (size_t i = 0; i < 64; i++)
        check_rel((double)k.t[0]->x[i], 256 * (double)k.t[0]->y[i], 1e-6);
    check(codec_merge(&k.call[0], many, MANY, &out) == ERR_NUMERIC);
    /* the merged payload of round 0 has the shared scale but no gradient */
    check(codec_decode(&k.call[0], k.heard, k.t[0]->y) == ERR_CORRUPT);
    crowd_close(&k);
}

static void damaged_scales_and_sums_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint8_t byte[8];
        size_t size;
        Status want;
    } rows[] = {
        {{1, 0, 0, 0x80, 0x3f}, 5, OK},
        {{2, 3, 0, 0, 0x80, 0x3f}, 6, OK},
        {{2, 0, 0, 0, 0x80, 0x3f}, 6, ERR_CORRUPT}, /* a maximum over 0 workers */
        {{0, 0, 0, 0x80, 0x3f}, 5, ERR_CORRUPT},
        {{1, 0, 0, 0x80}, 4, ERR_CORRUPT},
        {{1, 0, 0, 0x80, 0x3f, 0}, 6, ERR_CORRUPT},
        {{1, 0, 0, 0x80, 0x7f}, 5, ERR_CORRUPT},
        {{1, 0, 0, 0x80, 0xbf}, 5, ERR_CORRUPT},
        {{1, 0, 0, 0, 0}, 5, ERR_CORRUPT}, /* non-zero levels with a scale of 0 */
        {{0}, 0, ERR_CORRUPT},
    };
    Try *t = try_open("intsgd", 100);
    try_normal(t, 63);
    try_both(t);
    for (size_t i = 0; i < countof(rows); i++) {
        Message m = t->sent;
        m.round[0] = (Bytes){rows[i].byte, rows[i].size};
        check(codec_receive(&t->call, &m, t->y) == rows[i].want);
    }
    uint8_t sum[2 + 8 * 16] = {2, 200, 1}, code[100];
    for (size_t i = 0; i < 100; i++)
        code[i] = 255; /* with bits=8, codes are at most 254 */
    sum[0] = 2, sum[1] = 1;
    planes_put8(code, 100, 8, sum + 2);
    check(try_payload(t, (Bytes){sum, 2 + planes_size(100, 8)}) == ERR_CORRUPT);
    sum[0] = 1;
    memmove(sum + 1, sum + 2, planes_size(100, 8));
    check(try_payload(t, (Bytes){sum, 1 + planes_size(100, 8)}) == ERR_CORRUPT);
    try_close(t);
}

/* ---- mean and variance of draws ---- */

static void the_mean_is_what_was_sent_and_the_variance_what_is_told(void **state)
{
    (void)state;
    static const int widths[] = {2, 4, 8};
    for (size_t b = 0; b < countof(widths); b++) {
        char spec[32];
        snprintf(spec, sizeof spec, "intsgd:bits=%d", widths[b]);
        Try *t = try_open(spec, 4096);
        TwoPoint *law = NEW(t->arena, TwoPoint, 4096);
        double most = 0, v = 0;
        try_normal(t, 35);
        for (size_t i = 0; i < 4096; i++)
            most = fmax(most, fabs((double)t->x[i]));
        const double unit = most / ((1 << (widths[b] - 1)) - 1);
        for (size_t i = 0; i < 4096; i++) {
            const double f = (double)t->x[i] / unit - floor((double)t->x[i] / unit);
            law[i] = (TwoPoint){(1 - f) * unit, -f * unit, f};
            v += f * (1 - f) * unit * unit;
        }
        check_rel(codec_variance(&t->call, t->x), v, 1e-9);
        check(verdict_good(try_statistics(t, law, 1500, 1)));
        check(!verdict_good(try_statistics(t, law, 1500, 1.01)));
        try_close(t);
    }
}

/* The vector of worker 1 is four times as large, so worker 1 determines the shared scale. */
static void the_variance_is_that_of_the_shared_scale(void **state)
{
    (void)state;
    Crowd k = crowd_open("intsgd:bits=5", 3000, 2);
    double most = 0, v = 0;
    try_normal(k.t[0], 64), try_normal(k.t[1], 65);
    for (size_t i = 0; i < 3000; i++) {
        k.t[1]->x[i] *= 4;
        most = fmax(most, fabs((double)k.t[1]->x[i]));
    }
    crowd_run(&k);
    for (size_t i = 0; i < 3000; i++) {
        const double t = (double)k.t[0]->x[i] * 15 / most, f = t - floor(t);
        v += most / 15 * (most / 15) * f * (1 - f);
    }
    check_rel(codec_variance(&k.call[0], k.t[0]->x), v, 1e-9);
    crowd_close(&k);
}

static void errors_and_bits_are_those_of_the_closed_form(void **state)
{
    (void)state;
    static const char *const specs[] = {"intsgd", "intsgd:bits=4,share=off"};
    for (int law = 0; law < 2; law++)
        for (size_t s = 0; s < countof(specs); s++) {
            Try *t = try_open(specs[s], 65536);
            double square = 0, mse = 0;
            (law ? try_laplace : try_normal)(t, 20);
            for (size_t i = 0; i < 65536; i++)
                square += (double)t->x[i] * (double)t->x[i];
            for (uint64_t r = 0; r < 10; r++) {
                try_repeat(t, r);
                try_both(t);
                for (size_t i = 0; i < 65536; i++)
                    mse += pow((double)t->y[i] - (double)t->x[i], 2) / 10;
            }
            const double v = codec_variance(&t->call, t->x), bits = 8 * (double)t->out.size / 65536;
            print_message("%s %-7s error %.6f (closed form %.6f)  bits %.4f\n", specs[s],
                          law ? "laplace" : "normal", mse / square, v / square, bits);
            check_rel(mse, v, 0.03);
            check_near(bits, s ? 4 : 8, 0.001);
            try_close(t);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_are_those_of_qsgd_under_the_largest_magnitude),
    cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
    cmocka_unit_test(nothing_is_clipped),
    cmocka_unit_test(a_scale_at_the_end_of_float32_works_or_is_refused),
    cmocka_unit_test(merged_numbers_decode_to_the_sum),
    cmocka_unit_test(sums_do_not_overflow),
    cmocka_unit_test(short_tensors_merge_as_floats),
    cmocka_unit_test(what_cannot_merge_is_refused),
    cmocka_unit_test(damaged_scales_and_sums_are_refused),
    cmocka_unit_test(the_mean_is_what_was_sent_and_the_variance_what_is_told),
    cmocka_unit_test(the_variance_is_that_of_the_shared_scale),
    cmocka_unit_test(errors_and_bits_are_those_of_the_closed_form),
};

CHECK_MAIN(tests)
