/* test_kernels.c -- the SIMD kernels of every instruction set must give the same results as slow reference
 * loops, bit for bit. */
#include "rig/check.h"

#include "base/bytes.h"
#include "math/vec/kernels.h"

#include <float.h>

enum { N = 1500 };
static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 511, 512, 513, 1000, N};

/* Half of the normal numbers are scaled down further, by up to 2^-39. Some elements are zeros of either
 * sign. */
static void fill(float *x, size_t n, float scale)
{
    const Rng rng = rng_open(11, 0, 0, 0, 0);
    for (size_t i = 0; i < n; i++) {
        const double v = rng_normal(&rng, USE_TEST, i);
        const int order = (int)(rng_u32(&rng, USE_DATA, i) % 40);
        x[i] = scale * (float)(order < 20 ? v : ldexp(v, -order));
        if (order == 0)
            x[i] = rng_u32(&rng, USE_INIT, i) & 1 ? -0.0f : 0.0f;
    }
}

static const RngKey key = {.a = 0x1234567, .b = 0x89abcdef, .c = 0xdeadbeef, .d = 0x55aa55aa};

#define EACH_ISA(k)                                                                                          \
    for (int isa = 0; isa < ISA_COUNT; isa++)                                                                \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

TEST(every_table_is_full)
{
    EACH_ISA(k)
    {
        void *entry[sizeof(Kernels) / sizeof(void *)];
        memcpy(entry, k, sizeof entry);
        for (size_t i = 0; i < countof(entry); i++)
            check(entry[i] != NULL);
    }
}

TEST(sums_and_maxima_agree_to_the_bit_and_with_long_doubles)
{
    float x[N];
    fill(x, N, 1);
    for (size_t s = 0; s < countof(sizes); s++) {
        long double sum = 0, squares = 0;
        float most = 0;
        for (size_t i = 0; i < sizes[s]; i++) {
            sum += x[i];
            squares += (long double)x[i] * x[i];
            most = fmaxf(most, fabsf(x[i]));
        }
        double first = 0, first2 = 0;
        EACH_ISA(k)
        {
            double a, b;
            k->moments(x, sizes[s], &a, &b);
            check_near(a, (double)sum, 1e-12 * (double)(sizes[s] + 1));
            check_rel(b, (double)squares, 1e-13);
            check(k->abs_max(x, sizes[s]) == most);
            check(k->sum_squares(x, sizes[s]) == b);
            if (isa == 0)
                first = a, first2 = b;
            check(a == first && b == first2);
        }
    }
}

TEST(the_largest_magnitude_is_not_finite_where_an_element_is_not)
{
    static const float bad[] = {INFINITY, -INFINITY, NAN, -NAN};
    float x[N];
    fill(x, N, FLT_MAX / 8);
    for (size_t s = 0; s < countof(sizes); s++)
        for (size_t i = 0; i < sizes[s]; i += 1 + sizes[s] / 9)
            for (size_t b = 0; b < countof(bad); b++) {
                const float old = x[i];
                x[i] = bad[b];
                EACH_ISA(k)
                {
                    check(!isfinite(k->abs_max(x, sizes[s])));
                    check(isnan(k->abs_max(x, sizes[s])) == (isnan(bad[b]) != 0));
                }
                x[i] = old;
            }
}

TEST(sums_and_multiples_equal_their_definition)
{
    static const float factors[] = {1, -1, 0.5f, 0.3f, 0x1p-140f};
    float a[N], b[N], want[N], product[N], y[N + 1];
    fill(a, N, 1);
    fill(b, N, 3);
    for (size_t v = 0; v < countof(factors) * countof(sizes); v++) {
        const size_t n = sizes[v / countof(factors)];
        const float f = factors[v % countof(factors)];
        for (size_t i = 0; i < n; i++) {
            volatile float rounded = f * b[i]; /* volatile prevents a fused multiply-add */
            product[i] = rounded;
            want[i] = a[i] + rounded;
        }
        EACH_ISA(k)
        {
            y[n] = 77;
            k->add_scaled(a, b, f, n, y);
            assert_memory_equal(y, want, n * sizeof *y);
            k->scale(b, f, n, y);
            assert_memory_equal(y, product, n * sizeof *y);
            check(y[n] == 77);
            memcpy(y, a, n * sizeof *y); /* the result may be an input */
            k->add_scaled(y, b, f, n, y);
            assert_memory_equal(y, want, n * sizeof *y);
            memcpy(y, b, n * sizeof *y);
            k->add_scaled(a, y, f, n, y);
            assert_memory_equal(y, want, n * sizeof *y);
        }
    }
}

