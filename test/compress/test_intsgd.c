/* test_intsgd.c -- the codec intsgd, which rounds elements at random to integer multiples of a scale that all
 * workers share: estimates against qsgd, sums at their limit, and the variance under a shared scale. */
#include "rig/crowd.h"

#include "coder/planes.h"

static const size_t sizes[] = {0, 1, 2, 3, 4, 7, 63, 64, 65, 500, 4097, 65535, 65536, 65537, 200000};

/* ---- tests with one worker ---- */

/* intsgd and qsgd with norm=linf and the same number of levels round with the same random numbers. */
TEST(numbers_are_those_of_qsgd_under_the_largest_magnitude)
{
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
                try_close(t), try_close(q);
            }
}

/* ---- tests with several workers ---- */

/* All workers send the highest level, or all send the lowest, so the sums are extreme. */
TEST(sums_do_not_overflow)
{
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

/* ---- mean and variance of draws ---- */

/* The vector of worker 1 is four times as large, so worker 1 determines the shared scale. */
TEST(the_variance_is_that_of_the_shared_scale)
{
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

CHECK_ALL(NULL, NULL)
