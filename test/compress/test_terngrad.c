/* test_terngrad.c -- the codec terngrad, which rounds elements at random to 0 or +-scale: each element against
 * its random number, payload sizes, the scale that workers share, mean and variance. */
#include "rig/try.h"

#include "base/coin.h"
#include "coder/planes.h"

#include <float.h>

static const size_t sizes[] = {0,   1,   2,   3,   7,    8,     63,    64,    65,    319,   320,
                               321, 511, 512, 513, 1000, 20480, 65535, 65536, 65537, 200000};
static const char *const specs[] = {
    "terngrad",          "terngrad:code=2bit",          "terngrad:code=elias",
    "terngrad:share=on", "terngrad:code=2bit,share=on", "terngrad:code=elias,clip=2.5"};

static float scale_ref(const Try *t, double clip)
{
    double most = 0, mean = 0, spread = 0;
    for (size_t i = 0; i < t->shape.n; i++) {
        most = fmax(most, fabs((double)t->x[i]));
        mean += (double)t->x[i] / (double)t->shape.n;
    }
    for (size_t i = 0; i < t->shape.n; i++)
        spread += pow((double)t->x[i] - mean, 2) / (double)t->shape.n;
    const double scale = clip * sqrt(spread);
    return (float)(clip > 0 && scale > 0 && scale < most ? scale : most);
}

static void check_elements(const Try *t, float scale)
{
    for (size_t i = 0; i < t->shape.n; i++) {
        const RngKey key = rng_key(&t->call.rng, USE_COIN, i / BLOCK);
        const bool kept = scale > 0 && coin_keep(coin_make(scale), t->x[i], &key, (uint32_t)(i % BLOCK));
        check(t->y[i] == (kept ? copysignf(scale, t->x[i]) : 0));
        check(t->y[i] != 0 || !signbit(t->y[i]));
    }
}

static void every_size_and_code_comes_back_as_the_coin_has_it(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t k = 0; k < countof(sizes); k++) {
            Try *t = try_open(specs[s], sizes[k]);
            try_normal(t, 30 + k);
            try_both(t);
            const Bytes first = t->sent.round[0], last = t->sent.round[t->sent.rounds - 1];
            check(t->out.size <= raw_size(&t->call));
            if (last.data[0] == PAYLOAD_RAW) {
                assert_memory_equal(t->x, t->y, sizes[k] * sizeof(float));
                check(sizes[k] < 8);
                check(t->sent.rounds == 1 || first.size == 0);
            } else {
                const float scale = load_f32(first.data + 1);
                check_rel((double)scale, (double)scale_ref(t, strstr(specs[s], "clip") ? 2.5 : 0), 1.3e-7);
                check_elements(t, scale);
            }
            if (sizes[k] < 2000 || sizes[k] == 200000) {
                try_refuses_other_lengths(t);
                try_survives_flips(t, sizes[k] < 65 ? 1 : t->out.size * 8 / 200 + 1);
            }
            try_close(t);
        }
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 5 * BLOCK + 123);
        try_normal(t, 31);
        try_any_threads(t);
        try_close(t);
    }
}

static void payloads_have_the_stated_sizes(void **state)
{
    (void)state;
    for (size_t k = 0; k < countof(sizes); k++) {
        const size_t n = sizes[k], trits = 5 + (n + 4) / 5, two = 5 + planes_size(n, 2), raw = 4 * n + 1;
        Try *t = try_open("terngrad", n), *u = try_open("terngrad:code=2bit", n);
        try_normal(t, 32), try_normal(u, 32);
        try_both(t), try_both(u);
        assert_int_equal(t->out.size, trits < raw ? trits : raw);
        assert_int_equal(u->out.size, two < raw ? two : raw);
        try_close(t), try_close(u);
    }
}

static void damaged_scales_and_trits_are_refused(void **state)
{
    (void)state;
    static const float bad[] = {-1, -0.0f, INFINITY, NAN, 0};
    for (size_t s = 0; s < 3; s++) {
        Try *t = try_open(specs[s], 1000);
        try_normal(t, 33);
        try_both(t);
        for (size_t i = 0; i < countof(bad); i++) {
            store_f32(t->out.data + 1, bad[i]);
            check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
        }
        try_close(t);
    }
    Try *t = try_open("terngrad", 1000);
    try_both(t);
    t->out.data[100] = 243;
    check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
    try_close(t);
}

/* ---- scales shared by workers ---- */

