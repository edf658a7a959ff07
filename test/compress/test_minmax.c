/* test_minmax.c -- the codec minmax, which rounds to uniform levels between the least and the greatest value of
 * a bucket: kernels, decoded elements, wrong payloads, and mean and variance of stochastic rounding. */
#include "vec/kernels.h"
#include "coder/planes.h"
#include "rig/try.h"

#include <float.h>

static const size_t sizes[] = {0,   1,   2,   3,    7,     8,     63,    64,    65,
                               511, 512, 513, 1000, 65535, 65536, 65537, 200000};
static const size_t buckets[] = {0, 1, 3, 64, 512, 1000, 65536, 100000};
static const char *const roundings[] = {"nearest", "stochastic"};

typedef struct {
    size_t n, bucket;
    int bits;
    bool random;
} Case;

static Try *open_case(Case k)
{
    char spec[128];
    snprintf(spec, sizeof spec, "minmax:bits=%d,bucket=%zu,rounding=%s", k.bits, k.bucket,
             roundings[k.random]);
    return try_open(spec, k.n);
}

#define EACH_ISA(k)                                                                                          \
    for (int isa = 0; isa < ISA_COUNT; isa++)                                                                \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

/* ---- kernels ---- */

static void ranges_are_the_extremes_and_zeros_have_no_sign(void **state)
{
    (void)state;
    float x[200], low, high;
    const Rng rng = rng_open(14, 0, 0, 0, 0);
    for (size_t n = 1; n <= 200; n++)
        for (size_t at = 0; at < n; at += 1 + n / 7) {
            rng_normals(&rng, USE_TEST, 0, n, 1, x);
            x[at] = -100, x[n - 1 - at] = 100;
            float least = x[0];
            for (size_t i = 0; i < n; i++)
                least = fminf(least, x[i]);
            EACH_ISA(k)
            {
                k->range(x, n, &low, &high);
                check(low == least);
                check(high == 100);
            }
            for (size_t i = 0; i < n; i++)
                x[i] = (i + at) % 2 ? -0.0f : 0;
            EACH_ISA(k)
            {
                k->range(x, n, &low, &high);
                check(float_bits(low) == 0 && float_bits(high) == 0);
            }
        }
}

/* Returns the expected level of x. Between two levels, x is rounded up if u < frac, where frac is the position
 * of x in fixed point. With `key`, u is random with as many bits as frac; without, u is just below one half. */
static uint32_t grade_ref(float x, float low, float width, uint32_t s, const RngKey *key, uint32_t i)
{
    const Quantiser q = quantiser_make(width, s);
    const float t = (x - low) * q.lift * q.slope;
    const uint32_t whole = t < q.top ? (uint32_t)t : (uint32_t)q.top, part = whole & ((1u << q.fraction) - 1);
    const uint32_t u = key ? rng_word(key, i) >> (32 - q.fraction) : (1u << (q.fraction - 1)) - 1;
    return (whole >> q.fraction) + (u < part);
}

static float graded_ref(uint32_t level, float low, float high, Dequantiser d)
{
    const float v = (float)level * d.unit * d.drop + low;
    return v < high ? v : high;
}

static void levels_equal_their_definition_on_every_instruction_set(void **state)
{
    (void)state;
    enum { N = 600 };
    static const int widths[] = {1, 2, 3, 4, 7, 8, 9, 12, 16};
    static const float scales[] = {1, 1e-30f, 0x1p-140f, 1e30f};
    static const size_t ends[] = {1, 7, 15, 16, 17, 33, 64, 511, N};
    static uint32_t code[N + 1];
    static uint8_t code8[N + 1];
    float x[N], y[N];
    const RngKey key = {0x1234567, 0x89abcdef, 0xdeadbeef, 0x55aa55aa};
    const Rng rng = rng_open(15, 0, 0, 0, 0);
    for (size_t v = 0; v < countof(widths) * countof(scales) * 2; v++) {
        const uint32_t s = (1u << widths[v % countof(widths)]) - 1, first = (uint32_t)v * 5;
        const RngKey *own = v % 2 ? &key : NULL;
        float low, high;
        for (size_t i = 0; i < N; i++)
            x[i] = (float)(3 + rng_normal(&rng, USE_TEST, i)) * scales[v / countof(widths) / 2];
        kernels()->range(x, N, &low, &high);
        const Quantiser q = quantiser_make(high - low, s);
        const Dequantiser d = dequantiser_make(high - low, s);
        for (size_t e = 0; e < countof(ends); e++)
            EACH_ISA(k)
            {
                const size_t n = ends[e];
                code[n] = 77, code8[n] = 77;
                k->grade32(x, n, low, q, own, first, code);
                k->graded32(code, n, low, high, d, y);
                for (size_t i = 0; i < n; i++) {
                    const uint32_t want = grade_ref(x[i], low, high - low, s, own, first + (uint32_t)i);
                    assert_int_equal(code[i], want);
                    check(want <= s);
                    check(y[i] == graded_ref(want, low, high, d));
                }
                if (s < 256) {
                    k->grade8(x, n, low, q, own, first, code8);
                    k->graded8(code8, n, low, high, d, y);
                    for (size_t i = 0; i < n; i++) {
                        assert_int_equal(code8[i], code[i]);
                        check(y[i] == graded_ref(code[i], low, high, d));
                    }
                }
                check(code[n] == 77 && code8[n] == 77);
            }
    }
}

