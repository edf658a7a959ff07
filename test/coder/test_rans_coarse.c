/* test_rans_coarse.c -- the weights of coarse tables against all that there are. */
#include "rig/check.h"

#include "coder/elias.h"
#include "coder/rans.h"
#include "base/rng.h"

/* To the last of 16 bits behind the point, but for what 16 squarings of 31 bits cut off. */
static void logarithms_are_cut_off_at_the_last_place(void **state)
{
    (void)state;
    for (uint32_t v = 1; v < 1u << 17; v++) {
        const double below = ldexp(log2(v), RANS_LOG_BITS) - rans_log2(v);
        check(below >= 0 && below < 1.01 && (below == 0 || (v & (v - 1)) != 0));
    }
}

/* Bits of a coarse table and of its symbols, each at its weight's part of 2^precision, and what weights cost all symbols by adding
 * up: log2 e times their sum's part of it. */
static double coarse_bits(const Rans *r, const uint64_t *count)
{
    double bits = (double)rans_table_bits(r), total = 0, sum = 0;
    for (uint32_t k = 0; k < r->present; k++) {
        bits += (double)count[k] * (r->precision - log2(r->weight[k]));
        total += (double)count[k];
        sum += r->weight[k];
    }
    return bits + total * ldexp(sum, -r->precision) * M_LOG2E;
}

/* Over all weights of the three classes around each symbol's share, from the k-th on. */
static double least_coarse_bits(Rans *r, const uint64_t *count, uint64_t total, uint32_t k)
{
    if (k == r->present)
        return coarse_bits(r, count);
    double least = INFINITY;
    const uint64_t share = (count[k] << r->precision) / total;
    const unsigned middle = share > 1 ? log2_floor(share) : 1;
    for (unsigned class = middle - 1; class <= middle + 1; class ++) {
        const unsigned sent = class < r->coarse - 1 ? class : r->coarse - 1;
        for (uint32_t v = 1u << sent; v < 2u << sent; v++) {
            r->weight[k] = (uint16_t)(v << (class - sent));
            least = fmin(least, least_coarse_bits(r, count, total, k + 1));
        }
    }
    return least;
}

/* A multiple of 2^precision symbols, so that what a weight takes from the others is whole. */
static void coarse_weights_are_the_best_of_all(void **state)
{
    (void)state;
    const Rng rng = rng_open(5, 0, 0, 0, rng_hash("coarse"));
    for (uint64_t trial = 0; trial < 1500; trial++) {
        uint64_t count[5], total = 0;
        Rans r = {.alphabet = 5, .precision = 5 + (int)(trial % 9), .coarse = 1 + (unsigned)(trial / 9 % 3)};
        r.present = r.coarse == 1 ? 5 : r.coarse == 2 ? 4 : 3;
        for (uint32_t k = 0; k < r.present; k++) {
            r.symbol[k] = (uint16_t)k;
            total += count[k] =
                1 + (uint64_t)exp2((6.0 + (double)(trial % 3 * 4)) * rng_unit(&rng, USE_TEST, trial * 8 + k));
        }
        const uint64_t whole = (total | ((UINT64_C(1) << r.precision) - 1)) + 1;
        count[r.present - 1] += whole - total;
        total = whole;
        Rans all = r;
        rans_coarsen(&r, count);
        check(coarse_bits(&r, count) <=
              least_coarse_bits(&all, count, total, 0) + ldexp((double)total, 1 - RANS_LOG_BITS));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(logarithms_are_cut_off_at_the_last_place),
    cmocka_unit_test(coarse_weights_are_the_best_of_all),
};

CHECK_MAIN(tests)
