/* test_induced.c -- the wrapper induced, which sends a vector with a first, biased codec, and the error of the
 * first codec with a second, unbiased codec. So the estimate is unbiased. */
#include "rig/draws.h"

enum { N = 700 };

static void laplace(float *x, size_t n, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, rng_hash("induced test"));
    for (size_t i = 0; i < n; i++) {
        const double u = rng_unit(&rng, USE_TEST, i) - 0.5;
        x[i] = (float)copysign(log1p(-2 * fabs(u)), u);
    }
}

static Shape matrix(void)
{
    return (Shape){.rank = 2, .dim = {20, 35}, .n = N};
}

/* The payload must be the payload of the first codec followed by that of the second codec. docs/FORMAT.md
 * specifies the random numbers of the second codec. */
TEST(payloads_are_both_codecs_one_behind_the_other)
{
    static const char *const specs[][3] = {
        {"induced:with=qsgd:bits=2,bucket=64+topk:ratio=0.1", "topk:ratio=0.1", "qsgd:bits=2,bucket=64"},
        {"induced:with=entry:ratio=0.05+scaledsign", "scaledsign", "entry:ratio=0.05"},
        {"induced+stc", "stc", "qsgd"},
        {"induced:with=natural+drive:scale=mse", "drive:scale=mse", "natural"}};
    for (size_t k = 0; k < countof(specs); k++) {
        Rig both, first, with;
        float x[N], rest[N];
        laplace(x, N, k);
        rig_open(&both, specs[k][0], matrix());
        rig_open(&first, specs[k][1], matrix());
        rig_open(&with, specs[k][2], matrix());
        check_ok(rig_encode(&both, x, 3), &both.err);
        check_ok(rig_decode(&both), &both.err);
        check_ok(rig_encode(&first, x, 3), &first.err);
        check_ok(rig_decode(&first), &first.err);
        for (size_t i = 0; i < N; i++)
            rest[i] = x[i] - first.decoded[i];
        rig_address(&with, 3, 0);
        with.call.rng = rng_below(&with.call.rng, 1);
        with.payload.size = 0;
        check_ok(codec_send(&with.call, rest, &with.payload, &with.message), &with.err);
        check_ok(rig_decode(&with), &with.err);
        Reader r = reader_open(buf_bytes(&both.payload));
        check(take_u8(&r) == PAYLOAD_METHOD && take_varint(&r) == first.payload.size);
        check(!memcmp(take_bytes(&r, first.payload.size), first.payload.data, first.payload.size));
        check(!memcmp(take_bytes(&r, with.payload.size), with.payload.data, with.payload.size) &&
              reader_done(&r));
        for (size_t i = 0; i < N; i++)
            check(both.decoded[i] == first.decoded[i] + with.decoded[i]);
        rig_close(&both);
        rig_close(&first);
        rig_close(&with);
    }
}

TEST(the_first_codecs_state_moves_as_if_alone)
{
    static const char *const specs[][2] = {{"induced+strom:tau=1", "strom:tau=1"},
                                           {"induced:with=natural+ef+topk:ratio=0.1", "ef+topk:ratio=0.1"},
                                           {"induced:with=natural+dgc:ratio=0.05", "dgc:ratio=0.05"}};
    for (size_t k = 0; k < countof(specs); k++) {
        Rig both, alone;
        float x[N];
        rig_open(&both, specs[k][0], matrix());
        rig_open(&alone, specs[k][1], matrix());
        const size_t size = codec_state_size(&alone.call);
        check(codec_state_size(&both.call) == size && size > 0 && codec_keeps_state(both.codec));
        for (uint64_t s = 0; s < 5; s++) {
            Rig *const rigs[] = {&both, &alone};
            laplace(x, N, s);
            for (size_t i = 0; i < 2; i++) {
                check_ok(rig_encode(rigs[i], x, s), &rigs[i]->err);
                check_ok(rig_decode(rigs[i]), &rigs[i]->err);
                check_ok(
                    codec_settle(&rigs[i]->call, x, rigs[i]->message.round, rigs[i]->decoded, rigs[i]->state),
                    &rigs[i]->err);
            }
            check(!memcmp(both.state, alone.state, size));
            check_rel(codec_residual(&both.call), codec_residual(&alone.call), 0);
        }
        rig_close(&both);
        rig_close(&alone);
    }
}

CHECK_ALL(NULL, NULL)
