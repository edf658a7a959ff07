/* test_sketch_hash.c -- sketches hash elements to buckets: the kernels (hash and medians) on every instruction
 * set. */
#include "rig/check.h"
#include "math/vec/kernels.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

#define EACH_ISA(k)                                                                                          \
    for (int isa = 0; isa < ISA_COUNT; isa++)                                                                \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double median_of(float *v, size_t rows)
{
    qsort(v, rows, sizeof *v, by_value);
    return rows % 2 ? (double)v[rows / 2] : 0.5 * ((double)v[rows / 2 - 1] + (double)v[rows / 2]);
}

/* ---- kernels ---- */

static void buckets_are_the_high_halves_of_products(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 1000, 65537, 2147483647};
    uint32_t bucket[100];
    const RngKey key = {1, 2, 3, 4};
    for (size_t c = 0; c < countof(counts); c++)
        for (uint32_t n = 0; n <= 100; n += 1 + n / 20)
            EACH_ISA(k)
            {
                k->hash_buckets(key, 5 * n, n, counts[c], bucket);
                for (uint32_t i = 0; i < n; i++)
                    assert_int_equal(bucket[i], (uint64_t)rng_word(&key, 5 * n + i) * counts[c] >> 32);
            }
}

static void medians_are_those_of_sorted_columns(void **state)
{
    (void)state;
    enum { STRIDE = 80 };
    float x[MEDIAN_MOST * STRIDE], out[STRIDE], column[MEDIAN_MOST];
    const Rng rng = rng_open(3, 0, 0, 0, 0);
    /* many values are equal, and there are zeros of both signs */
    for (size_t i = 0; i < countof(x); i++)
        x[i] = (float)rint(2 * rng_normal(&rng, USE_TEST, i));
    for (size_t rows = 1; rows <= MEDIAN_MOST; rows++)
        for (size_t n = 0; n <= STRIDE - 15; n += 13)
            EACH_ISA(k)
            {
                out[n] = 1234;
                k->medians(x, STRIDE, rows, n, out);
                check(out[n] == 1234);
                for (size_t i = 0; i < n; i++) {
                    for (size_t r = 0; r < rows; r++)
                        column[r] = x[r * STRIDE + i];
                    check((double)out[i] == median_of(column, rows));
                    check(out[i] != 0 || !signbit(out[i]));
                }
            }
}

/* ---- tests of the hash ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_are_the_high_halves_of_products),
        cmocka_unit_test(medians_are_those_of_sorted_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
