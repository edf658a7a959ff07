/* test_rng.c -- the random number generator: known answers, uniformity, and independence of related words.
 *
 * All seeds are fixed. A true random source passes each statistical check with probability above 1 - 1e-7.
 * `make rng-quality` runs dieharder on the same generator. */
#include "rig/check.h"
#include "base/rng.c"

/* The known answers of Philox4x32-10 by its authors (kat_vectors of Random123). */
TEST(philox_matches_its_known_answers)
{
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < countof(known); i++) {
        uint32_t x[4];
        memcpy(x, known[i].counter, sizeof x);
        philox(x, known[i].key);
        assert_memory_equal(x, known[i].out, sizeof x);
    }
}

/* Checks by a chi-square test that the cells are equally likely. With many cells, chi-square with k = cells - 1
 * degrees of freedom is nearly normal with mean k and variance 2 k, so (chi-square - k) / sqrt(2 k) is a
 * z-score. */
static void check_chi2(const uint32_t *count, size_t cells, double draws, const char *what)
{
    const double want = draws / (double)cells;
    double chi2 = 0;
    for (size_t i = 0; i < cells; i++)
        chi2 += ((double)count[i] - want) * ((double)count[i] - want) / want;
    const double z = (chi2 - (double)(cells - 1)) / sqrt(2 * (double)(cells - 1));
    if (fabs(z) > 5.6)
        print_error("%s: chi-square z = %.2f\n", what, z);
    check(fabs(z) <= 5.6);
}

static const Rng *rng(void)
{
    static Rng r;
    static bool open;
    if (!open)
        r = rng_open(1, 0, 0, 0, rng_hash("quality"));
    open = true;
    return &r;
}

TEST(words_are_uniform_in_every_byte)
{
    enum { DRAWS = 1 << 22 };
    static uint32_t count[4][256];
    memset(count, 0, sizeof count);
    for (uint64_t block = 0; block < DRAWS / BLOCK; block++) {
        const RngKey key = rng_key(rng(), USE_COIN, block);
        for (uint32_t i = 0; i < BLOCK; i++) {
            const uint32_t w = rng_word(&key, i);
            for (int b = 0; b < 4; b++)
                count[b][w >> 8 * b & 255]++;
        }
    }
    for (int b = 0; b < 4; b++)
        check_chi2(count[b], 256, DRAWS, "byte");
}

/* Checks pairs of random words. The top 8 bits of the two words select one of 65,536 cells, which must be
 * equally likely. */
static void check_pairs(uint32_t (*pair)(uint64_t i), size_t draws, const char *what)
{
    static uint32_t count[65536];
    memset(count, 0, sizeof count);
    for (uint64_t i = 0; i < draws; i++)
        count[pair(i)]++;
    check_chi2(count, 65536, (double)draws, what);
}

