/* test_rotation.c -- random rotations against matrices built from their definition. Also tests the short cosine
 * transform against its sum, Lloyd-Max levels against their optimality conditions, and kernels against plain
 * loops. */
#include "rig/check.h"

#include "math/lloyd.c"
#include "math/rotation.c"

#include <math.h>
#include <string.h>

static void fill(float *x, size_t n, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 9);
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
}

/* ---- how a vector is cut into pieces and blocks ---- */

TEST(pieces_and_blocks_cover_every_length)
{
    for (size_t n = 1; n < 400000; n += n < 2000 ? 1 : 97) {
        const size_t pieces = rotation_pieces(n);
        size_t sum = 0;
        for (size_t p = 0; p < pieces; p++) {
            const size_t piece = rotation_piece(n, p);
            check(sum == p * BLOCK && (p + 1 == pieces || piece == BLOCK));
            sum += piece;
            for (size_t left = piece, size; left; left -= size) {
                size = rotation_block(left);
                const bool power = (size & (size - 1)) == 0;
                check(size > 0 && size <= left && size <= ROTATION_LONGEST);
                check(power || (size == left && size < 2 * ROTATION_LEAST));
                check(size >= ROTATION_LEAST || n < ROTATION_LEAST);
                check((piece - left) % 32 == 0);
            }
        }
        check(sum == n);
    }
    check(rotation_pieces(0) == 0 && rotation_block(0) == 0);
}

/* ---- the short cosine transform ---- */

static double wave(size_t n, size_t k, size_t i)
{
    return sqrt((k ? 2 : 1) / (double)n) * cos(M_PI * (double)((2 * i + 1) * k % (4 * n)) / (2 * (double)n));
}

TEST(short_cosines_are_the_defining_sums)
{
    static const size_t sizes[] = {1, 2, 3, 5, 64, 65, 100, 257, 300, 511, 512};
    for (size_t s = 0; s < countof(sizes); s++) {
        const size_t n = sizes[s];
        float x[SHORT_COSINE_MOST], y[SHORT_COSINE_MOST];
        fill(x, n, 1 + s);
        memcpy(y, x, n * sizeof *x);
        short_cosine(y, n, FORTH);
        for (size_t k = 0; k < n; k++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += wave(n, k, i) * (double)x[i];
            check_near((double)y[k], sum, 1e-9 + 6.1e-8 * fabs(sum));
        }
        short_cosine(y, n, BACK);
        for (size_t i = 0; i < n; i++)
            check_near((double)y[i], (double)x[i], 2e-6);
    }
}

/* ---- rotations ---- */

static bool sign_bit(const Rotation *r, int round, size_t i)
{
    const uint32_t word = rng_word(&r->key, (uint32_t)((r->at + i) / 32 + 4096 * (size_t)round));
    return word >> (i % 32) & 1;
}

static void plain_turn(const Rotation *r, const double *x, size_t n, double *y)
{
    double *z = malloc(n * sizeof *z);
    memcpy(y, x, n * sizeof *y);
    const int rounds = r->rounds + (r->rounds > 1 && !(n & (n - 1)) && n < 4096);
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < n; i++)
            z[i] = sign_bit(r, round, i) ? -y[i] : y[i];
        for (size_t k = 0; k < n; k++) {
            y[k] = 0;
            for (size_t i = 0; i < n; i++)
                y[k] += z[i] * (n & (n - 1) ? wave(n, k, i)
                                            : (__builtin_popcountll(i & k) & 1 ? -1 : 1) / sqrt((double)n));
        }
    }
    free(z);
}

