/* census_vec.c -- counts quantisation levels and index gaps by size, which gives the total length of their
 * Elias codes (levels.h). Works on bit planes of 64 elements.
 *
 * The length of an Elias code depends only on the bit length of its number. So for each k the loops count the
 * numbers that are at least 2^k: among the levels, among the levels + 1, and among the index gaps between
 * non-zero levels. */
#include "math/vec/lane.h"

enum { GROUP = 64, BATCH = 8, WIDTH_MAX = 16 };

INLINE uint64_t ones(uint64_t v)
{
    return (uint64_t)__builtin_popcountll(v);
}

/* Returns a word whose set bits are the non-zero levels among the 64 elements. */
INLINE uint64_t count_levels(const uint64_t *plane, int bits, Census *c)
{
    uint64_t reach = 0, full = ~UINT64_C(0), over[WIDTH_MAX + 1] = {0};
    for (int k = bits - 1; k >= 0; k--) {
        over[k] = reach |= plane[k];
        c->level[k] += ones(reach);
    }
    for (int k = 1; k <= bits; k++) {
        full &= plane[k - 1];
        c->next[k] += ones(over[k] | full);
    }
    return reach;
}

typedef struct {
    uint64_t before; /* a set bit for each non-zero level of the previous 64 elements */
    int64_t last;    /* index of the last non-zero level so far */
} Gaps;

/* Counts the index gaps that end in a group of 64 elements; `here` has a set bit for each non-zero level,
 * `base` is the group's first index. A gap is at least 2^k if the 2^k - 1 levels before its end are zero.
 * Only the group's first gap can exceed 64; its counts for k >= 7 come from the indices. */
INLINE void count_gaps(uint64_t here, int64_t base, Gaps *gaps, Census *c)
{
    if (!here) {
        gaps->before = 0;
        return;
    }
    unsigned __int128 within = (unsigned __int128)here << 64 | gaps->before, near = 0;
    c->gap[0] += ones(here);
    for (int k = 0; k < 6; k++) {
        const unsigned __int128 step = within << (1 << k);
        near |= step;
        within |= step;
        c->gap[k + 1] += ones(here & ~(uint64_t)(near >> 64));
    }
    if (here & ~(uint64_t)(near >> 64)) {
        const int64_t gap = base + __builtin_ctzll(here) - gaps->last;
        for (int k = 7; k <= WIDTH_MAX; k++)
            c->gap[k] += gap >= (int64_t)1 << k;
    }
    gaps->last = base + 63 - __builtin_clzll(here);
    gaps->before = here;
}

/* Turns little-endian words into words of this machine. */
INLINE void own_order(uint64_t *word, size_t count)
{
    for (size_t i = 0; __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && i < count; i++)
        word[i] = __builtin_bswap64(word[i]);
}

INLINE void count_groups(const uint64_t *plane, size_t groups, int bits, int width, int64_t base, Gaps *gaps,
                         Census *c)
{
    for (size_t g = 0; g < groups; g++)
        count_gaps(count_levels(plane + g * (size_t)width, bits, c), base + (int64_t)g * GROUP, gaps, c);
}

/* Makes only the bit planes of the levels; the sign plane above them is not needed. */
void ISA_NAME(census8)(const uint8_t *code, size_t n, int bits, Census *census)
{
    Gaps gaps = {UINT64_C(1) << 63, -1};
    Census c;
    memset(&c, 0, sizeof c);
    uint64_t plane[BATCH * WIDTH_MAX];
    for (size_t i = 0; i < n; i += BATCH * GROUP) {
        uint8_t last[BATCH * GROUP];
        const size_t count = n - i < BATCH * GROUP ? n - i : BATCH * GROUP,
                     groups = (count + GROUP - 1) / GROUP;
        const uint8_t *from = code + i;
        if (count % GROUP) {
            memcpy(last, from, count);
            memset(last + count, 0, groups * GROUP - count);
            from = last;
        }
        ISA_NAME(pack8)(from, groups, bits, (uint8_t *)plane);
        own_order(plane, groups * (size_t)bits);
        count_groups(plane, groups, bits, bits, (int64_t)i, &gaps, &c);
    }
    for (int k = 0; k <= WIDTH_MAX; k++) {
        census->level[k] += c.level[k];
        census->next[k] += c.next[k];
        census->gap[k] += c.gap[k];
    }
}

void ISA_NAME(census32)(const uint32_t *code, size_t n, int bits, Census *census)
{
    Gaps gaps = {UINT64_C(1) << 63, -1};
    uint64_t plane[WIDTH_MAX];
    for (size_t i = 0; i < n; i += GROUP) {
        uint32_t level[GROUP] = {0};
        const size_t count = n - i < GROUP ? n - i : GROUP;
        memcpy(level, code + i, count * sizeof *code);
        ISA_NAME(pack32)(level, 1, bits, (uint8_t *)plane);
        own_order(plane, (size_t)bits);
        count_groups(plane, 1, bits, bits, (int64_t)i, &gaps, census);
    }
}

/* ---- indices of non-zero codes ---- */

/* Without a branch: every code's index is written, but the next overwrites it if the code is zero. */
size_t ISA_NAME(places32)(const uint32_t *code, size_t n, uint16_t *at)
{
    size_t count = 0, i = 0;
#if VEC_BYTES == 64
    for (; i + ROW <= n; i += ROW) {
        const __m512i c = (__m512i)load_u(code + i);
        const __mmask16 set = _mm512_test_epi32_mask(c, c);
        const VecU place = lane_numbers() + (uint32_t)i;
        store_halves((uint8_t *)(at + count), (VecU)_mm512_maskz_compress_epi32(set, (__m512i)place));
        count += (size_t)__builtin_popcount(set);
    }
#endif
    for (; i < n; i++) {
        at[count] = (uint16_t)i;
        count += code[i] != 0;
    }
    return count;
}
