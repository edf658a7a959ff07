/* test_shift.c -- the wrappers ef, ef21 and diana over many steps. With ef, the estimates plus the residual add
 * up to the gradients. ef21 and diana subtract a vector, the shift, from each gradient, and add it when
 * decoding. */
#include "rig/codec_rig.h"
#include "rig/sources.h"
#include "math/stats.h"

enum { N = 600, WORKERS = 3 };

static void normal(float *x, size_t n, const char *name)
{
    const Rng rng = rng_open(1, 0, 0, 0, rng_hash(name));
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
}

static double distance2(const float *x, const float *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
    return sum;
}

/* Runs one step of one worker and returns |decoded - x|^2. */
static double step(Rig *rig, const float *x, uint64_t repeat)
{
    check_ok(rig_encode(rig, x, repeat), &rig->err);
    check_ok(rig_decode(rig), &rig->err);
    const double off = distance2(rig->decoded, x, rig->shape.n);
    check_ok(codec_settle(&rig->call, x, rig->message.round, rig->decoded, rig->state), &rig->err);
    return off;
}

TEST(residual_plus_output_is_the_input_of_error_feedback)
{
    static const char *const specs[] = {"ef+topk:ratio=0.1", "ef+qsgd:bits=2", "ef:decay=0.5+sign",
                                        "ef+scaledsign", "ef+svd:rank=1"};
    for (size_t k = 0; k < countof(specs); k++) {
        Rig rig;
        float x[N], before[N] = {0};
        rig_open(&rig, specs[k], shape_vector(N));
        const float decay = strstr(specs[k], "0.5") ? 0.5f : 1;
        for (uint64_t s = 0; s < 5; s++) {
            normal(x, N, s % 2 ? "odd" : "even");
            step(&rig, x, s);
            const float *after = rig.state;
            for (size_t i = 0; i < N; i++) {
                const float input = x[i] + decay * before[i];
                check_near((double)after[i] + (double)rig.decoded[i], (double)input,
                           1e-7 * (fabs((double)input) + fabs((double)rig.decoded[i])));
                before[i] = after[i];
            }
        }
        rig_close(&rig);
    }
}

/* Its payload is the inner codec's, if that begins with a byte of its own. */
static void check_next_shift(const char *shifted, const char *plain)
{
    Rig rig, inner;
    float x[N], t[N], h[N] = {0};
    rig_open(&rig, shifted, shape_vector(N));
    rig_open(&inner, plain, shape_vector(N));
    for (uint64_t s = 0; s < 6; s++) {
        normal(x, N, s % 2 ? "odd" : "even");
        for (size_t i = 0; i < N; i++)
            t[i] = x[i] - h[i];
        check_ok(rig_encode(&inner, t, s), &inner.err);
        check_ok(rig_decode(&inner), &inner.err);
        step(&rig, x, s);
        check(rig.payload.size == inner.payload.size &&
              !memcmp(rig.payload.data, inner.payload.data, inner.payload.size));
        for (size_t i = 0; i < N; i++) {
            h[i] = (float)((double)h[i] + 0.25 * (double)inner.decoded[i]);
            check(h[i] == rig.decoded[i]);
        }
    }
    rig_close(&rig);
    rig_close(&inner);
}

TEST(ef21_decodes_to_its_next_shift)
{
    check_next_shift("ef21:alpha=0.25+minmax:bits=2", "minmax:bits=2");
    check_next_shift("ef21:alpha=0.25+zstd+none", "zstd+none");
}

/* The closed form of |decoded - x|^2 is its mean over many draws, at the first step and at the third, for any share
 * alpha of an unbiased codec. The mean may differ by five standard errors. */
TEST(the_closed_form_of_the_variance_is_the_mean_over_draws)
{
    enum { DRAWS = 600 };
    static const char *const specs[] = {"ef21:alpha=0.25+qsgd:bits=2", "ef21:alpha=0.6+natural",
                                        "ef21:alpha=0.5+randk:ratio=0.5", "ef21+qsgd:bits=2",
                                        "diana:alpha=0.3+qsgd:bits=2",    "diana+natural"};
    for (size_t k = 0; k < countof(specs); k++) {
        Rig rig;
        float x[N];
        rig_open(&rig, specs[k], shape_vector(N));
        for (uint64_t s = 0; s < 3; s++) {
            Moments m = {0};
            normal(x, N, s % 2 ? "odd" : "even");
            const double expected = codec_variance(&rig.call, x);
            for (uint64_t r = 0; r < DRAWS; r++) {
                check_ok(rig_encode(&rig, x, 10 * r + s), &rig.err);
                check_ok(rig_decode(&rig), &rig.err);
                moments_add(&m, distance2(rig.decoded, x, N));
            }
            check_near(m.mean, expected, 5 * sqrt(moments_variance(&m) / DRAWS) + 1e-6 * expected);
            step(&rig, x, s);
        }
        rig_close(&rig);
    }
}

