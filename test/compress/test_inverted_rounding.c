/* test_inverted_rounding.c -- the errors published for one implementation of QSGD are those of a faulty coder,
 * which rounds up with the probability with which it should round down. A plain version of the faulty coder is
 * compared with the published errors and with the codec qsgd. */
#include "report/report_stored.h"
#include "base/text.h"
#include "rig/try.h"

#include <math.h>

enum { BUCKET = 512, BUCKETS = 300 };

/* Returns the squared relative error of the faulty coder with s levels on one bucket. A value l + f between
 * levels l and l + 1 is rounded up with probability 1 - f instead of f. The decoder assumes `s_decoder`
 * levels. */
static double inverted_error(const float *x, const Rng *rng, size_t bucket, double s, double s_decoder)
{
    double norm = 0, error = 0;
    for (size_t i = 0; i < BUCKET; i++)
        norm += (double)x[i] * (double)x[i];
    norm = sqrt(norm);
    for (size_t i = 0; i < BUCKET; i++) {
        const double a = fabs((double)x[i]) / norm * s, low = floor(a);
        const double level = rng_unit(rng, USE_TEST, bucket * BUCKET + i) > a - low ? low + 1 : low;
        const double wrong = level / s_decoder - a / s;
        error += wrong * wrong;
    }
    return error;
}

/* Returns |x|_1 / |x|_2. */
static double flatness(const float *x)
{
    double l1 = 0, l2 = 0;
    for (size_t i = 0; i < BUCKET; i++) {
        l1 += fabs((double)x[i]);
        l2 += (double)x[i] * (double)x[i];
    }
    return l1 / sqrt(l2);
}

/* Fills x with signed powers of normal numbers. Bisection finds the exponent at which |x|_1 / |x|_2 is
 * `wanted`. */
static void bucket_of(float *x, const Rng *rng, size_t bucket, double wanted)
{
    double low = 0.1, high = 4, z[BUCKET], log_z[BUCKET];
    for (size_t i = 0; i < BUCKET; i++) {
        z[i] = rng_normal(rng, USE_TEST, bucket * BUCKET + i);
        log_z[i] = log(fabs(z[i]));
    }
    for (int step = 0; step < 24; step++) {
        const double power = 0.5 * (low + high);
        for (size_t i = 0; i < BUCKET; i++)
            x[i] = (float)copysign(exp(power * log_z[i]), z[i]);
        if (flatness(x) > wanted)
            low = power;
        else
            high = power;
    }
}

typedef struct {
    const char *of;
    /* squared relative errors: with 1 level; with 2 levels that are decoded as 1 level; with 3 levels */
    double one, mixed, three;
} Published;

/* Published squared relative errors for buckets of n = 512 elements. The first error e gives A = |x|_1 / |x|_2
 * = (n + 3 - e) / 3, and A must predict the other two errors. */
static const Published published[] = {
    {"resnet50", 465.010196295329, 449.11593486528784, 43.13614901352159},
    {"attention56", 462.9645509349531, 447.5063900171538, 42.54519917821269},
};

static void published_errors_of_qsgd_are_those_of_rounding_the_wrong_way(void **state)
{
    (void)state;
    for (size_t p = 0; p < countof(published); p++) {
        const Published *e = &published[p];
        const double n = BUCKET, a = (n + 3 - e->one) / 3;
        const Rng values = rng_open(p, 0, 0, 0, 1), coins = rng_open(p, 0, 0, 0, 2);
        double one = 0, mixed = 0, three = 0;
        float x[BUCKET];
        for (size_t b = 0; b < BUCKETS; b++) {
            bucket_of(x, &values, b, a);
            one += inverted_error(x, &coins, b, 1, 1) / BUCKETS;
            mixed += inverted_error(x, &coins, b, 2, 1) / BUCKETS;
            three += inverted_error(x, &coins, b, 3, 3) / BUCKETS;
        }
        /* In the three cases, the error of one bucket has a standard deviation of at most 4.1, 5.2 and 0.65. */
        const double want_one = n - 3 * a + 3, want_mixed = n - 4 * a + 5, want_three = n / 9 - a + 3;
        check_near(one, want_one, 5 * 4.1 / sqrt(BUCKETS));
        check_near(mixed, want_mixed, 5 * 5.2 / sqrt(BUCKETS));
        check_near(three, want_three, 5 * 0.65 / sqrt(BUCKETS));
        check_near(want_mixed, e->mixed, 0.003 * e->mixed);
        check_near(want_three, e->three, 0.003 * e->three);
    }
}

