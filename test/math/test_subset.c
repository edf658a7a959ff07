/* test_subset.c -- random subsets of k of n elements. All subsets must have the same probability.
 *
 * Chi-square statistics must be below z = 6.1 in the normal approximation of Wilson and Hilferty. So each
 * test has a false-alarm probability below 1e-9. Seeds are fixed. */
#include "rig/check.h"
#include "base/rng.h"
#include "compress/sparse/randk.c"
#include "math/vec/kernels.h"

static Arena *forever;

static void check_chi2(double chi2, size_t cells, const char *what)
{
    const double nu = (double)cells - 1, w = 2 / (9 * nu);
    const double z = (cbrt(chi2 / nu) - (1 - w)) / sqrt(w);
    if (!(z < 6.1))
        print_error("%s: chi2 %.1f of %zu cells, z %.1f\n", what, chi2, cells, z);
    check(z < 6.1);
}

static Rng address(uint64_t r)
{
    return rng_open(11, r, RNG_EVERYONE, 0, 5);
}

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* All subsets of a few elements must be equally frequent; a subset is counted by its bit mask. */
TEST(all_subsets_are_equally_likely)
{
    static const struct {
        size_t n, k;
    } rows[] = {{2, 1}, {5, 2}, {6, 3}, {8, 2}, {8, 7}, {10, 4}, {12, 9}, {13, 6}};
    for (size_t row = 0; row < countof(rows); row++) {
        const ArenaMark mark = arena_mark(forever);
        const size_t n = rows[row].n, k = rows[row].k, masks = (size_t)1 << n;
        const double cells = round(exp(log_choose((double)n, (double)k)));
        const size_t draws = (size_t)(100 * cells) + 2000;
        uint64_t *seen = NEW_ZERO(forever, uint64_t, masks);
        for (uint64_t r = 0; r < draws; r++) {
            Subset s;
            const Rng rng = address(r);
            uint64_t member[BLOCK / 64];
            const ArenaMark before = arena_mark(forever);
            check(subset_open(&s, &rng, n, k, forever));
            subset_mark(&s, 0, member);
            check((size_t)__builtin_popcountll(member[0]) == k && member[0] < masks);
            seen[member[0]]++;
            arena_rewind(forever, before);
        }
        double chi2 = 0;
        const double want = (double)draws / cells;
        for (size_t m = 0; m < masks; m++)
            if ((size_t)__builtin_popcountll(m) == k)
                chi2 += pow((double)seen[m] - want, 2) / want;
        check_chi2(chi2, (size_t)cells, "subsets");
        arena_rewind(forever, mark);
    }
}

/* A random subset of k of n elements is counted in three blocks of a, b and c elements. The blocks have i, j
 * and k - i - j elements of the subset with probability C(a, i) C(b, j) C(c, k - i - j) / C(n, k). Pairs (i,
 * j) with an expected count below 10 are counted together. */
TEST(blocks_get_their_hypergeometric_share)
{
    enum { DRAWS = 60000 };
    const size_t n = 2 * BLOCK + 5000;
    const size_t ks[] = {1, 3, 40, n - 2, n - 30};
    for (size_t row = 0; row < countof(ks); row++) {
        const ArenaMark mark = arena_mark(forever);
        /* for large k, counts the elements outside the subset; their distribution has the same form */
        const size_t k = ks[row], few = k < n / 2 ? k : n - k;
        uint64_t *seen = NEW_ZERO(forever, uint64_t, (few + 1) * (few + 1));
        for (uint64_t r = 0; r < DRAWS; r++) {
            Subset s;
            const Rng rng = address(r + 77000000 * row);
            const ArenaMark before = arena_mark(forever);
            check(subset_open(&s, &rng, n, k, forever) && s.before[3] == k);
            const size_t i = s.before[1], j = s.before[2] - s.before[1];
            seen[few == k ? i * (few + 1) + j : (BLOCK - i) * (few + 1) + BLOCK - j]++;
            arena_rewind(forever, before);
        }
        double chi2 = 0, rare_want = 0, rare_seen = 0;
        size_t cells = 0;
        for (size_t i = 0; i <= few; i++)
            for (size_t j = 0; i + j <= few; j++) {
                const double want =
                    DRAWS * exp(log_choose(BLOCK, (double)i) + log_choose(BLOCK, (double)j) +
                                log_choose(5000, (double)(few - i - j)) - log_choose((double)n, (double)few));
                const double got = (double)seen[i * (few + 1) + j];
                if (want < 10) {
                    rare_want += want;
                    rare_seen += got;
                } else {
                    chi2 += pow(got - want, 2) / want;
                    cells++;
                }
            }
        if (rare_want >= 10) {
            chi2 += pow(rare_seen - rare_want, 2) / rare_want;
            cells++;
        }
        check_chi2(chi2, cells, "shares of blocks");
        arena_rewind(forever, mark);
    }
}

