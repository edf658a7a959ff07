/* test_entries.c -- kernels that write sparse streams, against omega codes written one by one. An entry of a
 * stream is an index gap and the code (sign and level) of a non-zero element. */
#include "rig/check.h"

#include "rig/coder_rig.h"
#include "math/vec/kernels.h"
#include "base/rng.h"
#include "rig/wall.h"

enum { ROOM = 6 * BLOCK, CANARY = 0xa5, BEHIND = 64 };

#define EACH_ISA(k)                                                                                          \
    for (int isa = 0; isa < ISA_COUNT; isa++)                                                                \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

static uint32_t room[1 + BLOCK + ROOM_BEHIND], *const entry = room + 1;
static uint8_t want[ROOM], got[ROOM + BEHIND];
static Walled entries;

static int open_all(void **state)
{
    entries = walled(sizeof room);
    return 0;
}

static int close_all(void **state)
{
    drop_walled(entries);
    return 0;
}

/* Fills the array `entry`: about one index in `rarity` of 1 .. n gets an entry with a random code. Returns the
 * number of entries. */
static size_t make_entries(unsigned trial, size_t n, uint32_t rarity, int bits)
{
    const Rng rng = rng_open(21, trial, 0, 0, 0);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t word = rng_u32(&rng, USE_TEST, i), low = 1u + (word >> 13) % ((1u << bits) - 1);
        const uint32_t level = trial % 3 == 1 ? (1u << bits) - 1 : low;
        if (word % rarity == 0)
            entry[count++] = (uint32_t)(i + 1) << ENTRY_SHIFT | (word >> 31) << bits | level;
    }
    return count;
}

/* Returns a writer that has already written `before` bits. */
static BitWriter begin(uint8_t *out, size_t size, unsigned before)
{
    BitWriter w = bits_writer(out, size);
    bits_put(&w, 5u & ((1u << before) - 1), before);
    return w;
}

static void put_one_by_one(BitWriter *w, size_t count, int bits)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t code = entry[i] & ((1u << ENTRY_SHIFT) - 1);
        omega_put(w, (entry[i] >> ENTRY_SHIFT) - (room[i] >> ENTRY_SHIFT));
        bits_put(w, code >> bits, 1);
        if (bits > 1)
            omega_put(w, code & ((1u << bits) - 1));
    }
}

static size_t closed(BitWriter *w, const uint8_t *from)
{
    bits_close(w);
    check(!w->full);
    return (size_t)(w->at - from);
}

/* Checks that a kernel writes the same bytes as `put_one_by_one`, and no byte beyond `size`. Returns the number
 * of entries that the kernel wrote; the kernel may stop early. */
static size_t compare(const Kernels *k, size_t count, int bits, size_t size, unsigned before)
{
    memset(got, CANARY, sizeof got);
    BitWriter w = begin(got, size, before), ref = begin(want, sizeof want, before);
    const uint32_t *at = at_the_end(entries, room, (1 + count + ROOM_BEHIND) * sizeof *room);
    const size_t put = k->put_entries(at + 1, count, bits, &w);
    check(put <= count);
    put_one_by_one(&ref, put, bits);
    const size_t bytes = closed(&ref, want);
    assert_int_equal(closed(&w, got), bytes);
    assert_memory_equal(got, want, bytes);
    for (size_t i = 0; i < BEHIND; i++)
        assert_int_equal(got[size + i], CANARY);
    return put;
}

TEST(entries_are_put_as_one_by_one)
{
    static const size_t sizes[] = {1, 7, 8, 15, 16, 17, 31, 33, 100, 512, 1000};
    for (unsigned trial = 0; trial < 300; trial++) {
        const int bits = 1 + (int)(trial % 7);
        const size_t n = sizes[trial % countof(sizes)];
        const size_t count = make_entries(trial, n, 1u + trial % 5 * (trial % 11), bits);
        EACH_ISA(k)
        {
            const size_t put = compare(k, count, bits, ROOM, trial % 8);
            /* with at most 5 bits, codes are so short that the vector kernels write all entries */
            if (isa > ISA_BASE && bits <= 5)
                assert_int_equal(put, count);
        }
    }
}

TEST(long_gaps_are_left_or_right)
{
    for (unsigned trial = 0; trial < 60; trial++) {
        const int bits = 1 + (int)(trial % 7);
        const size_t count = make_entries(trial, BLOCK, 1u << (5 + trial % 11), bits);
        EACH_ISA(k)
        compare(k, count, bits, ROOM, trial % 8);
    }
    for (uint32_t gap = 1; gap <= BLOCK; gap += gap < 3000 ? 1 : 997) {
        entry[0] = gap << ENTRY_SHIFT | 1;
        EACH_ISA(k)
        compare(k, 1, 1, ROOM, gap % 8);
    }
    entry[0] = (uint32_t)BLOCK << ENTRY_SHIFT | 1;
    EACH_ISA(k)
    compare(k, 1, 1, ROOM, 0);
}

TEST(nothing_is_written_behind_the_room)
{
    const size_t count = make_entries(1, 400, 2, 7);
    for (size_t size = 1; size < 900; size++)
        EACH_ISA(k)
    compare(k, count, 7, size, 3);
}

/* ---- kernels that make entries of the non-zero codes ---- */

/* Checks the entries that a kernel makes of the non-zero codes. A protected page behind each array detects
 * accesses past its end. */
static void check_found(const Kernels *k, const uint8_t *code, size_t n, Walled codes)
{
    uint32_t *where = (uint32_t *)(void *)entries.end - (n + ROOM_BEHIND);
    size_t seen = 0;
    memset(where, CANARY, (n + ROOM_BEHIND) * sizeof *where);
    const size_t found = k->entries8(at_the_end(codes, code, n), n, where);
    for (uint32_t i = 0; i < n; i++)
        if (code[i])
            assert_int_equal(where[seen++], (i + 1) << ENTRY_SHIFT | code[i]);
    assert_int_equal(found, seen);
}

TEST(codes_that_are_not_0_become_entries)
{
    static uint8_t code[BLOCK];
    const Rng rng = rng_open(22, 0, 0, 0, 0);
    const Walled codes = walled(BLOCK);
    for (size_t trial = 0; trial < 200; trial++) {
        const size_t n = trial < 100 ? trial : trial % 20 ? trial % 20 * 37 : BLOCK;
        for (size_t i = 0; i < n; i++) {
            const uint32_t word = rng_u32(&rng, USE_TEST, trial * BLOCK + i);
            code[i] = (uint8_t)(word % (1u + trial % 4 * 3) ? 0 : word >> 24);
        }
        EACH_ISA(k)
        check_found(k, code, n, codes);
    }
    drop_walled(codes);
}

CHECK_ALL(open_all, close_all)
