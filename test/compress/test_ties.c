/* test_ties.c -- topk on vectors with equal magnitudes: among elements of equal magnitude it must send the
 * elements with the lowest indices. */
#include "rig/try.h"

/* The vectors have eight different magnitudes, or one, with random signs. `level` is the k-th largest
 * magnitude. */
static void topk_keeps_exactly_k_of_ties_on_any_number_of_threads(void **state)
{
    (void)state;
    const size_t n = 3 * BLOCK + 77;
    static const double ratios[] = {1e-5, 0.01, 0.1, 0.25, 0.4};
    for (size_t r = 0; r < 2 * countof(ratios); r++) {
        char spec[40];
        const size_t k = (size_t)(ratios[r / 2] * (double)n + 0.5);
        const bool equal = r % 2;
        snprintf(spec, sizeof spec, "topk:ratio=%g", ratios[r / 2]);
        Try *t = try_open(spec, n);
        size_t count[9] = {0}, left = k;
        int level = 8;
        for (uint32_t i = 0; i < n; i++) {
            const int v = equal ? 3 : 1 + (int)(rng_mix(i, 5) % 8);
            t->x[i] = (float)(rng_mix(i, 6) & 1 ? v : -v);
            count[v]++;
        }
        for (; count[level] < left; level--)
            left -= count[level];
        try_any_threads(t);
        for (size_t i = 0; i < n; i++) {
            const bool tie = fabsf(t->x[i]) == (float)level,
                       goes = tie ? left > 0 : fabsf(t->x[i]) > (float)level;
            left -= tie && goes;
            check(t->y[i] == (goes ? t->x[i] : 0));
        }
        check(left == 0);
        try_close(t);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(topk_keeps_exactly_k_of_ties_on_any_number_of_threads),
};

CHECK_MAIN(tests)
