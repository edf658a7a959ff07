/* test_inverted_rounding.c -- published errors of QSGD that are those of a coder which rounds the wrong way: that coder
 * in plain loops, its closed forms, and qsgd on the same vectors. */
#include "try.h"

#include <math.h>

enum { BUCKET = 512, BUCKETS = 300 };

/* Up with the chance of staying down: level l + 1 where u > f. Decodes with a number of levels of its own. */
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

/* |x|_1 / |x|_2 */
static double flatness(const float *x)
{
    double l1 = 0, l2 = 0;
    for (size_t i = 0; i < BUCKET; i++) {
        l1 += fabs((double)x[i]);
        l2 += (double)x[i] * (double)x[i];
    }
    return l1 / sqrt(l2);
}

/* Normal numbers to a power, the one that makes the bucket this flat. */
static void bucket_of(float *x, const Rng *rng, size_t bucket, double wanted)
{
    double low = 0.1, high = 4;
    for (int step = 0; step < 24; step++) {
        const double power = 0.5 * (low + high);
        for (size_t i = 0; i < BUCKET; i++) {
            const double z = rng_normal(rng, USE_TEST, bucket * BUCKET + i);
            x[i] = (float)copysign(pow(fabs(z), power), z);
        }
        if (flatness(x) > wanted)
            low = power;
        else
            high = power;
    }
}

typedef struct {
    const char *of;
    double one, mixed, three; /* published: one level; two that are read as one; three */
} Published;

/* Squared relative errors of buckets of 512. The first column gives A = (n + 3 - e) / 3, the others then follow. */
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
        /* (1 - a)^3 + a^3, added up, and so on; deviations of a bucket are 4.1, 5.2 and 0.65 at most. */
        const double want_one = n - 3 * a + 3, want_mixed = n - 4 * a + 5, want_three = n / 9 - a + 3;
        check_near(one, want_one, 5 * 4.1 / sqrt(BUCKETS));
        check_near(mixed, want_mixed, 5 * 5.2 / sqrt(BUCKETS));
        check_near(three, want_three, 5 * 0.65 / sqrt(BUCKETS));
        check_near(want_mixed, e->mixed, 0.003 * e->mixed);
        check_near(want_three, e->three, 0.003 * e->three);
    }
}

/* The same vectors, one level: A - 1. */
static void qsgd_errs_a_thirtieth_of_that(void **state)
{
    (void)state;
    for (size_t p = 0; p < countof(published); p++) {
        const double a = (BUCKET + 3 - published[p].one) / 3;
        const Rng values = rng_open(p, 0, 0, 0, 1);
        Try *t = try_open("qsgd:bits=1,bucket=512", (size_t)BUCKET * BUCKETS);
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
        check_near(error, a - 1, 5 * sqrt(a / BUCKETS)); /* a bucket's number of ones has the variance A */
        check(error < published[p].one / 25);
        try_close(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_errors_of_qsgd_are_those_of_rounding_the_wrong_way),
        cmocka_unit_test(qsgd_errs_a_thirtieth_of_that),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