/* Returns the quantisation level of x by its definition: |x| / norm * s, rounded up if a uniform random number
 * is below the fraction. The random number is computed from `word`. */
static uint32_t level_ref(float x, float norm, uint32_t s, uint32_t word)
{
    const Quantiser q = quantiser_make(norm, s);
    const float t = fabsf(x) * q.lift * q.slope;
    const uint32_t whole = t < q.top ? (uint32_t)t : (uint32_t)q.top, mask = (1u << q.fraction) - 1;
    return (whole >> q.fraction) + ((word >> (32 - q.fraction)) < (whole & mask));
}

/* Returns the key for independent rounding, or for that of one of five workers. */
static RngKey round_key(size_t v)
{
    RngKey own = key;
    if (v % 2)
        rng_correlate(&own, &(RngKey){.c = 123456789, .d = 987654321}, (uint32_t)v % 5, 5);
    return own;
}

TEST(quantising_equals_its_definition)
{
    static const uint32_t levels[] = {2, 3, 7, 15, 100, 127, 128, 255, 4095, 65535};
    static const float scales[] = {1, 1e-30f, 0x1p-140f, 1e30f};
    static uint32_t code[N + 1];
    static uint8_t code8[N + 1];
    float x[N];
    for (size_t v = 0; v < countof(levels) * countof(scales); v++) {
        const uint32_t s = levels[v % countof(levels)], first = (uint32_t)v * 7;
        fill(x, N, scales[v / countof(levels)]);
        const float norm = kernels()->abs_max(x, N);
        const Quantiser q = quantiser_make(norm, s);
        const RngKey own = round_key(v);
        for (size_t z = 0; z < countof(sizes); z++)
            EACH_ISA(k)
            {
                const size_t n = sizes[z];
                code[n] = 77, code8[n] = 77;
                k->quantise32(x, n, q, own, first, code);
                if (s < 128)
                    k->quantise8(x, n, q, own, first, code8);
                check(code[n] == 77 && code8[n] == 77);
                for (size_t i = 0; i < n; i++) {
                    const uint32_t level = level_ref(x[i], norm, s, rng_round(&own, first + (uint32_t)i, signbit(x[i])));
                    const uint32_t want = level | (uint32_t)(level && signbit(x[i])) << level_bits(s);
                    assert_int_equal(code[i], want);
                    assert_int_equal(quantise_code(&q, x[i], &own, first + (uint32_t)i), want);
                    if (s < 128)
                        assert_int_equal(code8[i], want);
                }
            }
    }
}

TEST(tossing_equals_the_coin)
{
    static const float scales[] = {1, 1e-30f, 0x1p-140f, 1e30f};
    static uint8_t code[N];
    float x[N];
    for (size_t v = 0; v < countof(scales); v++) {
        fill(x, N, scales[v]);
        const Coin coin = coin_make(kernels()->abs_max(x, N) / 2);
        const RngKey own = round_key(v);
        EACH_ISA(k)
        {
            k->toss8(x, N, coin, own, 99, code);
            for (uint32_t i = 0; i < N; i++)
                assert_int_equal(code[i],
                                 coin_keep(coin, x[i], &own, 99 + i) ? 1 + 2 * (signbit(x[i]) != 0) : 0);
        }
    }
}

/* coin_keep compares an element's probability with random bits. Here the first 30 random bits equal those of
 * the probability, so later random bits must decide. */
TEST(ties_of_the_coin_go_to_the_continuation)
{
    float x[64];
    uint8_t code[64];
    const Coin coin = coin_make(1);
    size_t kept = 0, near = 0;
    for (uint32_t start = 0; start < BLOCK - 64; start += 64) {
        for (uint32_t i = 0; i < 64; i++) {
            const uint32_t r = rng_word(&key, start + i) >> 2;
            /* before rounding to float32, x is halfway between two multiples of 2^-30 */
            x[i] = (float)((double)r + 0.5) * 0x1p-30f;
            const float t = coin_level(coin, x[i]);
            near += (uint32_t)t == r && t > (float)(uint32_t)t;
        }
        EACH_ISA(k)
        {
            k->toss8(x, 64, coin, key, start, code);
            for (uint32_t i = 0; i < 64; i++) {
                assert_int_equal(code[i], coin_keep(coin, x[i], &key, start + i));
                kept += code[i];
            }
        }
    }
    check(near > 0);
    check(kept > 0);
}

