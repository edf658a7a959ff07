/* test_natural.c -- the codec natural, which rounds at random to powers of two: kernels against doubles, the
 * layout of payloads, damaged payloads, mean, variance and size. */
#include "vec/kernels.h"
#include "coder/planes.h"
#include "rig/try.h"

#include <float.h>

static const size_t sizes[] = {0,   1,   2,   3,    7,     8,     63,    64,    65,
                               511, 512, 513, 1000, 65535, 65536, 65537, 200000};

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

static TwoPoint law_of(double x)
{
    const double v = fabs(x), down = power_below(v), up = power_above(v);
    return (TwoPoint){up - v, down - v, (v - down) / (up - down)};
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

static void powers_equal_their_definition_on_every_instruction_set(void **state)
{
    (void)state;
    enum { N = 3000 };
    static float x[N], back[N];
    static uint8_t power[N + 1], sign[N + 1];
    const RngKey key = {0x1234567, 0x89abcdef, 0xdeadbeef, 0x55aa55aa};
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

/* ---- tests of the codec ---- */

static void every_size_takes_nine_bits_an_element_and_comes_back_as_defined(void **state)
{
    (void)state;
    for (size_t k = 0; k < countof(sizes); k++) {
        const size_t n = sizes[k];
        Try *t = try_open("natural", n);
        try_normal(t, 60 + k);
        try_both(t);
        assert_int_equal(t->out.size, 1 + n + planes_size(n, 1));
        assert_int_equal(t->out.size, n % 64 ? 1 + n + n / 64 * 8 + (n % 64 + 7) / 8 : 1 + n + n / 8);
        for (size_t i = 0; i < n; i++) {
            const RngKey key = rng_key(&t->call.rng, USE_COIN, i / BLOCK);
            check((double)t->y[i] == power_ref(t->x[i], rng_word(&key, (uint32_t)(i % BLOCK))));
        }
        if (n < 1000 || n == 200000) {
            try_refuses_other_lengths(t);
            try_survives_flips(t, n < 65 ? 1 : t->out.size * 8 / 200 + 1);
        }
        try_close(t);
    }
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    Try *t = try_open("natural", 5 * BLOCK + 123);
    try_normal(t, 61);
    try_any_threads(t);
    try_close(t);
}

static void powers_of_two_and_zeros_pass_unchanged(void **state)
{
    (void)state;
    Try *t = try_open("natural", 600);
    for (size_t i = 0; i < 600; i++)
        t->x[i] = i % 5 ? (float)ldexp(i % 2 ? 1 : -1, (int)(i % 254) - 126) : i % 2 ? -0.0f : 0;
    for (uint64_t r = 0; r < 5; r++) {
        try_repeat(t, r);
        try_both(t);
        for (size_t i = 0; i < 600; i++)
            check(t->y[i] == t->x[i] && (t->y[i] != 0 || !signbit(t->y[i])));
    }
    check(codec_variance(&t->call, t->x) == 0);
    try_close(t);
}

static void a_power_beyond_float32_is_an_error_whatever_the_draw(void **state)
{
    (void)state;
    static const float over[] = {0x1.000002p127f, -0x1.8p127f, FLT_MAX, -FLT_MAX};
    for (size_t v = 0; v < countof(over); v++)
        for (size_t n = 1; n < 40; n += 19) {
            Try *t = try_open("natural", n);
            t->x[n - 1] = over[v];
            for (uint64_t r = 0; r < 10; r++) {
                try_repeat(t, r);
                check(try_send(t) == ERR_NUMERIC);
            }
            check(isnan(codec_variance(&t->call, t->x)));
            t->x[n - 1] = 0x1p127f;
            check(try_send(t) == OK);
            try_close(t);
        }
}

static void payloads_that_no_encoder_writes_are_refused(void **state)
{
    (void)state;
    for (size_t n = 100; n <= 70000; n += 69900) {
        Try *t = try_open("natural", n);
        for (size_t i = 0; i < n; i++)
            t->x[i] = i == 77 ? 0 : 1.5f;
        try_both(t);
        uint8_t *power = t->out.data + 1, *signs = power + n;
        power[n - 2] = 255;
        check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
        power[n - 2] = 254;
        check(try_payload(t, buf_bytes(&t->out)) == OK);
        signs[77 / 8] ^= 1 << 77 % 8; /* the sign of a zero */
        check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
        signs[77 / 8] ^= 1 << 77 % 8;
        signs[planes_size(n, 1) - 1] |= 0x80; /* a padding bit */
        check(n % 8 == 0 || try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
        try_close(t);
    }
}

/* ---- mean and variance of draws ---- */

static void the_mean_is_what_was_sent_and_the_variance_what_is_told(void **state)
{
    (void)state;
    static const double scales[] = {1, 1e-20, 1e-38, 1e-40, 1e30};
    for (size_t k = 0; k < countof(scales); k++) {
        Try *t = try_open("natural", 4096);
        TwoPoint *law = NEW(t->arena, TwoPoint, 4096);
        double v = 0, norm = 0;
        try_normal(t, 63);
        for (size_t i = 0; i < 4096; i++) {
            t->x[i] *= (float)scales[k];
            law[i] = law_of((double)t->x[i]);
            norm += (double)t->x[i] * (double)t->x[i];
            v += law[i].p * law[i].high * law[i].high + (1 - law[i].p) * law[i].low * law[i].low;
        }
        /* law[i] is the distribution of the error of |x|; for a negative x, the two errors change their sign */
        for (size_t i = 0; i < 4096; i++)
            if (t->x[i] < 0)
                law[i] = (TwoPoint){-law[i].high, -law[i].low, law[i].p};
        check_rel(codec_variance(&t->call, t->x), v, 1e-9);
        check(scales[k] < 1e-37 || /* the bound does not hold for denormals */ v <= norm / 8);
        check(verdict_good(try_statistics(t, law, 2000, 1)));
        if (scales[k] > 1e-39)
            check(!verdict_good(try_statistics(t, law, 2000, 1.01)));
        try_close(t);
    }
}

static void the_entropy_told_is_that_of_exponents_and_signs(void **state)
{
    (void)state;
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(powers_equal_their_definition_on_every_instruction_set),
    cmocka_unit_test(every_size_takes_nine_bits_an_element_and_comes_back_as_defined),
    cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
    cmocka_unit_test(powers_of_two_and_zeros_pass_unchanged),
    cmocka_unit_test(a_power_beyond_float32_is_an_error_whatever_the_draw),
    cmocka_unit_test(payloads_that_no_encoder_writes_are_refused),
    cmocka_unit_test(the_mean_is_what_was_sent_and_the_variance_what_is_told),
    cmocka_unit_test(the_entropy_told_is_that_of_exponents_and_signs),
};

CHECK_MAIN(tests)