/* ---- vectors that are encoded and decoded again ---- */

static void check_elements(const Try *t, Case k)
{
    const size_t bucket = k.bucket ? k.bucket : k.n;
    const uint32_t s = (1u << k.bits) - 1;
    for (size_t start = 0, b = 0; start < k.n; start += bucket, b++) {
        const size_t end = k.n - start < bucket ? k.n : start + bucket;
        float low = INFINITY, high = -INFINITY;
        for (size_t i = start; i < end; i++) {
            low = fminf(low, t->x[i]);
            high = fmaxf(high, t->x[i]);
        }
        check(load_f32(t->out.data + 1 + 8 * b) == low && load_f32(t->out.data + 5 + 8 * b) == high);
        const Dequantiser d = dequantiser_make(high - low, s);
        const double step = ((double)high - (double)low) / s;
        for (size_t i = start; i < end; i++) {
            const RngKey key = rng_key(&t->call.rng, USE_COIN, i / BLOCK);
            const uint32_t level = high == low ? 0
                                               : grade_ref(t->x[i], low, high - low, s,
                                                           k.random ? &key : NULL, (uint32_t)(i % BLOCK));
            check(t->y[i] == graded_ref(level, low, high, d));
            check_near((double)t->y[i], (double)t->x[i], step * (k.random ? 1.0001 : 0.5001) + 1e-6);
        }
    }
}

static void every_size_bucket_and_rounding_comes_back_as_defined(void **state)
{
    (void)state;
    static const int bits[] = {4, 1, 8, 9, 3, 16, 2};
    size_t turn = 0;
    for (size_t a = 0; a < countof(sizes); a++)
        for (size_t b = 0; b < countof(buckets); b++)
            for (int random = 0; random < 2; random++) {
                const Case k = {sizes[a], buckets[b], bits[turn++ % countof(bits)], random};
                Try *t = open_case(k);
                try_normal(t, k.n + 1);
                for (size_t i = 0; i < k.n / 7; i++) /* zeros of both signs fill the first buckets */
                    t->x[i] = i % 2 ? -0.0f : 0;
                try_both(t);
                const size_t bucket = k.bucket ? k.bucket
                                      : k.n    ? k.n
                                               : 1,
                             heads = (k.n + bucket - 1) / bucket;
                const size_t own = 1 + 8 * heads + planes_size(k.n, k.bits), raw = 4 * k.n + 1;
                assert_int_equal(t->out.size, own < raw ? own : raw);
                assert_int_equal(t->out.data[0], own < raw);
                if (own >= raw)
                    assert_memory_equal(t->x, t->y, k.n * sizeof(float));
                else
                    check_elements(t, k);
                if (k.n < 600) {
                    try_refuses_other_lengths(t);
                    try_survives_flips(t, k.n < 65 ? 1 : t->out.size * 8 / 200 + 1);
                }
                try_close(t);
            }
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    static const char *const specs[] = {"minmax", "minmax:bits=9,bucket=1000,rounding=stochastic",
                                        "minmax:bits=8,bucket=0", "minmax:bucket=100000,rounding=stochastic"};
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 5 * BLOCK + 123);
        try_normal(t, 71);
        try_any_threads(t);
        try_close(t);
    }
}

static void extremes_and_constants_come_back_and_nothing_leaves_the_range(void **state)
{
    (void)state;
    static const float values[] = {0, -0.0f, 1, -3e-20f, 0x1p-149f, 0x1.8p-140f, -0x1p-126f, 1e30f, FLT_MAX};
    for (size_t v = 0; v < countof(values); v++)
        for (int bits = 1; bits <= 16; bits++)
            /* all elements v; elements 0 and v; elements 1 and the next float */
            for (int kind = 0; kind < 3; kind++) {
                Try *t = open_case((Case){300, 100, bits, bits % 2});
                for (size_t i = 0; i < 300; i++)
                    t->x[i] = kind == 0 || i % 3 == 1 ? values[v] : 0;
                for (size_t i = 0; kind == 2 && i < 300; i++)
                    t->x[i] = i % 2 ? 1 : 1 + 0x1p-23f;
                try_both(t);
                for (size_t i = 0; i < 300; i++)
                    check_near((double)t->y[i], (double)t->x[i],
                               1e-6 * fabs((double)t->x[i]) * (kind < 2) + (kind == 1 ? 0x1p-149 : 0));
                try_close(t);
            }
}

