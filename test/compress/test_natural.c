/* test_natural.c -- the codec natural, which rounds at random to powers of two: kernels against doubles, and the entropy that is
 * told. */
#include "math/vec/kernels.h"
#include "rig/try.h"

/* ---- reference: the definition, computed in doubles ---- */

static double power_below(double v)
{
    int exponent;
    frexp(v, &exponent);
    return v < 0x1p-126 ? 0 : ldexp(1, exponent - 1);
}

static double power_above(double v)
{
    return v < 0x1p-126 ? 0x1p-126 : 2 * power_below(v);
}

/* Returns x rounded to one of the neighbouring powers of two, `down` and `up`: up if u < (|x| - down) / (up -
 * down), where u has 23 bits of the random word. */
static double power_ref(float x, uint32_t word)
{
    const double v = fabs((double)x), down = power_below(v), up = power_above(v);
    const double u = (double)(word >> 9) * 0x1p-23, power = u < (v - down) / (up - down) ? up : down;
    return x < 0 ? -power : power;
}

/* Fills x with special values, then with numbers of all magnitudes up to the largest that natural accepts. */
static void fill_orders(float *x, size_t n)
{
    const Rng rng = rng_open(13, 0, 0, 0, 0);
    static const float odd[] = {
        0,         -0.0f,         1,         -1,         0x1p127f,         -0x1p127f,
        0x1p-126f, 0x1.8p-127f,   0x1p-149f, -0x1p-149f, 0x1.fffffep-126f, 0x1.fffffep126f,
        0x1.8p0f,  0x1.fffffep0f, 3};
    for (size_t i = 0; i < n; i++) {
        const uint32_t word = rng_u32(&rng, USE_TEST, i);
        x[i] = (word & 0x7fffffffu) > 0x7f000000u ? 1 : bits_float(word);
        if (i < countof(odd))
            x[i] = odd[i];
    }
}

TEST(powers_equal_their_definition_on_every_instruction_set)
{
    enum { N = 3000 };
    static float x[N], back[N];
    static uint8_t power[N + 1], sign[N + 1];
    const RngKey key = {.a = 0x1234567, .b = 0x89abcdef, .c = 0xdeadbeef, .d = 0x55aa55aa};
    fill_orders(x, N);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const Kernels *k = kernels_of((Isa)isa);
        for (size_t n = N - 40; k && n <= N; n++) {
            power[n] = sign[n] = 77;
            check(k->powers(x, n, key, power, sign));
            check(power[n] == 77 && sign[n] == 77);
            check(k->power_floats(power, sign, n, back));
            for (size_t i = 0; i < n; i++) {
                const double want = power_ref(x[i], rng_word(&key, (uint32_t)i));
                check((double)back[i] == want);
                check(want != 0 || !signbit(back[i]));
                assert_int_equal(power[i], want == 0 ? 0 : ilogb(want) + 127);
                assert_int_equal(sign[i], want < 0);
            }
        }
    }
}

/* ---- mean and variance of draws ---- */

TEST(the_entropy_told_is_that_of_exponents_and_signs)
{
    Try *t = try_open("natural", 4096);
    Streams streams = {0};
    try_normal(t, 64);
    t->x[5] = 0;
    t->call.streams = &streams;
    try_both(t);
    double count[256] = {0}, bits = 4095;
    for (size_t i = 0; i < 4096; i++)
        count[t->y[i] == 0 ? 0 : ilogb((double)t->y[i]) + 127]++;
    for (int e = 0; e < 256; e++)
        bits -= count[e] > 0 ? count[e] * log2(count[e] / 4096) : 0;
    check_rel(streams.entropy_bits, bits, 1e-12);
    try_close(t);
}

CHECK_ALL(NULL, NULL)
