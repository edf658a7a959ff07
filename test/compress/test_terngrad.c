/* test_terngrad.c -- the codec terngrad, which rounds elements at random to 0 or +-scale: each element against
 * its random number, and the scale that workers share. */
#include "rig/try.h"

#include "base/coin.h"

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
            try_close(t);
        }
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

/* ---- mean and variance of draws ---- */

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_and_code_comes_back_as_the_coin_has_it),
    cmocka_unit_test(workers_share_the_largest_scale),
};

CHECK_MAIN(tests)
