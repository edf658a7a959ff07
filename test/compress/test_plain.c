/* test_plain.c -- the codecs none, fp16 and bf16: the rounding of kernels against slow searches, what code=rans keeps,
 * saturation, and what only merged payloads of halves do. */
#include "math/vec/kernels.h"
#include "rig/try.h"

#include <float.h>

static const char *const specs[] = {"fp16", "bf16", "fp16:rounding=stochastic", "bf16:rounding=stochastic"};

enum { N = 1500 };
static const size_t ends[] = {0, 1, 7, 16, 17, 33, 512, 1000, N};
static const RngKey key = {.a = 0x1234567, .b = 0x89abcdef, .c = 0xdeadbeef, .d = 0x55aa55aa};

#define EACH_ISA(k)                                                                                          \
    for (int isa = 0; isa < ISA_COUNT; isa++)                                                                \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

/* ---- kernels ---- */

static double fp16_value(uint32_t half)
{
    const uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
    return exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
}
static double bf16_value(uint32_t half)
{
    const uint32_t exponent = half >> 7 & 255, fraction = half & 127;
    return exponent ? ldexp(128 + fraction, (int)exponent - 134) : ldexp(fraction, -133);
}

/* Returns the largest 16-bit float that is not above v, by bisection over the bit patterns. */
static uint32_t below(double (*value)(uint32_t), uint32_t most, double v)
{
    uint32_t low = 0, high = most;
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;
        if (value(middle) <= v)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static uint32_t nearest_ref(double (*value)(uint32_t), uint32_t most, double v)
{
    const uint32_t low = below(value, most, v);
    if (low == most)
        return low;
    const double down = v - value(low), up = value(low + 1) - v;
    return down < up || (down == up && low % 2 == 0) ? low : low + 1;
}

static void halve_fill(float *x)
{
    const Rng rng = rng_open(12, 0, 0, 0, 0);
    static const float odd[] = {0,          -0.0f,      65504,     65519,     65520,    1e6f,
                                FLT_MAX,    -FLT_MAX,   0x1p-14f,  0x1p-24f,  0x1p-25f, 0x1.8p-25f,
                                0x1.002p0f, 0x1.006p0f, 0x1p-149f, 0x1.01p0f, 0x1.03p0f};
    for (size_t i = 0; i < N; i++) {
        uint32_t word = rng_u32(&rng, USE_TEST, i);
        if (i % 2) /* every second magnitude is in or near the range of fp16 */
            word = (word & 0x807fffffu) | (85 + word % 60) << 23;
        x[i] = (word & 0x7f800000u) == 0x7f800000u ? 1 : bits_float(word);
        if (i < countof(odd))
            x[i] = odd[i];
    }
}

TEST(halves_are_the_nearest_ones_and_saturate)
{
    float x[N], back[N];
    uint8_t out[2 * N];
    halve_fill(x);
    EACH_ISA(k)
    for (size_t s = 0; s < countof(ends); s++) {
        const size_t n = ends[s];
        k->fp16_nearest(x, n, out);
        check(k->fp16_floats(out, n, back));
        for (size_t i = 0; i < n; i++) {
            const uint32_t want = nearest_ref(fp16_value, 0x7bff, fabs((double)x[i]));
            assert_int_equal(load_u16(out + 2 * i), want | (signbit(x[i]) ? 0x8000 : 0));
            check(fabs((double)back[i]) == fp16_value(want) && signbit(back[i]) == signbit(x[i]));
        }
        k->bf16_nearest(x, n, out);
        check(k->bf16_floats(out, n, back));
        for (size_t i = 0; i < n; i++) {
            const uint32_t want = nearest_ref(bf16_value, 0x7f7f, fabs((double)x[i]));
            assert_int_equal(load_u16(out + 2 * i), want | (signbit(x[i]) ? 0x8000 : 0));
            check(fabs((double)back[i]) == bf16_value(want));
        }
    }
}

/* Stochastic rounding goes up if u < frac, where frac in [0, 1) is the exact position between the two
 * neighbouring 16-bit floats, and u is uniform in [0, 1) with as many bits as frac. For denormals of fp16, u
 * has 21 bits of one random word and 32 bits of another. */
TEST(random_halves_equal_their_definition)
{
    float x[N];
    uint8_t out[2 * N];
    halve_fill(x);
    EACH_ISA(k)
    for (uint32_t first = 0; first < 60000; first += 1500) {
        k->fp16_random(x, N, key, first, out);
        for (uint32_t i = 0; i < N; i++) {
            const double v = fabs((double)x[i]);
            const uint32_t low = below(fp16_value, 0x7bff, v);
            const double u = v < 0x1p-14 ? (double)(rng_word(&key, first + i) >> 11) * 0x1p-21 +
                                               (double)rng_word_more(&key, first + i) * 0x1p-53
                                         : (double)(rng_word(&key, first + i) >> 19) * 0x1p-13;
            const bool up =
                low < 0x7bff && u < (v - fp16_value(low)) / (fp16_value(low + 1) - fp16_value(low));
            assert_int_equal(load_u16(out + 2 * i) & 0x7fff, low + up);
        }
        k->bf16_random(x, N, key, first, out);
        for (uint32_t i = 0; i < N; i++) {
            const double v = fabs((double)x[i]);
            const uint32_t low = below(bf16_value, 0x7f7f, v);
            const double u = (double)(rng_word(&key, first + i) >> 16) * 0x1p-16;
            const bool up =
                low < 0x7f7f && u < (v - bf16_value(low)) / (bf16_value(low + 1) - bf16_value(low));
            assert_int_equal(load_u16(out + 2 * i) & 0x7fff, low + up);
        }
    }
}

/* Every pattern of 16 bits above 16 others, and a run of its own for each length of the last vector. */
TEST(joined_bytes_give_the_floats_of_their_halves)
{
    static uint8_t half[2 << 16], high[1 << 16], low[1 << 16], rest[2 << 16];
    static float x[1 << 16], y[1 << 16];
    for (uint32_t h = 0; h < 1 << 16; h++) {
        store_u16(half + 2 * h, (uint16_t)h);
        high[h] = (uint8_t)(h >> 7);
        low[h] = (uint8_t)(h << 1 | h >> 15);
        store_u16(rest + 2 * h, (uint16_t)(h * 40503));
    }
    EACH_ISA(k)
    {
        for (size_t from = 0; from + 64 < 1 << 16; from += 63)
            for (size_t n = 61; n < 64; n++) {
                check(k->joined(high + from, low + from, NULL, n, x) == k->bf16_floats(half + 2 * from, n, y));
                assert_memory_equal(x, y, n * sizeof *x);
                check(k->joined(high + from, low + from, rest + 2 * from, n, x) == k->bf16_floats(half + 2 * from, n, y));
                for (size_t i = 0; i < n; i++)
                    assert_int_equal(float_bits(x[i]), (from + i) << 16 | load_u16(rest + 2 * (from + i)));
            }
        check(!k->joined(high, low, NULL, 1 << 16, x) && !k->bf16_floats(half, 1 << 16, y));
        assert_memory_equal(x, y, sizeof x);
    }
}

/* ---- codecs ---- */

/* code=rans loses nothing: every finite half of 16 bits, among others that make symbols worth while. */
TEST(every_finite_half_passes_through_symbols)
{
    enum { ALL = 1 << 16, MORE = 3 << 16 };
    for (size_t s = 0; s < countof(specs); s++)
        for (int more = 0; more < 2; more++) {
            char spec[64];
            const size_t n = more ? ALL + MORE : ALL;
            snprintf(spec, sizeof spec, "%s%ccode=rans", specs[s], s > 1 ? ',' : ':');
            Try *t = try_open(spec, n);
            for (uint32_t i = 0; i < n; i++) {
                const double v = (s % 2 ? bf16_value : fp16_value)(i % ALL & 0x7fff);
                const bool finite = s % 2 ? (i & 0x7f80) != 0x7f80 : (i & 0x7c00) != 0x7c00;
                t->x[i] = finite ? (float)(i & 0x8000 ? -v : v) : 1;
                if (i >= ALL)
                    t->x[i] = (float)((int)(i % 64) - 32) / 64;
            }
            try_both(t);
            assert_memory_equal(t->x, t->y, n * sizeof(float));
            check(t->sent.round[0].size <= 2 * n + 2 && (!more || t->sent.round[0].size < 2 * n * 9 / 10));
            check(!codec_adds(t->codec));
            try_close(t);
        }
}

/* Every upper half of a finite float32, denormals and -0 too, among others that make symbols worth while. */
TEST(none_with_symbols_keeps_every_bit_and_takes_at_most_a_byte_more)
{
    static const size_t sizes[] = {0, 1, 2, 17, 1 << 16, 3 << 16};
    for (size_t s = 0; s < countof(sizes); s++) {
        Try *t = try_open("none:code=rans", sizes[s]);
        for (uint32_t i = 0; i < t->shape.n; i++) {
            const uint32_t exponent = i >> 7 & 255, bits = i << 16 | (i * 40503 & 0xffff);
            t->x[i] = i >> 16 || exponent == 255 ? (float)((int)(i % 64) - 32) / 63 : bits_float(bits);
        }
        try_both(t);
        assert_memory_equal(t->x, t->y, t->shape.n * sizeof(float));
        check(t->sent.round[0].size <= 4 * t->shape.n + 1 && (s < 5 || t->sent.round[0].size < 4 * t->shape.n * 9 / 10));
        check(!codec_adds(t->codec));
        try_close(t);
    }
}

TEST(what_is_too_large_becomes_the_largest_and_has_no_closed_form)
{
    static const double most[] = {65504, 0x1.fep127};
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 4);
        t->x[0] = FLT_MAX, t->x[1] = -FLT_MAX, t->x[2] = 1, t->x[3] = (float)most[s % 2];
        try_both(t);
        check((double)t->y[0] == most[s % 2] && (double)t->y[1] == -most[s % 2]);
        check(t->y[2] == 1 && t->y[3] == t->x[3]);
        check(isnan(codec_variance(&t->call, t->x)));
        try_close(t);
    }
}

/* ---- merged payloads ---- */

/* A merged payload has the mean of the workers' values, because a sum could overflow. */

enum { WORKERS = 5 };

static Bytes merge_of(Try *t, const Bytes *in, size_t count)
{
    Buf out = {.cap = 2 * t->shape.n + 16};
    out.data = NEW(t->arena, uint8_t, out.cap);
    check_ok(codec_merge(&t->call, in, count, &out), &t->err);
    return buf_bytes(&out);
}

/* The sum of five times 65504, the largest finite fp16 number, exceeds the range of fp16. */
TEST(sums_beyond_the_largest_half_are_kept)
{
    Try *t = try_open("fp16", 2);
    Bytes sent[WORKERS];
    t->x[0] = 65504, t->x[1] = -60000;
    try_both(t);
    for (int w = 0; w < WORKERS; w++)
        sent[w] = t->sent.round[0];
    const Bytes all = merge_of(t, sent, WORKERS);
    check_ok(try_payload(t, all), &t->err);
    check(t->y[0] == WORKERS * 65504.0f && t->y[1] == WORKERS * -60000.0f);
    try_close(t);
}

CHECK_ALL(NULL, NULL)
