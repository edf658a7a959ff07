/* test_qsgd_draws.c -- the mean and variance of estimates of the codec qsgd against the closed form, and the
 * entropy that the encoder reports. */
#include "rig/try.h"

static Try *open_levels(size_t n, uint32_t s, size_t bucket, const char *code, const char *norm)
{
    char spec[128];
    snprintf(spec, sizeof spec, "qsgd:levels=%u,bucket=%zu,code=%s,norm=%s", s, bucket, code, norm);
    return try_open(spec, n);
}

static double norm_of(const float *x, size_t n, bool linf)
{
    double sum = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)x[i] * (double)x[i];
        most = fmax(most, fabs((double)x[i]));
    }
    return linf ? most : sqrt(sum);
}

/* Returns the distribution of the rounding error of each element: (1 - f) N / s with probability f, else -f N /
 * s, with the norm N of the bucket and s levels. f is the distance to the lower level in units of N / s. */
static TwoPoint *law_of(Try *t, size_t bucket, uint32_t s, bool linf)
{
    TwoPoint *law = NEW(t->arena, TwoPoint, t->shape.n);
    for (size_t i = 0; i < t->shape.n; i++) {
        const size_t start = i / bucket * bucket, left = t->shape.n - start;
        const double norm = (double)(float)norm_of(t->x + start, left < bucket ? left : bucket, linf);
        const double level = fabs((double)t->x[i]) * s / norm, f = level - floor(level);
        law[i] = (TwoPoint){(1 - f) * norm / s, -f * norm / s, f};
    }
    return law;
}

static void the_mean_is_what_was_sent_and_the_variance_what_is_told(void **state)
{
    (void)state;
    static const struct {
        uint32_t s;
        size_t bucket, repeats;
        const char *code, *norm;
    } rows[] = {
        {1, 512, 8700, "elias", "l2"},      {3, 512, 2700, "fixed", "l2"},
        {15, 512, 300, "elias", "l2"},      {7, 64, 200, "fixed", "linf"},
        {255, 512, 200, "fixed", "l2"},     {127, 0, 200, "elias-dense", "l2"},
        {65535, 512, 200, "fixed", "linf"},
    };
    for (size_t k = 0; k < countof(rows); k++) {
        const size_t n = 4096, bucket = rows[k].bucket ? rows[k].bucket : n;
        Try *t = open_levels(n, rows[k].s, rows[k].bucket, rows[k].code, rows[k].norm);
        try_normal(t, 12);
        const TwoPoint *law = law_of(t, bucket, rows[k].s, !strcmp(rows[k].norm, "linf"));
        double v = 0;
        for (size_t i = 0; i < n; i++)
            v += law[i].p * law[i].high * law[i].high + (1 - law[i].p) * law[i].low * law[i].low;
        check_rel(codec_variance(&t->call, t->x), v, 1e-4);
        const Verdict good = try_statistics(t, law, rows[k].repeats, 1),
                      bad = try_statistics(t, law, rows[k].repeats, 1.01);
        if (!verdict_good(good))
            print_error("s=%u: gain %.3g of %.3g, ratio %.3g of %.3g\n", rows[k].s, good.gain,
                        good.gain_allowed, good.ratio, good.ratio_allowed);
        check(verdict_good(good));
        check(!verdict_good(bad));
        try_close(t);
    }
}

static const char *const code_names[] = {"elias", "elias-sparse", "elias-dense", "fixed"};

static void entropy_is_told_and_stands_below_the_bytes(void **state)
{
    (void)state;
    for (size_t c = 0; c < countof(code_names); c++) {
        Try *t = open_levels(65536, 15, 512, code_names[c], "l2");
        Streams streams = {0};
        try_normal(t, 20);
        try_both(t);
        const size_t size = t->out.size;
        uint8_t *plain = NEW(t->arena, uint8_t, size);
        memcpy(plain, t->out.data, size);
        t->call.streams = &streams;
        try_both(t);
        assert_memory_equal(t->out.data, plain, size);
        check(streams.reported && !streams.raw);
        /* norms, levels and signs together have an entropy of 1.75 bits per element */
        check_rel(streams.entropy_bits / 65536, 1.75, 0.01);
        check(streams.entropy_bits < 8 * (double)size);
        try_close(t);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_mean_is_what_was_sent_and_the_variance_what_is_told),
    cmocka_unit_test(entropy_is_told_and_stands_below_the_bytes),
};

CHECK_MAIN(tests)
