/* test_terngrad.c -- the codec terngrad, which rounds elements at random to 0 or +-scale: the scale that
 * workers share. */
#include "rig/try.h"

#include "base/coin.h"

static void check_elements(const Try *t, float scale)
{
    for (size_t i = 0; i < t->shape.n; i++) {
        const RngKey key = rng_key(&t->call.rng, USE_COIN, i / BLOCK);
        const bool kept = scale > 0 && coin_keep(coin_make(scale), t->x[i], &key, (uint32_t)(i % BLOCK));
        check(t->y[i] == (kept ? copysignf(scale, t->x[i]) : 0));
        check(t->y[i] != 0 || !signbit(t->y[i]));
    }
}

/* ---- scales shared by workers ---- */

TEST(workers_share_the_largest_scale)
{
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

CHECK_ALL(NULL, NULL)