static void a_range_beyond_float32_is_an_error(void **state)
{
    (void)state;
    for (size_t bucket = 0; bucket <= 100; bucket += 50)
        for (int random = 0; random < 2; random++) {
            Try *t = open_case((Case){300, bucket, 4, random});
            t->x[120] = FLT_MAX, t->x[121] = -FLT_MAX / 2;
            check(try_send(t) == ERR_NUMERIC);
            t->x[120] = FLT_MAX / 2;
            try_both(t);
            check(t->y[120] == FLT_MAX / 2 && t->y[121] == -FLT_MAX / 2);
            try_close(t);
        }
}

static void ranges_that_no_encoder_writes_are_refused(void **state)
{
    (void)state;
    static const struct {
        float low, high;
        bool good;
    } rows[] = {
        {-1, 2, true},
        {2, -1, false},
        {-0.0f, 1, false},
        {-1, -0.0f, false},
        {-INFINITY, 1, false},
        {0, INFINITY, false},
        {NAN, 1, false},
        {0, NAN, false},
        {1, 1, false},
        {0, 0, false},
        {-FLT_MAX, FLT_MAX, false},
        {-FLT_MAX, 0, true},
    };
    Try *t = open_case((Case){200, 64, 4, false});
    try_normal(t, 72);
    try_both(t);
    for (size_t i = 0; i < countof(rows); i++) {
        store_f32(t->out.data + 9, rows[i].low);
        store_f32(t->out.data + 13, rows[i].high);
        check((try_payload(t, buf_bytes(&t->out)) == OK) == rows[i].good);
    }
    try_close(t);
}

/* ---- mean and variance of draws ---- */

/* Computes the distribution of the error of each element, and returns the sum of the variances. */
static double law_of(const Try *t, size_t bucket, double s, TwoPoint *law)
{
    double v = 0;
    for (size_t start = 0; start < t->shape.n; start += bucket) {
        const size_t end = t->shape.n - start < bucket ? t->shape.n : start + bucket;
        double low = INFINITY, high = -INFINITY;
        for (size_t i = start; i < end; i++) {
            low = fmin(low, (double)t->x[i]);
            high = fmax(high, (double)t->x[i]);
        }
        const double step = (high - low) / s;
        for (size_t i = start; i < end; i++) {
            const double at = fmin(((double)t->x[i] - low) / step, s), part = at - floor(at);
            law[i] = (TwoPoint){(1 - part) * step, -part * step, part};
            v += part * (1 - part) * step * step;
        }
    }
    return v;
}

static void the_mean_is_what_was_sent_and_the_variance_what_is_told(void **state)
{
    (void)state;
    static const Case cases[] = {{4096, 512, 4, true}, {4096, 100, 2, true}, {4096, 0, 6, true}};
    static const double scales[] = {1, 1e-30, 1e-38};
    for (size_t k = 0; k < countof(cases) * countof(scales); k++) {
        const Case c = cases[k % countof(cases)];
        Try *t = open_case(c);
        TwoPoint *law = NEW(t->arena, TwoPoint, 4096);
        (k % 2 ? try_laplace : try_normal)(t, 73);
        for (size_t i = 0; i < 4096; i++)
            t->x[i] *= (float)scales[k / countof(cases)];
        const double v = law_of(t, c.bucket ? c.bucket : 4096, (1 << c.bits) - 1, law);
        check_rel(codec_variance(&t->call, t->x), v, 1e-5);
        check(verdict_good(try_statistics(t, law, 1500, 1)));
        check(!verdict_good(try_statistics(t, law, 1500, 1.01)));
        try_close(t);
    }
}

static void only_stochastic_rounding_promises_a_mean(void **state)
{
    (void)state;
    for (int random = 0; random < 2; random++) {
        Try *t = open_case((Case){100, 64, 4, random});
        try_normal(t, 74);
        check(!!(codec_traits(t->codec) & UNBIASED) == random);
        check(!!(codec_traits(t->codec) & RANDOM) == random);
        check(isnan(codec_variance(&t->call, t->x)) == !random);
        try_close(t);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(ranges_are_the_extremes_and_zeros_have_no_sign),
    cmocka_unit_test(levels_equal_their_definition_on_every_instruction_set),
    cmocka_unit_test(every_size_bucket_and_rounding_comes_back_as_defined),
    cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
    cmocka_unit_test(extremes_and_constants_come_back_and_nothing_leaves_the_range),
    cmocka_unit_test(a_range_beyond_float32_is_an_error),
    cmocka_unit_test(ranges_that_no_encoder_writes_are_refused),
    cmocka_unit_test(the_mean_is_what_was_sent_and_the_variance_what_is_told),
    cmocka_unit_test(only_stochastic_rounding_promises_a_mean),
};

CHECK_MAIN(tests)
