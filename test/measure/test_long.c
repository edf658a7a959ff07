/* test_long.c -- measures of a vector so long that only repeat 0 has a Wasserstein distance, checked against sums in
 * double over estimates that the test decodes itself. */
#include "rig/check.h"
#include "compress/spec.h"
#include "measure/compare.h"
#include "math/radix.h"

static float value_at(size_t i, uint32_t key)
{
    const uint32_t u = rng_mix((uint32_t)i, key);
    return 1e-4f * ((float)(u & 1023) - 511.5f + (float)(u >> 10 & 255) / 256);
}

enum { LONG = (1 << 22) + 1027 };

typedef struct {
    Vector vector;
    VectorList list;
    double variance, bias, wasserstein;
} Bench;

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    (void)data, (void)err;
    for (size_t i = 0; i < v->shape.n; i++)
        x[i] = value_at(i, 7);
    return OK;
}

static Status keep(void *data, const Record *r, Error *err)
{
    Bench *b = data;
    (void)err;
    check(!r->error);
    b->variance = metric_value(metric_find("variance"), &r->tally);
    b->bias = r->tally.spread[S_BIAS];
    b->wasserstein = r->tally.wasserstein;
    return OK;
}

/* Computes the same measures from two estimates of the codec. */
static Bench by_hand(const Bench *b, const Codec *codec, Arena *a, Error *err)
{
    Bench found = {.wasserstein = 0};
    float *x = NEW(a, float, LONG), *y[2] = {NEW(a, float, LONG), NEW(a, float, LONG)};
    check_ok(load(NULL, &b->vector, x, err), err);
    for (uint64_t r = 0; r < 2; r++) {
        Message m;
        Call c = {.self = codec,
                  .shape = &b->vector.shape,
                  .workers = 1,
                  .threads = 2,
                  .scratch = arena_open(0),
                  .err = err};
        vector_rng(&b->vector, 1, r, &c.rng, &c.rng_shared);
        Buf payload = {NEW(a, uint8_t, codec_message_bound(&c)), 0, codec_message_bound(&c)};
        check_ok(codec_send(&c, x, &payload, &m), err);
        check_ok(codec_receive(&c, &m, y[r]), err);
        arena_close(c.scratch);
    }
    for (size_t i = 0; i < LONG; i++) {
        const double d = (double)y[0][i] - (double)y[1][i];
        const double mean = ((double)y[0][i] + (double)y[1][i]) / 2 - (double)x[i];
        found.variance += d * d / 2;
        found.bias += mean * mean;
    }
    check_ok(radix_wasserstein(x, y[0], LONG, NEW(a, float, 2 * LONG), 1, &found.wasserstein, a, err), err);
    return found;
}

TEST(a_long_vector_has_the_measures_of_its_estimates)
{
    const char *spec = "qsgd:bits=2";
    const Codec *codec;
    Arena *a = arena_open(0);
    Error err;
    size_t failures;
    Bench b = {.vector = {.name = "w", .shape = shape_vector(LONG)}};
    b.list = (VectorList){.item = &b.vector, .count = 1, .largest = LONG, .tensors = 1, .elements = LONG};
    check_ok(codec_open(&codec, spec, a, &err), &err);
    Comparison c = {.codec = &codec,
                    .codecs = 1,
                    .vectors = &b.list,
                    .repeats = 2,
                    .seed = 1,
                    .threads = 2,
                    .untimed = true,
                    .data = &b,
                    .load = load,
                    .record = keep};
    check_ok(compare_run(&c, &failures, a, &err), &err);
    const Bench want = by_hand(&b, codec, a, &err);
    check_rel(b.variance, want.variance, 1e-6);
    check_rel(b.bias, want.bias, 1e-6);
    check_rel(b.wasserstein, want.wasserstein, 1e-12);
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
