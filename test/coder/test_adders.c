/* test_adders.c -- kernels that add the values of several payloads: floats in double, integer codes as bit
 * planes. The kernels of every instruction set are compared with plain loops. */
#include "rig/check.h"

#include "math/vec/kernels.h"
#include "coder/planes.h"
#include "base/rng.h"

#include <float.h>

#define EACH_ISA(k)                                                                                          \
    for (int isa = ISA_BASE; isa < ISA_COUNT; isa++)                                                         \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

enum { N = 64 * 21 + 37, WORKERS = 9, SHIFT = 3 };

static uint32_t word(size_t w, size_t i)
{
    const Rng rng = rng_open(3, 0, (int64_t)w, 0, 0);
    return rng_u32(&rng, USE_TEST, i);
}

TEST(floats_at_any_address_add_up_in_double)
{
    static uint8_t in[WORKERS][4 * N + SHIFT], out[4 * N], want[4 * N];
    const uint8_t *at[WORKERS];
    for (size_t w = 0; w < WORKERS; w++) {
        at[w] = in[w] + w % (SHIFT + 1);
        for (size_t i = 0; i < N; i++)
            store_f32(in[w] + w % (SHIFT + 1) + 4 * i, (float)((double)word(w, i) - 0x1p31) * 1e-5f);
    }
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t w = 0; w < WORKERS; w++)
            sum += (double)load_f32(at[w] + 4 * i);
        store_f32(want + 4 * i, (float)sum);
    }
    EACH_ISA(k)
    {
        memset(out, 1, sizeof out);
        check(k->add_up(at, WORKERS, 0, 1000, FLT_MAX, DBL_MAX, out));
        check(k->add_up(at, WORKERS, 1000, N, FLT_MAX, DBL_MAX, out));
        assert_memory_equal(out, want, sizeof want);
        check(!k->add_up(at, WORKERS, 0, N, 1e4f, DBL_MAX, out));
        check(!k->add_up(at, WORKERS, 0, N, FLT_MAX, 1e4, out));
    }
}

TEST(parts_that_cancel_are_seen_all_the_same)
{
    static const float bad[] = {INFINITY, -INFINITY, NAN, 3e38f};
    EACH_ISA(k)
    {
        for (size_t b = 0; b < countof(bad); b++)
            for (size_t i = 0; i < 40; i++) {
                uint8_t in[2][160] = {{0}}, out[160];
                const uint8_t *const at[] = {in[0], in[1]};
                store_f32(in[0] + 4 * i, bad[b]);
                store_f32(in[1] + 4 * i, -bad[b]);
                check(!k->add_up(at, 2, 0, 40, 2e38f, DBL_MAX, out));
            }
    }
}

TEST(planes_add_to_the_planes_of_the_sums)
{
    static uint8_t in[WORKERS][3 * N + 64], out[3 * N + 64], want[3 * N + 64];
    static uint32_t code[N], sum[N];
    for (int bits = 1; bits <= 16; bits++)
        for (size_t n = 1; n <= N; n += n > 130 ? 98 : 1) {
            PlaneSet set[WORKERS];
            memset(sum, 0, sizeof sum);
            for (size_t w = 0; w < WORKERS; w++) {
                /* the codes of some payloads have 1 or 2 more bits, as in merged payloads */
                const int width = bits + (int)(w % 3);
                for (size_t i = 0; i < n; i++) {
                    code[i] = word(w, i) % ((1u << bits) - (bits > 1));
                    sum[i] += code[i];
                }
                planes_put(code, true, n, width, in[w]);
                set[w] = (PlaneSet){in[w], width, (1u << bits) - 1 - (bits > 1)};
            }
            planes_put(sum, true, n, bits + 4, want);
            memset(out, 1, sizeof out);
            check(planes_add(set, WORKERS, n, bits + 4, 2, out));
            assert_memory_equal(out, want, planes_size(n, bits + 4));
        }
}

TEST(adders_of_planes_agree_on_every_instruction_set)
{
    enum { GROUPS = 19, WIDTH = 7 };
    static uint8_t in[3][8 * GROUPS * WIDTH], out[8 * GROUPS * (WIDTH + 2)], want[8 * GROUPS * (WIDTH + 2)];
    for (size_t w = 0; w < 3; w++)
        for (size_t i = 0; i < sizeof in[w]; i++)
            in[w][i] = (uint8_t)word(w, i);
    const PlaneSet set[] = {{in[0], WIDTH, 127}, {in[1], WIDTH, 127}, {in[2], WIDTH, 127}};
    for (size_t g = 0; g < GROUPS; g++) {
        const size_t at = 8 * WIDTH * g;
        const PlaneSet one[] = {{in[0] + at, WIDTH, 127}, {in[1] + at, WIDTH, 127}, {in[2] + at, WIDTH, 127}};
        check(planes_add(one, 3, 64, WIDTH + 2, 1, want + 8 * (WIDTH + 2) * g));
    }
    EACH_ISA(k)
    {
        bool above = false;
        const size_t done = k->add_planes(set, 3, 0, GROUPS, WIDTH + 2, out, &above);
        check(!above && done > GROUPS - 8);
        assert_memory_equal(out, want, 8 * done * (WIDTH + 2));
    }
}

TEST(codes_above_the_most_and_set_padding_are_seen)
{
    static uint32_t code[N];
    static uint8_t in[8 * N], out[8 * N];
    for (size_t i = 0; i < N; i++) {
        const PlaneSet set = {in, 8, 200};
        memset(code, 0, sizeof code);
        code[i] = 200;
        planes_put(code, true, N, 8, in);
        check(planes_add(&set, 1, N, 9, 1, out));
        code[i] = 201;
        planes_put(code, true, N, 8, in);
        check(!planes_add(&set, 1, N, 9, 1, out));
    }
    memset(in, 0, sizeof in);
    in[planes_size(N, 8) - 1] = 0x80;
    check(!planes_add(&(PlaneSet){in, 8, 255}, 1, N, 9, 1, out));
}

CHECK_ALL(NULL, NULL)
