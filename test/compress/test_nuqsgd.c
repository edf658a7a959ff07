/* test_nuqsgd.c -- the codec nuqsgd, which rounds each element at random to 0 or to the norm times a power of
 * two. Compares the vector kernels with the definition of the levels in doubles. */
#include "math/vec/kernels.h"
#include "coder/planes.h"
#include "rig/try.h"

#include <float.h>

/* ---- reference: the definition, computed in doubles ---- */

typedef struct {
    double low, up;
} Neighbours;

/* Returns the two levels next to v. The levels are 0, norm, norm / 2, norm / 4, ... */
static Neighbours neighbours(double v, double norm, int bits)
{
    const int s = (1 << bits) - 1;
    double low = 0, up = ldexp(norm, 1 - s);
    while (v >= up && up < norm) {
        low = up;
        up *= 2;
    }
    return (Neighbours){low, up};
}

TEST(ladders_equal_their_definition_on_every_instruction_set)
{
    enum { N = 700 };
    static const float norms[] = {1, 3.7f, 0x1p-60f, 0x1.8p-61f, 1e-30f, 0x1p-149f, 0x1.8p-140f, FLT_MAX};
    static const size_t ends[] = {0, 1, 7, 15, 16, 17, 33, 64, 511, N};
    static uint8_t code[N + 1];
    float x[N], y[N];
    const RngKey key = {.a = 0x1234567, .b = 0x89abcdef, .c = 0xdeadbeef, .d = 0x55aa55aa};
    const Rng rng = rng_open(16, 0, 0, 0, 0);
    size_t ups = 0, edges = 0;
    for (size_t v = 0; v < countof(norms) * LADDER_BITS_MAX; v++) {
        const float norm = norms[v / LADDER_BITS_MAX];
        const int bits = 1 + (int)(v % LADDER_BITS_MAX), s = (1 << bits) - 1;
        const Ladder l = ladder_make(norm, bits);
        const uint32_t first = (uint32_t)v * 3;
        for (size_t i = 0; i < N; i++) {
            const double u = 2 * rng_unit(&rng, USE_TEST, i) - 1;
            x[i] = (float)ldexp((double)norm * u, -(int)(i % (size_t)(s + 4)));
        }
        x[0] = norm, x[1] = -norm, x[2] = 0, x[3] = -0.0f;
        for (size_t i = 0; i < N; i++) {
            const uint32_t one = ladder_code(&l, x[i], &key, first + (uint32_t)i), level = one & l.s;
            const Neighbours near = neighbours(fabs((double)x[i]), (double)norm, bits);
            const double got = fabs((double)ladder_value(&l, one)),
                         part = (fabs((double)x[i]) - near.low) / (near.up - near.low);
            const double u = rng_word(&key, first + (uint32_t)i) * 0x1p-32;
            check(level <= (uint32_t)s && (level || one == 0));
            check(!level || (one >> bits) == (uint32_t)(x[i] < 0));
            /* u is so near `part`, the probability of rounding up, that a rounding error may decide */
            if (fabs(u - part) < 1e-6)
                edges++;
            else
                check_near(got, u < part ? near.up : near.low, 1e-6 * got + 0x1p-149);
            ups += u < part;
        }
        for (size_t e = 0; e < countof(ends); e++)
            for (int isa = 0; isa < ISA_COUNT; isa++)
                for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL) {
                    const size_t n = ends[e];
                    code[n] = 77;
                    k->climb(x, n, l, key, first, code);
                    check(code[n] == 77);
                    check(k->descend(code, n, l, y));
                    for (size_t i = 0; i < n; i++) {
                        assert_int_equal(code[i], ladder_code(&l, x[i], &key, first + (uint32_t)i));
                        check(float_bits(y[i]) == float_bits(ladder_value(&l, code[i])));
                    }
                }
    }
    check(ups > 1000 && edges < 2000);
}

CHECK_ALL(NULL, NULL)