static uint32_t join(uint32_t a, uint32_t b)
{
    return (a >> 24) << 8 | b >> 24;
}
static uint32_t neighbours(uint64_t i)
{
    const RngKey key = rng_key(rng(), USE_COIN, i / (BLOCK / 2));
    const uint32_t e = (uint32_t)(2 * (i % (BLOCK / 2)));
    return join(rng_word(&key, e), rng_word(&key, e + 1));
}
/* Joins the words of elements e and e + 16, which one lane of a 16-lane vector computes one after the other. */
static uint32_t lanes(uint64_t i)
{
    const RngKey key = rng_key(rng(), USE_COIN, i / (BLOCK / 2));
    const uint32_t j = (uint32_t)(i % (BLOCK / 2)), e = j / 16 * 32 + j % 16;
    return join(rng_word(&key, e), rng_word(&key, e + 16));
}
static uint32_t adjacent_blocks(uint64_t i)
{
    const RngKey a = rng_key(rng(), USE_COIN, 2 * (i / BLOCK)),
                 b = rng_key(rng(), USE_COIN, 2 * (i / BLOCK) + 1);
    return join(rng_word(&a, (uint32_t)(i % BLOCK)), rng_word(&b, (uint32_t)(i % BLOCK)));
}
static uint32_t continuation(uint64_t i)
{
    const RngKey key = rng_key(rng(), USE_COIN, i / BLOCK);
    return join(rng_word(&key, (uint32_t)(i % BLOCK)), rng_word_more(&key, (uint32_t)(i % BLOCK)));
}
static uint32_t two_uses(uint64_t i)
{
    const RngKey a = rng_key(rng(), USE_COIN, i / BLOCK), b = rng_key(rng(), USE_ATOM, i / BLOCK);
    return join(rng_word(&a, (uint32_t)(i % BLOCK)), rng_word(&b, (uint32_t)(i % BLOCK)));
}
static uint32_t two_repeats(uint64_t i)
{
    const Rng r = rng_open(1, i / BLOCK, 0, 0, 5), s = rng_open(1, i / BLOCK + 1, 0, 0, 5);
    const RngKey a = rng_key(&r, USE_COIN, 0), b = rng_key(&s, USE_COIN, 0);
    return join(rng_word(&a, (uint32_t)(i % BLOCK)), rng_word(&b, (uint32_t)(i % BLOCK)));
}

static uint32_t two_steps(uint64_t i)
{
    const Rng r = rng_open(1, 0, 0, (int64_t)i, 5), s = rng_open(1, 0, 0, (int64_t)i + 1, 5);
    const RngKey a = rng_key(&r, USE_COIN, 0), b = rng_key(&s, USE_COIN, 0);
    return join(rng_word(&a, 0), rng_word(&b, 0));
}
static uint32_t two_workers(uint64_t i)
{
    const Rng r = rng_open(1, 0, RNG_EVERYONE, (int64_t)i, 5), s = rng_open(1, 0, 0, (int64_t)i, 5);
    const RngKey a = rng_key(&r, USE_COIN, 0), b = rng_key(&s, USE_COIN, 0);
    return join(rng_word(&a, 0), rng_word(&b, 0));
}

TEST(related_words_are_independent)
{
    enum { DRAWS = 1 << 20 };
    check_pairs(neighbours, DRAWS, "neighbours");
    check_pairs(lanes, DRAWS, "lanes");
    check_pairs(adjacent_blocks, DRAWS, "blocks");
    check_pairs(continuation, DRAWS, "word and continuation");
    check_pairs(two_uses, DRAWS / 2, "two uses");
    check_pairs(two_repeats, DRAWS / 4, "two repeats");
    check_pairs(two_steps, DRAWS / 4, "two steps");
    check_pairs(two_workers, DRAWS / 4, "two workers");
}

/* If one bit of the word `a` of the key is flipped, each bit of a random word must flip with probability 1/2.
 * The limit 0.03 is 7.7 standard deviations. */
TEST(every_input_bit_moves_every_output_bit)
{
    enum { DRAWS = 1 << 14 };
    for (int bit = 0; bit < 32; bit++) {
        uint32_t flips[32] = {0};
        for (uint32_t i = 0; i < DRAWS; i++) {
            RngKey key = rng_key(rng(), USE_TEST, i);
            const uint32_t before = rng_word(&key, i);
            key.a ^= UINT32_C(1) << bit;
            const uint32_t changed = before ^ rng_word(&key, i);
            for (int o = 0; o < 32; o++)
                flips[o] += changed >> o & 1;
        }
        for (int o = 0; o < 32; o++)
            check(fabs(flips[o] - DRAWS / 2.0) < 0.03 * DRAWS);
    }
}

