/* test_half.c -- fp16 and bf16 as codecs: sizes, refusals, saturation, and stochastic rounding's promises. */
#include "try.h"

#include <float.h>

static const size_t sizes[] = {0,   1,   2,   3,    7,     8,     63,    64,    65,
                               511, 512, 513, 1000, 65535, 65536, 65537, 200000};
static const char *const specs[] = {"fp16", "bf16", "fp16:rounding=stochastic", "bf16:rounding=stochastic"};

static void every_size_takes_two_bytes_an_element_and_comes_back_close(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t k = 0; k < countof(sizes); k++) {
            Try *t = try_open(specs[s], sizes[k]);
            try_normal(t, 50 + k);
            try_both(t);
            assert_int_equal(t->out.size, 1 + 2 * sizes[k]);
            const double step = s % 2 ? 0x1p-7 : 0x1p-10, share = s < 2 ? 0.5 : 1;
            for (size_t i = 0; i < sizes[k]; i++)
                check_near((double)t->y[i], (double)t->x[i],
                           step * share * fabs((double)t->x[i]) + (s % 2 ? 0 : 0x1p-24));
            if (sizes[k] < 600) {
                try_refuses_other_lengths(t);
                try_survives_flips(t, sizes[k] < 65 ? 1 : 37);
            }
            try_close(t);
        }
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 5 * BLOCK + 123);
        try_normal(t, 51);
        try_any_threads(t);
        try_close(t);
    }
}

static void halves_themselves_pass_unchanged(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 2048);
        for (size_t i = 0; i < 2048; i++) {
            const int exponent = (int)(i / 64 % 28) - 14;
            t->x[i] = (float)ldexp(64 + (double)(i % 64), exponent - 6) * (i % 2 ? -1 : 1);
        }
        t->x[0] = -0.0f;
        try_both(t);
        assert_memory_equal(t->x, t->y, 2048 * sizeof(float));
        if (s > 1)
            check(codec_variance(&t->call, t->x) == 0);
        try_close(t);
    }
}

static void what_is_too_large_becomes_the_largest_and_has_no_closed_form(void **state)
{
    (void)state;
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

static void infinities_are_refused(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 100);
        try_both(t);
        store_u16(t->out.data + 1 + 2 * 77, s % 2 ? 0x7f80 : 0x7c00);
        check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
        store_u16(t->out.data + 1 + 2 * 77, s % 2 ? 0xffff : 0xfc01);
        check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
        try_close(t);
    }
}

/* Neighbours by scaling: the quantum of x's binade, or of the denormals. */
static TwoPoint law_of(double x, int lowest, int fraction)
{
    int exponent;
    frexp(x, &exponent);
    exponent = x == 0 || exponent - 1 < lowest ? lowest : exponent - 1;
    const double quantum = ldexp(1, exponent - fraction), scaled = fabs(x) / quantum,
                 part = scaled - floor(scaled);
    return (TwoPoint){(1 - part) * quantum, -part * quantum, part};
}

/* Normal vectors of every scale: usual, fp16's denormals, below its smallest, float32's denormals. */
static void the_mean_is_what_was_sent_and_the_variance_what_is_told(void **state)
{
    (void)state;
    static const double scales[2][4] = {{1, 1e-5, 1e-8, 300}, {1, 1e-5, 1e-39, 1e30}};
    for (size_t s = 2; s < countof(specs); s++)
        for (size_t k = 0; k < 4; k++) {
            Try *t = try_open(specs[s], 4096);
            TwoPoint *law = NEW(t->arena, TwoPoint, 4096);
            double v = 0;
            try_normal(t, 52);
            for (size_t i = 0; i < 4096; i++) {
                t->x[i] *= (float)scales[s % 2][k];
                law[i] = s % 2 ? law_of((double)t->x[i], -126, 7) : law_of((double)t->x[i], -14, 10);
                v += law[i].p * law[i].high * law[i].high + (1 - law[i].p) * law[i].low * law[i].low;
            }
            check_rel(codec_variance(&t->call, t->x), v, 1e-9);
            const Verdict good = try_statistics(t, law, 1500, 1);
            if (!verdict_good(good))
                print_error("%s at %g: gain %.3g of %.3g, ratio %.3g of %.3g\n", specs[s], scales[s % 2][k],
                            good.gain, good.gain_allowed, good.ratio, good.ratio_allowed);
            check(verdict_good(good));
            if (good.gain_allowed < 0.005)
                check(!verdict_good(try_statistics(t, law, 1500, 1.01)));
            try_close(t);
        }
}

static void only_stochastic_rounding_promises_a_mean(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 1);
        check(!!(codec_traits(t->codec) & UNBIASED) == (s > 1));
        check(!!(codec_traits(t->codec) & RANDOM) == (s > 1));
        try_close(t);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_takes_two_bytes_an_element_and_comes_back_close),
    cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
    cmocka_unit_test(halves_themselves_pass_unchanged),
    cmocka_unit_test(what_is_too_large_becomes_the_largest_and_has_no_closed_form),
    cmocka_unit_test(infinities_are_refused),
    cmocka_unit_test(the_mean_is_what_was_sent_and_the_variance_what_is_told),
    cmocka_unit_test(only_stochastic_rounding_promises_a_mean),
};

CHECK_MAIN(tests)