TEST(rotations_are_rounds_of_signs_and_transforms)
{
    static const size_t sizes[] = {64, 70, 128, 256, 300, 511, 512, 1024};
    const Rng rng = rng_open(3, 1, 4, 1, 5);
    for (size_t s = 0; s < countof(sizes); s++)
        for (int rounds = 1; rounds <= ROTATION_ROUNDS_MAX; rounds++) {
            const size_t n = sizes[s];
            const Rotation r = rotation_open(&rng, s, 256 * s, rounds);
            float x[1024], y[1024];
            double exact[1024], want[1024];
            fill(x, n, 50 + s);
            for (size_t i = 0; i < n; i++)
                exact[i] = (double)x[i];
            plain_turn(&r, exact, n, want);
            rotation_turn(&r, x, n, 4, y);
            for (size_t i = 0; i < n; i++)
                check_near((double)y[i], 4 * want[i], 2e-5);
            rotation_turn_back(&r, y, n);
            for (size_t i = 0; i < n; i++)
                check_near((double)y[i], 4 * (double)x[i], 2e-5);
        }
}

/* ---- levels ---- */

static double density(double t)
{
    return exp(-t * t / 2) / sqrt(2 * M_PI);
}

static double tail(double t)
{
    return erfc(t / sqrt(2)) / 2;
}

/* Each level must be the mean of the standard normal distribution over the interval that is rounded to it. The
 * variance of rounding must be the published one (Max 1960, table I). */
TEST(levels_are_the_means_of_their_cells)
{
    static const double published[] = {0.3634, 0.1175, 0.03454, 0.009497, 0.002499};
    for (int bits = 1; bits <= LLOYD_BITS_MAX; bits++) {
        const int count = 1 << (bits - 1);
        const float *level = lloyd_levels(bits);
        double kept = 0, low = 0;
        for (int k = 0; k < count; k++) {
            const double high =
                k + 1 < count ? ((double)level[k] + (double)level[k + 1]) / 2 : (double)INFINITY;
            const double p = tail(low) - tail(high), mean = (density(low) - density(high)) / p;
            check_rel((double)level[k], mean, 1e-6);
            kept += 2 * p * (double)level[k] * (double)level[k];
            low = high;
        }
        if (bits <= (int)countof(published))
            check_rel(1 - kept, published[bits - 1], 0.003);
    }
}

/* ---- kernels ---- */

TEST(every_instruction_set_flips_and_rounds_alike)
{
    enum { MOST = 1200 };
    const Rng rng = rng_open(2, 7, 1, 8, 2);
    const RngKey key = rng_key(&rng, USE_SIGN, 3);
    float x[MOST], y[MOST], want[MOST];
    uint8_t code[MOST];
    for (Isa isa = 0; isa < ISA_COUNT; isa++)
        for (size_t n = 0; n <= MOST && kernels_of(isa); n += n < 70 ? 1 : 113) {
            const Kernels *k = kernels_of(isa);
            fill(x, n, 90 + n);
            k->flip_signs(x, n, 0.25f, key, 11, y);
            for (size_t i = 0; i < n; i++) {
                const bool flip = rng_word(&key, (uint32_t)(11 + i / 32)) >> (i % 32) & 1;
                want[i] = flip ? -0.25f * x[i] : 0.25f * x[i];
            }
            check(!memcmp(y, want, n * sizeof *y));
            k->flip_signs(y, n, 4, key, 11, y);
            check(!memcmp(y, x, n * sizeof *y));
            for (int bits = 1; bits <= LLOYD_BITS_MAX; bits++) {
                const LevelScale s = lloyd_scale(bits, 1.5f);
                const float *level = lloyd_levels(bits);
                double dot = 0, size = 0;
                const double got = k->nearest_levels(x, n, &s, code);
                for (size_t i = 0; i < n; i++) {
                    int best = 0;
                    const double a = fabs((double)x[i]) / 1.5;
                    for (int l = 1; l < s.count; l++)
                        if (fabs(a - (double)level[l]) < fabs(a - (double)level[best]))
                            best = l;
                    check((code[i] & (s.count - 1)) == best && code[i] >> (bits - 1) == (signbit(x[i]) != 0));
                    dot += fabs((double)x[i]) * (double)level[best];
                    size += fabs((double)x[i]) * (double)level[best];
                }
                check_near(got, dot, 4e-7 * size);
                check(isa == 0 || got == kernels_of(0)->nearest_levels(x, n, &s, code));
            }
        }
}

CHECK_ALL(NULL, NULL)
