/* test_nuqsgd.c -- the codec nuqsgd, which rounds each element at random to 0 or to the norm times a power of
 * two. Compares the vector kernels with the scalar code of quantise.h, and that with the definition of the levels
 * in doubles. Also tests sizes. */
#include "math/vec/kernels.h"
#include "coder/planes.h"
#include "rig/try.h"

#include <float.h>

static const size_t sizes[] = {0,   1,   2,   3,    7,     8,     63,    64,    65,
                               511, 512, 513, 1000, 65535, 65536, 65537, 200000};
static const size_t buckets[] = {0, 1, 3, 64, 512, 8192, 65536, 100000};

typedef struct {
    size_t n, bucket;
    int bits;
} Case;

static Try *open_case(Case k)
{
    char spec[128];
    snprintf(spec, sizeof spec, "nuqsgd:bits=%d,bucket=%zu", k.bits, k.bucket);
    return try_open(spec, k.n);
}

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

static void ladders_equal_their_definition_on_every_instruction_set(void **state)
{
    (void)state;
    enum { N = 700 };
    static const float norms[] = {1, 3.7f, 0x1p-60f, 0x1.8p-61f, 1e-30f, 0x1p-149f, 0x1.8p-140f, FLT_MAX};
    static const size_t ends[] = {0, 1, 7, 15, 16, 17, 33, 64, 511, N};
    static uint8_t code[N + 1];
    float x[N], y[N];
    const RngKey key = {0x1234567, 0x89abcdef, 0xdeadbeef, 0x55aa55aa};
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

static void a_sign_without_a_level_is_seen(void **state)
{
    (void)state;
    float y[40];
    for (int bits = 1; bits <= LADDER_BITS_MAX; bits++)
        for (int isa = 0; isa < ISA_COUNT; isa++)
            for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)
                for (unsigned one = 0; one < 256; one++) {
                    uint8_t code[40] = {0};
                    code[35] = (uint8_t)one;
                    check(k->descend(code, 40, ladder_make(1, bits), y) ==
                          (one < 2u << bits && one != 1u << bits));
                }
}

/* ---- vectors that are encoded and decoded again ---- */

static void check_elements(const Try *t, Case k)
{
    const size_t bucket = k.bucket ? k.bucket : k.n;
    for (size_t start = 0, b = 0; start < k.n; start += bucket, b++) {
        const size_t end = k.n - start < bucket ? k.n : start + bucket;
        const float norm = load_f32(t->out.data + 1 + 4 * b);
        double sum = 0;
        for (size_t i = start; i < end; i++)
            sum += (double)t->x[i] * (double)t->x[i];
        check_rel((double)norm, sqrt(sum), 1.3e-7);
        const Ladder l = ladder_make(norm, k.bits);
        for (size_t i = start; i < end; i++) {
            const RngKey key = rng_key(&t->call.rng, USE_COIN, i / BLOCK);
            const uint32_t at = (uint32_t)(i % BLOCK);
            const uint32_t code = norm == 0     ? 0
                                  : k.bits == 1 ? coin_code(coin_make(norm), t->x[i], &key, at)
                                                : ladder_code(&l, t->x[i], &key, at);
            check(float_bits(t->y[i]) == float_bits(ladder_value(&l, code)));
        }
    }
}

static void every_size_bucket_and_width_comes_back_as_defined(void **state)
{
    (void)state;
    static const int bits[] = {4, 1, 6, 3, 5, 2, 4};
    size_t turn = 0;
    for (size_t a = 0; a < countof(sizes); a++)
        for (size_t b = 0; b < countof(buckets); b++) {
            const Case k = {sizes[a], buckets[b], bits[turn++ % countof(bits)]};
            Try *t = open_case(k);
            try_normal(t, k.n + 1);
            for (size_t i = 0; i < k.n / 7; i++) /* zeros of both signs fill the first buckets */
                t->x[i] = i % 2 ? -0.0f : 0;
            try_both(t);
            const size_t bucket = k.bucket ? k.bucket : k.n ? k.n : 1, heads = (k.n + bucket - 1) / bucket;
            const size_t own = 1 + 4 * heads + planes_size(k.n, k.bits + 1), raw = 4 * k.n + 1;
            assert_int_equal(t->out.size, own < raw ? own : raw);
            if (own >= raw)
                assert_memory_equal(t->x, t->y, k.n * sizeof(float));
            else
                check_elements(t, k);
            try_close(t);
        }
}

static void one_bit_is_qsgd_with_one_level(void **state)
{
    (void)state;
    Try *t = try_open("nuqsgd:bits=1,bucket=0", 70000), *u = try_open("qsgd:levels=1,bucket=0", 70000);
    try_normal(t, 82), try_normal(u, 82);
    try_both(t), try_both(u);
    assert_memory_equal(t->y, u->y, 70000 * sizeof(float));
    try_close(t), try_close(u);
}

/* ---- mean and variance of draws ---- */

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(ladders_equal_their_definition_on_every_instruction_set),
    cmocka_unit_test(a_sign_without_a_level_is_seen),
    cmocka_unit_test(every_size_bucket_and_width_comes_back_as_defined),
    cmocka_unit_test(one_bit_is_qsgd_with_one_level),
};

CHECK_MAIN(tests)
