/* test_packed.c -- the wrappers zstd and blosc, which compress the payload of another codec (the inner codec)
 * without loss: estimates and sizes. */
#include "rig/codec_rig.h"
#include "rig/sources.h"
#include "compress/spec.h"

#include <blosc.h>
#include <zstd.h>

static const char *const backs[] = {"zstd", "blosc", "zstd:level=19", "blosc:shuffle=bit",
                                    "blosc:shuffle=off,level=9"};

static void normal(float *x, size_t n, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, rng_hash("packed test"));
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
}

static void rig_back(Rig *rig, const char *back, const char *inner, Shape shape)
{
    char spec[64];
    snprintf(spec, sizeof spec, "%s+%s", back, inner);
    rig_open(rig, spec, shape);
}

static void rig_pair(Rig *packed, Rig *plain, const char *back, const char *inner, size_t n)
{
    rig_back(packed, back, inner, shape_vector(n));
    rig_open(plain, inner, shape_vector(n));
}

TEST(values_and_states_are_the_inner_codecs)
{
    static const char *const inner[] = {"none",
                                        "ef+topk:ratio=0.01",
                                        "qsgd:bits=2,code=fixed",
                                        "ef+terngrad:share=on",
                                        "svd:rank=1",
                                        "strom",
                                        "ef21+scaledsign",
                                        "sign"};
    for (size_t b = 0; b < countof(backs); b++)
        for (size_t k = 0; k < countof(inner); k++) {
            Rig packed, plain;
            float x[2000];
            rig_pair(&packed, &plain, backs[b], inner[k], countof(x));
            const size_t size = codec_state_size(&plain.call);
            check(codec_state_size(&packed.call) == size && codec_keeps_state(packed.codec) == (size > 0));
            for (uint64_t s = 0; s < 3; s++) {
                Rig *const rigs[] = {&packed, &plain};
                normal(x, countof(x), s);
                for (size_t i = 0; i < 2; i++) {
                    check_ok(rig_encode(rigs[i], x, s), &rigs[i]->err);
                    check_ok(rig_decode(rigs[i]), &rigs[i]->err);
                    check_ok(codec_settle(&rigs[i]->call, x, rigs[i]->message.round, rigs[i]->decoded,
                                          rigs[i]->state),
                             &rigs[i]->err);
                }
                check(!memcmp(packed.decoded, plain.decoded, sizeof x) &&
                      packed.payload.size <= plain.payload.size + 1);
                check(!size || (!memcmp(packed.state, plain.state, size) &&
                                codec_residual(&packed.call) == codec_residual(&plain.call)));
            }
            const double v = codec_variance(&plain.call, x);
            check(isnan(v) ? isnan(codec_variance(&packed.call, x)) : v == codec_variance(&packed.call, x));
            rig_close(&packed);
            rig_close(&plain);
        }
}

TEST(what_does_not_shrink_is_sent_with_one_byte_more)
{
    static const char *const inner[] = {"qsgd:bits=4", "natural", "none"};
    for (size_t b = 0; b < countof(backs); b++)
        for (size_t k = 0; k < countof(inner); k++) {
            Rig packed, plain;
            float x[100]; /* so few that hardly any bytes repeat */
            normal(x, countof(x), k);
            rig_pair(&packed, &plain, backs[b], inner[k], countof(x));
            check_ok(rig_encode(&packed, x, 0), &packed.err);
            check_ok(rig_encode(&plain, x, 0), &plain.err);
            if (packed.payload.data[0] == 0)
                check(packed.payload.size == plain.payload.size + 1 &&
                      !memcmp(packed.payload.data + 1, plain.payload.data, plain.payload.size));
            else
                check(packed.payload.data[0] == 1 && packed.payload.size <= plain.payload.size);
            rig_close(&packed);
            rig_close(&plain);
        }
}

CHECK_ALL(NULL, NULL)