static void workers_share_the_largest_scale(void **state)
{
    (void)state;
    enum { WORKERS = 5, COUNT = 3000 };
    Try *t[WORKERS];
    Bytes scale[WORKERS];
    uint8_t merged[64], both[64];
    float most = 0;
    for (int w = 0; w < WORKERS; w++) {
        t[w] = try_open("terngrad:share=on", COUNT);
        try_normal(t[w], 40 + (uint64_t)w);
        t[w]->call.worker = w;
        check_ok(codec_encode(&t[w]->call, t[w]->x, &t[w]->out), &t[w]->err);
        scale[w] = buf_bytes(&t[w]->out);
        assert_int_equal(scale[w].size, 5);
        most = fmaxf(most, load_f32(scale[w].data + 1));
    }
    const Compressor *ops = t[0]->codec->ops;
    Buf out = {merged, 0, sizeof merged}, out2 = {both, 0, sizeof both};
    check_ok(ops->merge(&t[0]->call, scale, 3, &out), &t[0]->err);
    const Bytes halves[] = {buf_bytes(&out), scale[3], scale[4]};
    check_ok(ops->merge(&t[0]->call, halves, 3, &out2), &t[0]->err);
    assert_int_equal(both[0], PAYLOAD_MERGED);
    assert_int_equal(both[1], WORKERS);
    check(load_f32(both + 2) == most);
    const Bytes heard = buf_bytes(&out2);
    for (int w = 0; w < WORKERS; w++) {
        Call call = t[w]->call;
        call.round = 1;
        call.heard = &heard;
        t[w]->out.size = 0;
        check_ok(codec_encode(&call, t[w]->x, &t[w]->out), &t[w]->err);
        assert_int_equal(t[w]->out.size, 1 + COUNT / 5);
        check_ok(codec_decode(&call, buf_bytes(&t[w]->out), t[w]->y), &t[w]->err);
        check_elements(t[w], most);
        double v = 0;
        for (size_t i = 0; i < COUNT; i++)
            v += fabs((double)t[w]->x[i]) * ((double)most - fabs((double)t[w]->x[i]));
        check_rel(codec_variance(&call, t[w]->x), v, 1e-12);
        check(ops->merge(&call, &heard, 1, &out) == ERR_USAGE);
        try_close(t[w]);
    }
}

static void damaged_shared_scales_are_refused(void **state)
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
        {{2, 0x83, 0, 0, 0, 0x80, 0x3f}, 7, ERR_CORRUPT},
        {{0, 0, 0, 0x80, 0x3f}, 5, ERR_CORRUPT},
        {{1, 0, 0, 0x80}, 4, ERR_CORRUPT},
        {{1, 0, 0, 0x80, 0x3f, 0}, 6, ERR_CORRUPT},
        {{1, 0, 0, 0x80, 0x7f}, 5, ERR_CORRUPT},
        {{1, 0, 0, 0x80, 0xbf}, 5, ERR_CORRUPT},
        {{0}, 0, ERR_CORRUPT},
    };
    Try *t = try_open("terngrad:share=on", 100);
    try_normal(t, 34);
    try_both(t);
    for (size_t i = 0; i < countof(rows); i++) {
        Message m = t->sent;
        uint8_t out[64];
        Buf merged = {out, 0, sizeof out};
        m.round[0] = (Bytes){rows[i].byte, rows[i].size};
        check(codec_receive(&t->call, &m, t->y) == rows[i].want);
        check(t->codec->ops->merge(&t->call, &m.round[0], 1, &merged) == rows[i].want);
    }
    /* the payload of round 0 has a scale and no gradient */
    check(codec_decode(&t->call, t->sent.round[0], t->y) == ERR_CORRUPT);
    try_close(t);
}

/* ---- special vectors ---- */

static void zeros_constants_and_extremes_are_exact(void **state)
{
    (void)state;
    static const float values[] = {0, -0.0f, 1, -3e-20f, 0x1p-149f, 0x1.8p-140f, FLT_MAX, -FLT_MAX};
    for (size_t v = 0; v < countof(values); v++)
        for (size_t s = 0; s < countof(specs); s++) {
            Try *t = try_open(specs[s], 700);
            for (size_t i = 0; i < 700; i++)
                t->x[i] = values[v];
            try_both(t);
            for (size_t i = 0; i < 700; i++)
                check(t->y[i] == values[v]);
            try_close(t);
        }
}

/* ---- mean and variance of draws ---- */

static void the_mean_is_what_was_sent_and_the_variance_what_is_told(void **state)
{
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        Try *t = try_open(specs[s], 4096);
        try_normal(t, 35);
        const double scale = (double)scale_ref(t, 0);
        TwoPoint *law = NEW(t->arena, TwoPoint, 4096);
        double v = 0;
        for (size_t i = 0; i < 4096; i++) {
            const double x = fabs((double)t->x[i]);
            law[i] = (TwoPoint){scale - x, -x, x / scale};
            v += x * (scale - x);
        }
        check_rel(codec_variance(&t->call, t->x), v, 1e-9);
        check(verdict_good(try_statistics(t, law, 4000, 1)));
        check(!verdict_good(try_statistics(t, law, 4000, 1.01)));
        try_close(t);
    }
}

static void clipping_gives_up_the_promise(void **state)
{
    (void)state;
    Try *plain = try_open("terngrad", 4096), *clip = try_open("terngrad:clip=2.5", 4096);
    check(codec_traits(plain->codec) & UNBIASED);
    check(!(codec_traits(clip->codec) & UNBIASED));
    try_normal(clip, 36);
    check(isnan(codec_variance(&clip->call, clip->x)));
    try_close(plain), try_close(clip);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_and_code_comes_back_as_the_coin_has_it),
    cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
    cmocka_unit_test(payloads_have_the_stated_sizes),
    cmocka_unit_test(damaged_scales_and_trits_are_refused),
    cmocka_unit_test(workers_share_the_largest_scale),
    cmocka_unit_test(damaged_shared_scales_are_refused),
    cmocka_unit_test(zeros_constants_and_extremes_are_exact),
    cmocka_unit_test(the_mean_is_what_was_sent_and_the_variance_what_is_told),
    cmocka_unit_test(clipping_gives_up_the_promise),
};

CHECK_MAIN(tests)