TEST(dequantising_gives_levels_and_refuses_the_rest)
{
    float x[64];
    uint8_t code[64];
    uint32_t wide[64];
    EACH_ISA(k)
    for (uint32_t s = 1; s < 128; s += 3) {
        const Dequantiser d = dequantiser_make(0.3f, s);
        for (uint32_t c = 0; c < 256; c++) {
            const uint32_t level = c & ((1u << d.bits) - 1), sign = c >> d.bits;
            const bool good = level <= s && sign <= 1 && (level || !sign);
            memset(code, 0, sizeof code);
            memset(wide, 0, sizeof wide);
            code[37] = (uint8_t)c, wide[37] = c;
            for (size_t n = 38; n < 65; n += 13) {
                check(k->dequantise8(code, n, d, x) == good);
                if (good)
                    check(x[37] == (sign ? -1.0f : 1.0f) * ((float)level * (0.3f / (float)s)));
                check(k->dequantise32(wide, n, d, x) == good);
                check(!signbit(x[0]));
                if (good)
                    check(x[37] == dequantise_code(&d, c));
            }
            check(k->dequantise8(code, 37, d, x));
        }
    }
}

/* ---- kernels of bit planes, trits and counts ---- */

TEST(packing_is_the_same_on_every_instruction_set)
{
    enum { GROUPS = 5, CODES = GROUPS * 320 };
    const Rng rng = rng_open(13, 0, 0, 0, 0);
    static uint8_t code[CODES], back[CODES], out[CODES * 3], want[CODES * 3];
    static uint32_t wide[CODES], wide_back[CODES];
    for (int width = 1; width <= 17; width++) {
        for (size_t i = 0; i < CODES; i++) {
            wide[i] = rng_u32(&rng, USE_TEST, i) >> (32 - width);
            code[i] = (uint8_t)wide[i];
        }
        kernels_of(ISA_BASE)->pack32(wide, CODES / 64, width, want);
        EACH_ISA(k)
        {
            k->pack32(wide, CODES / 64, width, out);
            assert_memory_equal(out, want, CODES / 8 * (size_t)width);
            k->unpack32(want, CODES / 64, width, wide_back);
            assert_memory_equal(wide_back, wide, sizeof wide);
            if (width > 8)
                continue;
            k->pack8(code, CODES / 64, width, out);
            assert_memory_equal(out, want, CODES / 8 * (size_t)width);
            k->unpack8(want, CODES / 64, width, back);
            assert_memory_equal(back, code, sizeof code);
        }
    }
    for (size_t i = 0; i < CODES; i++)
        code[i] = (uint8_t[]){0, 1, 3}[rng_u32(&rng, USE_TEST, i) % 3];
    EACH_ISA(k)
    {
        k->pack_trits(code, GROUPS, out);
        for (size_t i = 0; i < CODES; i++) {
            static const unsigned weight[] = {1, 3, 9, 27, 81};
            assert_int_equal(out[i / 320 * 64 + i % 64] / weight[i % 320 / 64] % 3,
                             code[i] == 3 ? 2 : code[i]);
        }
        check(k->unpack_trits(out, GROUPS, back));
        assert_memory_equal(back, code, sizeof code);
        out[130] = 243;
        check(!k->unpack_trits(out, GROUPS, back));
    }
}

static void census_ref(const uint32_t *code, size_t n, int bits, Census *c)
{
    int64_t last = -1;
    for (size_t i = 0; i < n; i++) {
        const uint32_t level = code[i] & ((1u << bits) - 1);
        for (int k = 0; k < 17; k++) {
            c->level[k] += level >= 1u << k;
            c->next[k] += k && level + 1 >= 1u << k;
            c->gap[k] += level && (int64_t)i - last >= (int64_t)1 << k;
        }
        if (level)
            last = (int64_t)i;
    }
}