/* Returns the mean squared relative error of qsgd with `levels` levels on vectors with |x|_1 / |x|_2 = a. */
static double error_of_qsgd(size_t p, double a, int levels)
{
    char spec[40];
    snprintf(spec, sizeof spec, "qsgd:levels=%d,bucket=%d", levels, BUCKET);
    const Rng values = rng_open(p, 0, 0, 0, 1);
    Try *t = try_open(spec, (size_t)BUCKET * BUCKETS);
    double error = 0;
    for (size_t b = 0; b < BUCKETS; b++)
        bucket_of(t->x + b * BUCKET, &values, b, a);
    try_both(t);
    for (size_t b = 0; b < BUCKETS; b++) {
        double wrong = 0, norm = 0;
        for (size_t i = b * BUCKET; i < (b + 1) * BUCKET; i++) {
            const double g = (double)t->x[i], d = (double)t->y[i] - g;
            wrong += d * d;
            norm += g * g;
        }
        error += wrong / norm / BUCKETS;
    }
    try_close(t);
    return error;
}

/* Let A = |x|_1 / |x|_2. With s levels, qsgd has the squared relative error A / s - 1, as hardly an element
 * exceeds norm / s. The number of elements rounded up to level 1 has a variance of at most A s, and each such
 * element adds 1 / s^2 to the error. */
static void qsgd_errs_a_thirtieth_of_that(void **state)
{
    (void)state;
    for (size_t p = 0; p < countof(published); p++) {
        const double a = (BUCKET + 3 - published[p].one) / 3;
        for (int s = 1; s <= 3; s++)
            check_near(error_of_qsgd(p, a, s), a / s - 1, 5 * sqrt(a / (s * s * s) / BUCKETS));
        check(error_of_qsgd(p, a, 1) < published[p].one / 25);
    }
}

/* plots/published/fork-error.json has published errors, and corrected errors that must follow from them: A / s
 * - 1 with A from the published error at 1 bit. */
static void what_is_called_corrected_follows_from_what_was_printed(void **state)
{
    (void)state;
    Arena *arena = arena_open(0);
    Error err;
    Stored file;
    int found = 0;
    check_ok(stored_load(&file, "plots/published/fork-error.json", arena, &err), &err);
    for (size_t row = 0; row < file.table.rows; row++) {
        const Published *e = &published[strcmp(csv_cell(&file.table, row, "setting"), "ResNet-50") != 0];
        const double bits = csv_real(&file.table, row, "target_bits"), a = (BUCKET + 3 - e->one) / 3;
        const double corrected = csv_real(&file.table, row, "corrected relative_error");
        if (strcmp(csv_cell(&file.table, row, "method"), "qsgd") != 0) {
            check(isnan(corrected));
            continue;
        }
        found++;
        check(csv_real(&file.table, row, "published relative_error") == (bits == 1   ? e->one
                                                                         : bits == 2 ? e->mixed
                                                                                     : e->three));
        check_rel(corrected, a / bits - 1, 5e-4); /* the file has rounded values */
        check(strstr(csv_cell(&file.table, row, "cause"), text_format(arena, "= %.2f", a)));
    }
    assert_int_equal(found, 6);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_errors_of_qsgd_are_those_of_rounding_the_wrong_way),
        cmocka_unit_test(qsgd_errs_a_thirtieth_of_that),
        cmocka_unit_test(what_is_called_corrected_follows_from_what_was_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