TEST(addresses_differ_in_each_part)
{
    const Rng base = rng_open(1, 2, 3, 4, 5);
    const Rng other[] = {rng_open(2, 2, 3, 4, 5), rng_open(1, 3, 3, 4, 5), rng_open(1, 2, 4, 4, 5),
                         rng_open(1, 2, 3, 5, 5), rng_open(1, 2, 3, 4, 6), rng_open(1, 2, RNG_EVERYONE, 4, 5),
                         rng_open(2, 1, 3, 4, 5), rng_below(&base, 0),     rng_below(&base, 1)};
    for (size_t i = 0; i < countof(other); i++)
        check(rng_u64(&base, USE_COIN, 0) != rng_u64(&other[i], USE_COIN, 0));
    check(rng_u64(&base, USE_COIN, 9) == rng_u64(&base, USE_COIN, 9));
}

/* The mean of N uniform numbers has the standard deviation 1 / sqrt(12 N). A deviation above 5.6 standard
 * deviations has probability 2e-8. */
TEST(units_fill_the_unit_interval)
{
    enum { N = 1 << 16 };
    double sum = 0, least = 1, most = 0;
    for (uint64_t i = 0; i < N; i++) {
        const double u = rng_unit(rng(), USE_SAMPLE, i);
        sum += u;
        least = fmin(least, u);
        most = fmax(most, u);
    }
    check(fabs(sum / N - 0.5) <= 5.6 / sqrt(12.0 * N));
    /* the least of N uniform numbers is above 4e-4 with probability (1 - 4e-4)^N = 4e-12 */
    check(least >= 0 && least < 4e-4 && most < 1 && most > 1 - 4e-4);
}

TEST(stored_values_never_change)
{
    const Rng r = rng_open(1, 0, 0, 100, rng_hash("conv1.weight"));
    check(rng_hash("conv1.weight") == UINT64_C(0x69a29a2cee47d254));
    check(rng_u64(&r, USE_COIN, 12345678901) == UINT64_C(0x0438e0dfd86f40cd));
}

TEST(normals_have_the_moments_and_tail_of_the_normal_law)
{
    enum { DRAWS = 1 << 20 };
    double sum = 0, sum2 = 0, sum4 = 0, beyond3 = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        const double x = rng_normal(rng(), USE_DATA, i);
        sum += x;
        sum2 += x * x;
        sum4 += x * x * x * x;
        beyond3 += fabs(x) > 3;
    }
    const double sd = sqrt(DRAWS);
    check_near(sum / DRAWS, 0, 5.6 / sd);
    check_near(sum2 / DRAWS, 1, 5.6 * sqrt(2) / sd);
    check_near(sum4 / DRAWS, 3, 5.6 * sqrt(96) / sd);
    check_near(beyond3 / DRAWS, 0.0026997960632601866, 5.6 * sqrt(0.0027) / sd);
}

TEST(the_quantile_inverts_the_normal_distribution_function)
{
    /* Phi(z) = u has the relative error h(z) e at the root z (1 + e), h(z) = |z| phi(z) / Phi(z) */
    for (double u = 0.5 - 0x1p-30; u > 0x1p-54; u *= 0.997) {
        const long double z = (long double)normal_lower_quantile(u),
                          phi = expl(-z * z / 2) / sqrtl(2 * M_PIl);
        check(fabsl(erfcl(-z / sqrtl(2)) / 2 - (long double)u) <= 1e-15L * fabsl(z) * phi + 0x1p-62L);
    }
    check(normal_lower_quantile(0.5) == 0);
}

TEST(many_normals_equal_one_at_a_time)
{
    static float got[2 * BLOCK + 100];
    const uint64_t first = BLOCK - 50;
    rng_normals(rng(), USE_INIT, first, countof(got), 0.3, got);
    for (size_t i = 0; i < countof(got); i++)
        check(got[i] == (float)(0.3 * rng_normal(rng(), USE_INIT, first + i)));
}

TEST(many_units_equal_one_at_a_time)
{
    static double got[2 * BLOCK + 100];
    const uint64_t first = BLOCK - 50;
    rng_units(rng(), USE_INIT, first, countof(got), got);
    for (size_t i = 0; i < countof(got); i++)
        check(got[i] == rng_unit(rng(), USE_INIT, first + i));
}

CHECK_ALL(NULL, NULL)
