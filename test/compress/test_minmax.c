/* test_minmax.c -- the codec minmax, which rounds to uniform levels between the least and the greatest value of
 * a bucket: kernels. */
#include "math/vec/kernels.h"
#include "coder/planes.h"
#include "rig/try.h"

typedef struct {
    size_t n, bucket;
    int bits;
    bool random;
} Case;

#define EACH_ISA(k)                                                                                          \
    for (int isa = 0; isa < ISA_COUNT; isa++)                                                                \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

/* ---- kernels ---- */

TEST(ranges_are_the_extremes_and_zeros_have_no_sign)
{
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
    const uint32_t u = key ? rng_round(key, i, false) >> (32 - q.fraction) : (1u << (q.fraction - 1)) - 1;
    return (whole >> q.fraction) + (u < part);
}

static float graded_ref(uint32_t level, float low, float high, Dequantiser d)
{
    const float v = (float)level * d.unit * d.drop + low;
    return v < high ? v : high;
}

TEST(levels_equal_their_definition_on_every_instruction_set)
{
    enum { N = 600 };
    static const int widths[] = {1, 2, 3, 4, 7, 8, 9, 12, 16};
    static const float scales[] = {1, 1e-30f, 0x1p-140f, 1e30f};
    static const size_t ends[] = {1, 7, 15, 16, 17, 33, 64, 511, N};
    static uint32_t code[N + 1];
    static uint8_t code8[N + 1];
    float x[N], y[N];
    const RngKey key = {.a = 0x1234567, .b = 0x89abcdef, .c = 0xdeadbeef, .d = 0x55aa55aa};
    const Rng rng = rng_open(15, 0, 0, 0, 0);
    for (size_t v = 0; v < countof(widths) * countof(scales) * 2; v++) {
        const uint32_t s = (1u << widths[v % countof(widths)]) - 1, first = (uint32_t)v * 5;
        RngKey together = key;
        rng_correlate(&together, &key, 2, 7);
        const RngKey *own = v % 4 == 3 ? &together : v % 2 ? &key : NULL;
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

CHECK_ALL(NULL, NULL)