/* Around its mean the estimate's error is alpha times that of the inner codec, so the sum of the squared variances of its atoms is
 * alpha^4 times as large. */
TEST(the_variance_of_each_atom_has_the_square_of_alpha)
{
    static const char *const inner[] = {"svd:rank=1", "hadamard:ratio=0.1"};
    float x[N];
    normal(x, N, "fixed");
    for (size_t k = 0; k < countof(inner); k++) {
        Rig plain, shifted;
        AtomMoments a, b;
        char spec[64];
        snprintf(spec, sizeof spec, "ef21:alpha=0.5+%s", inner[k]);
        rig_open(&plain, inner[k], (Shape){.rank = 2, .dim = {20, 30}, .n = N});
        rig_open(&shifted, spec, (Shape){.rank = 2, .dim = {20, 30}, .n = N});
        check(codec_moments(&plain.call, x, &a) == ATOMWISE && codec_moments(&shifted.call, x, &b) == ATOMWISE);
        check_near(b.squares, a.squares / 16, 1e-9 * a.squares);
        rig_close(&plain);
        rig_close(&shifted);
    }
}

TEST(merged_payloads_decode_to_the_sum_over_many_steps)
{
    static const char *const specs[] = {"ef21+none",
                                        "diana+randk:ratio=0.2",
                                        "ef21:alpha=0.3+randk:ratio=0.2",
                                        "ef21:alpha=0.3+diana+randk:ratio=0.2",
                                        "diana+ef21:alpha=0.2+randk:ratio=0.2",
                                        "diana:alpha=0.5+none",
                                        "ef21+ef+none"};
    for (size_t k = 0; k < countof(specs); k++) {
        Rig rig[WORKERS];
        float x[N], mean[N], sum[N];
        for (int w = 0; w < WORKERS; w++)
            rig_open(&rig[w], specs[k], shape_vector(N));
        check(codec_traits(rig[0].codec) & LINEAR && codec_traits(rig[0].codec) & DECODES_STATE);
        for (uint64_t s = 0; s < 5; s++) {
            double total[N] = {0};
            Bytes sent[WORKERS];
            const float *own[WORKERS];
            float kept[WORKERS][N];
            for (int w = 0; w < WORKERS; w++) {
                const char names[][8] = {"a", "b", "c"};
                normal(x, N, names[w]);
                memcpy(kept[w], x, sizeof x);
                check_ok(rig_encode_as(&rig[w], x, s, w), &rig[w].err);
                check_ok(rig_decode(&rig[w]), &rig[w].err);
                sent[w] = rig[w].message.round[0];
                own[w] = rig[w].decoded;
                for (size_t i = 0; i < N; i++)
                    total[i] += (double)own[w][i];
            }
            uint8_t room[4 * WORKERS * N + 64];
            Buf merged = {room, 0, sizeof room};
            check_ok(codec_merge(&rig[0].call, sent, WORKERS, &merged), &rig[0].err);
            check_ok(rig_decode_bytes(&rig[0], merged.data, merged.size, sum), &rig[0].err);
            const Bytes heard = buf_bytes(&merged);
            for (size_t i = 0; i < N; i++) {
                check_near((double)sum[i], total[i], 1e-6 * (40 + fabs(total[i])));
                mean[i] = sum[i] / WORKERS;
            }
            for (int w = 0; w < WORKERS; w++) {
                rig[w].call.heard = &heard;
                check_ok(codec_settle(&rig[w].call, kept[w], &sent[w], mean, rig[w].state), &rig[w].err);
                rig[w].call.heard = NULL;
            }
        }
        for (int w = 0; w < WORKERS; w++)
            rig_close(&rig[w]);
    }
}

CHECK_ALL(NULL, NULL)
