/* test_planes.c -- bit planes, and trits (five base-3 digits in a byte), against slow versions of the layout in
 * planes.h. */
#include "rig/check.h"

#include "coder/planes.h"
#include "base/rng.h"

enum { MOST = 1100 };
static const size_t sizes[] = {0,   1,   2,   3,   7,   8,   9,   63,  64,   65,  127,
                               128, 319, 320, 321, 324, 325, 511, 512, 1000, MOST};

static void planes_ref(const uint32_t *code, size_t n, int width, uint8_t *out)
{
    memset(out, 0, planes_size(n, width));
    for (size_t i = 0; i < n; i++) {
        const size_t m = n - i / 64 * 64, bytes = m < 64 ? (m + 7) / 8 : 8;
        for (int k = 0; k < width; k++)
            if (code[i] >> k & 1)
                out[i / 64 * 8 * (size_t)width + (size_t)k * bytes + i % 64 / 8] |= (uint8_t)(1 << i % 8);
    }
}

TEST(planes_are_as_drawn_for_every_width_and_length)
{
    const Rng rng = rng_open(4, 0, 0, 0, 0);
    static uint8_t code8[MOST], back8[MOST], out[MOST * 3 + 64], want[MOST * 3 + 64];
    static uint32_t code[MOST], back[MOST];
    for (int width = 1; width <= PLANES_MAX; width++)
        for (size_t s = 0; s < countof(sizes); s++) {
            const size_t n = sizes[s], size = planes_size(n, width);
            for (size_t i = 0; i < n; i++) {
                code[i] = rng_u32(&rng, USE_TEST, i) >> (32 - width);
                code8[i] = (uint8_t)code[i];
            }
            planes_ref(code, n, width, want);
            planes_put(code, true, n, width, out);
            assert_memory_equal(out, want, size);
            check(planes_get(out, n, width, back, true));
            assert_memory_equal(back, code, n * sizeof *code);
            if (width > 8)
                continue;
            memset(out, 0xcc, sizeof out);
            planes_put(code8, false, n, width, out);
            assert_memory_equal(out, want, size);
            check(out[size] == 0xcc);
            check(planes_get(out, n, width, back8, false));
            assert_memory_equal(back8, code8, n);
        }
}

static void trits_ref(const uint8_t *code, size_t n, uint8_t *out)
{
    static const unsigned weight[] = {1, 3, 9, 27, 81};
    memset(out, 0, trits_size(n));
    for (size_t i = 0; i < n; i++) {
        const size_t group = i / 320, m = n - group * 320, q = m < 320 ? (m + 4) / 5 : 64;
        const unsigned trit = code[i] == 3 ? 2 : code[i];
        out[group * 64 + i % 320 % q] = (uint8_t)(out[group * 64 + i % 320 % q] + trit * weight[i % 320 / q]);
    }
}

TEST(trits_are_as_drawn_and_take_a_fifth_of_a_byte)
{
    const Rng rng = rng_open(5, 0, 0, 0, 0);
    static const uint8_t codes[] = {0, 1, 3};
    static uint8_t code[MOST], back[MOST], out[MOST], want[MOST];
    for (size_t s = 0; s < countof(sizes); s++) {
        const size_t n = sizes[s], size = trits_size(n);
        assert_int_equal(size, (n + 4) / 5);
        for (size_t i = 0; i < n; i++)
            code[i] = codes[rng_u32(&rng, USE_TEST, i) % 3];
        trits_ref(code, n, want);
        trits_put(code, n, out);
        assert_memory_equal(out, want, size);
        check(trits_get(out, n, back));
        assert_memory_equal(back, code, n);
    }
}

CHECK_ALL(NULL, NULL)
