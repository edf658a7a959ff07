/* test_patch.c -- floats of 16 bits coded against older ones: every bit comes back, small changes take few bytes, and damage or
 * another base is refused. */
#include "rig/check.h"
#include "base/rng.h"
#include "coder/patch.h"

#include <math.h>

enum { N = (1 << 19) + 5000 };

static uint8_t old[2 * N], new[2 * N], back[2 * N];
static Error err;

static uint32_t draw(uint64_t seed, uint32_t i, uint32_t below)
{
    const Rng rng = rng_open(23, seed, 0, 0, 0);
    return rng_u32(&rng, USE_TEST, i) % below;
}

static Status get(const PatchBase *base, Bytes in, Arena *a)
{
    Reader r = reader_open(in);
    const Status status = patch_get(base, &r, back, a, &err);
    return status == OK && !reader_done(&r) ? ERR_CORRUPT : status;
}

/* Encodes and decodes n words, and returns the patch, which is in the arena. */
static Bytes both_ways(size_t n, int fraction, Arena *a)
{
    const PatchBase base = {old, n, fraction, 1};
    Buf out = {.cap = patch_most(n)};
    out.data = NEW(a, uint8_t, out.cap);
    check_ok(patch_put(&base, new, &out, a, &err), &err);
    check(out.size <= out.cap);
    memset(back, 0, sizeof back);
    check_ok(get(&base, buf_bytes(&out), a), &err);
    assert_memory_equal(back, new, 2 * n);
    return buf_bytes(&out);
}

TEST(every_pattern_of_bits_comes_back)
{
    Arena *a = arena_open(0);
    for (size_t i = 0; i < N; i++) {
        /* all words as old ones, then random ones, with NaN, infinities, zeros of both signs and their neighbours among them */
        static const uint16_t odd[] = {0, 0x8000, 1, 0x8001, 0x7f80, 0xff80, 0x7fc0, 0xffff, 0x7c00, 0x7fff, 0x3f80, 0xbf80};
        const uint32_t word = i < 65536 ? (uint32_t)i : draw(1, (uint32_t)i, 65536);
        store_u16(old + 2 * i, (uint16_t)(i % 7 ? word : odd[i / 7 % countof(odd)]));
        store_u16(new + 2 * i, (uint16_t)(i % 5 ? draw(2, (uint32_t)i, 65536) : odd[i / 5 % countof(odd)]));
    }
    const size_t ns[] = {0, 1, 2, 255, 65536, 1 << 19, N};
    for (size_t k = 0; k < countof(ns); k++) {
        both_ways(ns[k], 7, a);
        both_ways(ns[k], 10, a);
    }
    arena_close(a);
}

/* Weights of a normal distribution, of which small steps change a thirtieth: the entropy is 0.737 bytes for each that changes. */
static void make_weights(void)
{
    const Rng rng = rng_open(5, 0, 0, 0, 0);
    for (size_t i = 0; i < N; i += 4) {
        float w[4], step[4];
        rng_normals(&rng, USE_DATA, i, 4, 0.02, w);
        rng_normals(&rng, USE_TEST, i, 4, 1, step);
        for (size_t k = 0; k < 4 && i + k < N; k++) {
            const float moved = w[k] + (step[k] < 0 ? -1e-6F : 1e-6F);
            store_u16(old + 2 * (i + k), (uint16_t)((float_bits(w[k]) + 0x8000) >> 16));
            store_u16(new + 2 * (i + k), (uint16_t)((float_bits(moved) + 0x8000) >> 16));
        }
    }
}

TEST(few_bytes_tell_small_changes)
{
    Arena *a = arena_open(0);
    size_t changed = 0;
    make_weights();
    for (size_t i = 0; i < N; i++)
        changed += memcmp(old + 2 * i, new + 2 * i, 2) != 0;
    const size_t size = both_ways(N, 7, a).size;
    check(changed > N / 50 && changed < N / 20);
    check((double)size <= 0.8 * (double)changed);
    memcpy(new, old, sizeof new);
    check(both_ways(N, 7, a).size < 1000);
    arena_close(a);
}

TEST(damage_and_other_bases_are_refused)
{
    enum { SMALL = 3000 };
    Arena *a = arena_open(0);
    make_weights();
    memcpy(new + 1000, old, 200); /* escapes */
    const Bytes whole = both_ways(SMALL, 7, a);
    const PatchBase base = {old, SMALL, 7, 1};
    uint8_t *bytes = NEW(a, uint8_t, whole.size + 1);
    size_t refused = 0;
    for (uint32_t trial = 0; trial < 4000; trial++) {
        const ArenaMark mark = arena_mark(a);
        memcpy(bytes, whole.data, whole.size);
        const uint32_t at = draw(trial, 1, (uint32_t)whole.size);
        bytes[at] ^= (uint8_t)(1 + draw(trial, 2, 255));
        const size_t size = trial % 3 ? whole.size : at + (trial % 2 ? 0 : whole.size - at + 1);
        bytes[whole.size] = 0;
        const Status status = get(&base, (Bytes){bytes, size}, a);
        check(status == ERR_CORRUPT || (status == OK && !memcmp(back, new, 2 * SMALL))); /* bits that fill a last byte tell nothing */
        refused += status == ERR_CORRUPT;
        arena_rewind(a, mark);
    }
    check(refused > 3900);
    for (size_t i = 0; i < SMALL; i += 100) {
        old[2 * i] ^= 1;
        assert_int_equal(get(&base, whole, a), ERR_CORRUPT);
        old[2 * i] ^= 1;
    }
    check_ok(get(&base, whole, a), &err);
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