/* A block has m of the n elements. The number of its elements in the subset has mean k m/n and variance (k
 * m/n) (1 - m/n) (n - k)/(n - 1). */
TEST(large_shares_have_the_right_mean_and_spread)
{
    enum { DRAWS = 4000 };
    const size_t n = 10 * BLOCK + 777, ks[] = {n / 100, n / 2, n - n / 10};
    for (size_t row = 0; row < countof(ks); row++) {
        const double k = (double)ks[row], p = (double)BLOCK / (double)n, mean = k * p;
        const double v = mean * (1 - p) * ((double)n - k) / ((double)n - 1);
        double sum[3] = {0}, squares[3] = {0};
        for (uint64_t r = 0; r < DRAWS; r++) {
            Subset s;
            const Rng rng = address(r + 99000000 * row);
            const ArenaMark before = arena_mark(forever);
            check(subset_open(&s, &rng, n, ks[row], forever));
            /* takes the first block, a middle block, and the last block of full length */
            for (size_t b = 0; b < 3; b++) {
                const size_t at = b == 0 ? 0 : b == 1 ? 5 : 9;
                const double off = (double)(s.before[at + 1] - s.before[at]) - mean;
                sum[b] += off / DRAWS;
                squares[b] += off * off / DRAWS;
            }
            arena_rewind(forever, before);
        }
        /* the deviations are nearly normal, so the relative variance of their squares is 2 */
        for (size_t b = 0; b < 3; b++) {
            check_near(sum[b], 0, 6.1 * sqrt(v / DRAWS));
            check_rel(squares[b], v, 6.1 * sqrt(2.0 / DRAWS));
        }
    }
}

TEST(eight_billion_elements_are_split_too)
{
    const size_t n = ((size_t)1 << 33) + 12345, ks[] = {0, 1, n / 100, n - 3, n};
    const Rng rng = address(3);
    for (size_t row = 0; row < countof(ks); row++) {
        const ArenaMark mark = arena_mark(forever);
        Subset s;
        check(subset_open(&s, &rng, n, ks[row], forever));
        check(s.before[blocks_of(n)] == ks[row]);
        for (size_t b = 0; b < blocks_of(n); b++)
            check(s.before[b + 1] - s.before[b] <= block_size(n, b));
        arena_rewind(forever, mark);
    }
    Subset none;
    check(subset_open(&none, &rng, 0, 0, forever) && none.before[0] == 0);
}

/* Returns floor(word range / 2^64), multiplied in pieces of 16 bits. */
static uint32_t scaled(uint64_t word, uint32_t range)
{
    uint64_t carry = 0;
    for (int piece = 0; piece < 4; piece++)
        carry = ((word >> 16 * piece & 0xffff) * range + carry) >> 16;
    return (uint32_t)carry;
}

TEST(picks_are_random_words_scaled_to_their_ranges)
{
    enum { MOST = 1 << 14 }; /* a carry occurs in about one of 2^16 products with the largest ranges */
    static uint32_t at[MOST + 1];
    for (uint32_t trial = 0; trial < 400; trial++) {
        const Rng rng = address(trial);
        const RngKey key = rng_key(&rng, USE_SAMPLE, trial);
        const uint32_t count = trial % 5 ? trial % 70 : MOST;
        const uint32_t range = trial % 5 && trial % 3 ? 1 + trial * 97 : (1u << 17) - count;
        for (int isa = 0; isa < ISA_COUNT; isa++) {
            if (!kernels_of((Isa)isa))
                continue;
            at[count] = 77;
            kernels_of((Isa)isa)->picks(&key, count, range, at);
            for (uint32_t i = 0; i < count; i++)
                assert_int_equal(
                    at[i], scaled((uint64_t)rng_word(&key, i) << 32 | rng_word_more(&key, i), range + i));
            assert_int_equal(at[count], 77);
        }
    }
}

CHECK_ALL_IN(forever)
