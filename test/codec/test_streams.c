/* test_streams.c -- the functions by which encoders report the entropy of their streams, against exact values. */
#include "codec/compressor.h"
#include "rig/check.h"

#include <math.h>

/* log2 of n over k, factor by factor. */
static double log2_choose(unsigned n, unsigned k)
{
    double bits = 0;
    for (unsigned i = 0; i < k; i++)
        bits += log2((double)(n - i)) - log2((double)(i + 1));
    return bits;
}

static void index_sets_count_the_subsets_of_their_size(void **state)
{
    (void)state;
    static const unsigned n[] = {1, 2, 7, 64, 1000, 65536};
    for (size_t i = 0; i < countof(n); i++)
        for (unsigned k = 0; k <= n[i]; k += 1 + n[i] / 9) {
            Streams s = {0};
            streams_subset(&s, n[i], k);
            check(s.reported);
            check_near(s.entropy_bits, log2_choose(n[i], k), 1e-9 * n[i] + 1e-12);
        }
    Streams six = {0};
    streams_subset(&six, 4, 2);
    check_near(six.entropy_bits, log2(6), 1e-12);
}

static void symbols_count_their_order_0_entropy(void **state)
{
    (void)state;
    Streams s = {0};
    streams_symbols(&s, (const uint64_t[]){8, 4, 2, 0, 2}, 5); /* 16 symbols of 1.75 bits */
    check_near(s.entropy_bits, 28, 1e-12);
    streams_symbols(&s, (const uint64_t[]){5, 0}, 2); /* certain: nothing more */
    check_near(s.entropy_bits, 28, 1e-12);
}

static void streams_add_up(void **state)
{
    (void)state;
    Streams s = {0};
    check(!s.reported);
    streams_floats(&s, 3);
    streams_bits(&s, 2.5);
    check_near(s.entropy_bits, 98.5, 1e-12);
    check(s.reported && !s.raw);
    streams_floats(NULL, 3); /* nobody asked */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_sets_count_the_subsets_of_their_size),
        cmocka_unit_test(symbols_count_their_order_0_entropy),
        cmocka_unit_test(streams_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
