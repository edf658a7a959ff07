/* test_classes.c -- the kernels that split codes into classes of magnitudes and open bits, against one code after the
 * other. */
#include "rig/wall.h"

#include "base/rng.h"
#include "math/vec/kernels.h"

#include <string.h>

enum { MOST = 70, ROOM = 400, LEAD_MOST = 7, WIDTH_MOST = 17 };

static Walled codes, symbols, bytes;

static int open_all(void **state)
{
    codes = walled(MOST * sizeof(uint32_t));
    symbols = walled(MOST * sizeof(uint16_t));
    bytes = walled(ROOM);
    return 0;
}

static int close_all(void **state)
{
    drop_walled(codes), drop_walled(symbols), drop_walled(bytes);
    return 0;
}

/* Returns a code whose magnitude has any number of bits with equal probability, or is near a power of two. */
static uint32_t draw_code(const Rng *rng, uint64_t i, int width)
{
    const uint32_t word = rng_u32(rng, USE_TEST, 2 * i), more = rng_u32(rng, USE_TEST, 2 * i + 1);
    const uint32_t below = UINT32_C(1) << word % (uint32_t)width;
    const uint32_t choice[] = {more % below, more % below, below - 1, below / 2};
    return choice[more >> 30] | (word >> 31) << (width - 1);
}

/* Splits a code as symbols.h defines: the class is the magnitude's rank among the classes that keep `lead` bits below the
 * highest one. */
static uint16_t split_one(uint32_t code, int width, int lead, BitWriter *w)
{
    const uint32_t sign = code >> (width - 1), magnitude = code - (sign << (width - 1));
    uint32_t class = 0, least = 0;
    unsigned open = 0;
    for (uint32_t next; (next = least + (UINT32_C(1) << open)) <= magnitude; class ++) {
        least = next;
        open += least >= UINT32_C(2) << lead
                                     << open; /* the magnitudes of `open` bits end at 2^(lead + open + 1) */
    }
    bits_put(w, magnitude - least, open);
    return (uint16_t)(2 * class + sign);
}

TEST(codes_are_split_as_one_by_one)
{
    for (uint64_t trial = 0; trial < 3000; trial++) {
        const Rng rng = rng_open(31, trial, 0, 0, 0);
        const int width = 2 + (int)(trial % (WIDTH_MOST - 1)), lead = (int)(trial / 3 % (LEAD_MOST + 1));
        const size_t n = trial % (MOST + 1), room = trial % 5 ? ROOM : trial % ROOM;
        uint32_t code[MOST];
        for (size_t i = 0; i < n; i++)
            code[i] = draw_code(&rng, i, width);
        for (int isa = 0; isa < ISA_COUNT; isa++) {
            const Kernels *k = kernels_of((Isa)isa);
            if (!k)
                continue;
            uint8_t want[ROOM + 8] = {0}, *const start = bytes.end - room;
            uint16_t *const symbol = (uint16_t *)(void *)(symbols.end - n * sizeof *symbol);
            BitWriter w = bits_writer(start, room), ref = bits_writer(want, sizeof want);
            const size_t split =
                k->split_classes(at_the_end(codes, code, n * sizeof *code), n, width, lead, symbol, &w);
            check(split <= n);
            if (isa > ISA_BASE && room == ROOM)
                check(n - split < 16);
            for (size_t i = 0; i < split; i++)
                assert_int_equal(symbol[i], split_one(code[i], width, lead, &ref));
            bits_close(&w);
            bits_close(&ref);
            check(!w.full && w.at - start == ref.at - want);
            assert_memory_equal(start, want, (size_t)(ref.at - want));
        }
    }
}

CHECK_ALL(open_all, close_all)