TEST(counts_of_lengths_and_places_equal_counting)
{
    const Rng rng = rng_open(14, 0, 0, 0, 0);
    static uint32_t wide[BLOCK];
    static uint8_t code[BLOCK];
    static uint16_t at[BLOCK + ROOM_BEHIND];
    static uint32_t entry[BLOCK + ROOM_BEHIND];
    for (unsigned trial = 0; trial < 120; trial++) {
        const int bits = trial % 2 ? 1 + (int)(trial / 2 % 7) : 1 + (int)(trial / 2 % 16);
        const size_t n = trial % 10 == 9 ? BLOCK : sizes[trial % countof(sizes)];
        const uint32_t rarity = 1u << trial % 13;
        for (size_t i = 0; i < n; i++) {
            const uint32_t word = rng_u32(&rng, USE_TEST, trial * (uint64_t)BLOCK + i);
            const uint32_t level = word % rarity ? 0 : (word >> 13) % (1u << bits);
            wide[i] = level | (uint32_t)(level && word >> 31) << bits;
            code[i] = (uint8_t)wide[i];
        }
        Census want, got;
        memset(&want, 0, sizeof want);
        census_ref(wide, n, bits, &want);
        EACH_ISA(k)
        {
            memset(&got, 0, sizeof got);
            k->census32(wide, n, bits, &got);
            assert_memory_equal(&got, &want, sizeof want);
            size_t count = k->places32(wide, n, at), seen = 0;
            assert_int_equal(count, want.level[0]);
            for (size_t i = 0; i < n; i++)
                if (wide[i])
                    assert_int_equal(at[seen++], i);
            if (bits > 7)
                continue;
            memset(&got, 0, sizeof got);
            k->census8(code, n, bits, &got);
            assert_memory_equal(&got, &want, sizeof want);
            assert_int_equal(k->entries8(code, n, entry), count);
            seen = 0;
            for (size_t i = 0; i < n; i++)
                if (code[i])
                    assert_int_equal(entry[seen++], (i + 1) << 8 | code[i]);
        }
    }
}

/* A kernel that loads aligned vectors begins with a step of its own. The results must be those of an aligned
 * array, for every distance of an array to an address that is a multiple of 64. */
enum { OUT = 4 * N, RESULTS = 7 };

static void convert_all(const Kernels *k, const float *x, size_t n, uint8_t out[RESULTS][OUT])
{
    const float most = k->abs_max(x, n);
    memset(out, 0xa5, RESULTS * OUT);
    memcpy(out[0], &most, sizeof most);
    k->fp16_random(x, n, key, 77, out[1]);
    k->bf16_nearest(x, n, out[2]);
    k->toss8(x, n, coin_make(2), key, 5, out[3]);
    k->quantise8(x, n, quantiser_make(3, 15), key, 9, out[4]);
    k->sign_bits(x, n / 64, out[5]);
    check(k->powers(x, n, key, out[6], out[6] + 2 * N));
}

static void floats_of_all(const Kernels *k, uint8_t in[RESULTS][OUT], size_t n, float *x, float *all)
{
    for (int i = 0; i < 4; i++, all += N) {
        x[n] = 7;
        check(i == 0   ? k->fp16_floats(in[1], n, x)
              : i == 1 ? k->bf16_floats(in[2], n, x)
              : i == 2 ? k->dequantise8(in[4], n, dequantiser_make(3, 15), x)
                       : k->power_floats(in[6], in[6] + 2 * N, n, x));
        check(x[n] == 7);
        memcpy(all, x, n * sizeof *x);
    }
}

TEST(results_do_not_depend_on_alignment)
{
    static _Alignas(64) float memory[N + 64], x[N];
    static uint8_t want[RESULTS][OUT], got[RESULTS][OUT];
    static float want_floats[4 * N], got_floats[4 * N];
    fill(x, N, 1);
    for (size_t s = 0; s < countof(sizes); s++)
        EACH_ISA(k)
        {
            const size_t n = sizes[s];
            convert_all(k, x, n, want);
            floats_of_all(k, want, n, memory, want_floats);
            for (size_t ahead = 1; ahead < 17; ahead++) {
                memcpy(memory + ahead, x, n * sizeof *x);
                convert_all(k, memory + ahead, n, got);
                assert_memory_equal(got, want, sizeof want);
                floats_of_all(k, want, n, memory + ahead, got_floats);
                assert_memory_equal(got_floats, want_floats, sizeof want_floats);
            }
        }
}

CHECK_ALL(NULL, NULL)
