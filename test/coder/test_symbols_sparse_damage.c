/* test_symbols_sparse_damage.c -- codes most of which are one, as gaps and others made by hand: what no writer writes
 * is refused, before memory is asked for it. */
#include "rig/symbols_rig.h"

enum { SPARSE = 4, LONG_GAP = 1 << 16, SMALL = 2 * BLOCK + 1000, WIDTH = 5, COMMON = 3 };

static uint8_t byte[SMALL];

typedef struct {
    unsigned gap_bits;
    uint64_t common, count, size; /* size: 0 for the right one */
    const uint32_t *gap, *other;
    size_t gaps, others;
} Parts;

static const uint32_t good_gaps[] = {5, 0, LONG_GAP, 100}, good_others[] = {1, 31, 4};
static const Parts good = {.gap_bits = 16,
                           .common = COMMON,
                           .count = 4,
                           .gap = good_gaps,
                           .other = good_others,
                           .gaps = 4,
                           .others = 3};

static void put_codes(Buf *out, const uint32_t *code, size_t n, int width)
{
    Error err;
    uint8_t *narrow = NEW(arena, uint8_t, n);
    for (size_t i = 0; i < n; i++)
        narrow[i] = (uint8_t)code[i];
    Carrier c = {.byte = narrow, .word = width > 8 ? code : NULL, .n = n};
    const Symbols s = symbols_of(CODER_RANS, width, &c);
    *out = (Buf){.cap = symbols_most(n, width)};
    out->data = NEW(arena, uint8_t, out->cap);
    check_ok(symbols_put(&s, out, arena, &err), &err);
}

static Buf assemble(const Parts *p)
{
    Buf gaps, others;
    put_codes(&gaps, p->gap, p->gaps, (int)p->gap_bits + 1);
    put_codes(&others, p->other, p->others, WIDTH);
    Buf b = {.cap = 1 + 3 * VARINT_MAX + gaps.size + others.size};
    b.data = NEW(arena, uint8_t, b.cap + 1);
    buf_u8(&b, (uint8_t)(SPARSE | (p->gap_bits - 8) << 4));
    buf_varint(&b, p->common);
    buf_varint(&b, p->count);
    buf_varint(&b, p->size ? p->size : gaps.size);
    buf_copy(&b, gaps.data, gaps.size);
    buf_copy(&b, others.data, others.size);
    return b;
}

/* Whether it is read, and as the codes in `byte`. */
static bool reads(Bytes in)
{
    Carrier c = {.byte = byte, .n = SMALL};
    const Symbols s = symbols_of(CODER_RANS, WIDTH, &c);
    return comes_back(&s, &c, in);
}
static bool parts_read(Parts p)
{
    const ArenaMark mark = arena_mark(arena);
    const Buf b = assemble(&p);
    const bool good_ones = reads(buf_bytes(&b));
    arena_rewind(arena, mark);
    return good_ones;
}

static void fill_good(void)
{
    memset(byte, COMMON, sizeof byte);
    byte[5] = 1;
    byte[6] = 31;
    byte[7 + LONG_GAP + 100] = 4;
}

static void damaged_heads_are_refused(void **state)
{
    (void)state;
    fill_good();
    check(parts_read(good));
    Parts p = good;
    p.common = 32 + COMMON;
    check(!parts_read(p));
    p.common = UINT64_C(1) << 32 | COMMON;
    check(!parts_read(p));
    for (uint64_t count = 0; count < 9; count++) {
        p = good;
        p.count = count;
        check(parts_read(p) == (count == 4));
    }
    for (uint64_t size = 1; size < 40; size++) {
        p = good;
        p.size = size;
        const Buf b = assemble(&good);
        check(parts_read(p) == (size == b.data[3]));
    }
    p = good;
    p.size = UINT64_MAX;
    check(!parts_read(p));
}

/* Nothing of a gap says how wide its code is where it may be wider, so that the longest has to. */
static void gaps_are_as_wide_as_the_longest(void **state)
{
    (void)state;
    static const uint32_t longest[] = {0, 255, 256, 511, 512, 32767, 32768, 65535, LONG_GAP};
    static const unsigned bits[] = {8, 8, 9, 9, 10, 15, 16, 16, 16};
    for (size_t k = 0; k < countof(longest); k++)
        for (unsigned wide = 8; wide <= 16; wide++) {
            const uint32_t gaps[] = {5, 0, longest[k], longest[k] == LONG_GAP ? 7 : 0};
            Parts p = good;
            p.gap_bits = wide;
            p.gap = gaps;
            p.count = p.gaps = longest[k] == LONG_GAP ? 4 : 3;
            memset(byte, COMMON, sizeof byte);
            byte[5] = 1;
            byte[6] = 31;
            byte[7 + longest[k] + gaps[3]] = 4;
            if (longest[k] >> (wide + 1) == 0)
                check(parts_read(p) == (wide == bits[k]));
        }
}

static void another_form_reads_nothing_else(void **state)
{
    (void)state;
    fill_good();
    const Buf b = assemble(&good);
    const uint8_t was = b.data[0];
    for (unsigned form = 0; form < 256; form++) {
        b.data[0] = (uint8_t)form;
        check(reads(buf_bytes(&b)) == (form == was));
    }
}

static bool gaps_read(const uint32_t *gap, size_t gaps, size_t others)
{
    Parts p = good;
    p.gap = gap;
    p.count = p.gaps = gaps;
    p.others = others;
    return parts_read(p);
}

static void damaged_gaps_are_refused(void **state)
{
    (void)state;
    enum { LAST = SMALL - 2 * LONG_GAP - 7 };
    static const uint32_t above[] = {5, 0, LONG_GAP + 1}, last[] = {5, LONG_GAP, LONG_GAP, LAST},
                          beyond[] = {5, LONG_GAP, LONG_GAP, LAST + 1},
                          far[] = {5, LONG_GAP, LONG_GAP, LONG_GAP},
                          goes_on[] = {5, 0, LONG_GAP, 100, LONG_GAP};
    fill_good();
    check(gaps_read(good_gaps, 4, 3));
    check(!gaps_read(goes_on, 5, 3));
    check(!gaps_read(good_gaps, 4, 2) && !gaps_read(good_gaps, 4, 1));
    memset(byte, COMMON, sizeof byte);
    byte[5] = 1;
    byte[SMALL - 1] = 31;
    check(gaps_read(last, 4, 2));
    byte[SMALL - 1] = COMMON;
    check(!gaps_read(beyond, 4, 2));
    check(!gaps_read(far, 4, 1));
    fill_good();
    byte[7 + LONG_GAP + 100] = COMMON;
    byte[7 + LONG_GAP + 1] = 4;
    check(!gaps_read(above, 3, 3));
}

static void a_common_code_among_the_others_is_refused(void **state)
{
    (void)state;
    static const uint32_t others[] = {1, COMMON, 4};
    fill_good();
    byte[6] = COMMON;
    Parts p = good;
    p.other = others;
    check(!parts_read(p));
}

static void no_others_are_refused(void **state)
{
    (void)state;
    static const uint8_t none[] = {SPARSE, COMMON, 0, 1, 0, 0}; /* no gaps, as no planes, and no others */
    memset(byte, COMMON, sizeof byte);
    check(!reads((Bytes){none, sizeof none}));
}

static void every_prefix_and_flipped_bit_is_refused(void **state)
{
    (void)state;
    fill_good();
    const Buf b = assemble(&good);
    for (size_t size = 0; size < b.size; size++)
        check(!reads((Bytes){b.data, size}));
    b.data[b.size] = 0;
    check(!reads((Bytes){b.data, b.size + 1}));
    for (size_t i = 0; i < 8 * b.size; i++) { /* refused, or other codes */
        b.data[i / 8] ^= (uint8_t)(1 << i % 8);
        check(!reads(buf_bytes(&b)));
        b.data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    check(reads(buf_bytes(&b)));
}

/* A quarter of the codes may be others, and more gaps are not even asked memory for. */
static void more_others_than_a_quarter_are_refused(void **state)
{
    (void)state;
    static uint32_t none[SMALL / 4 + 2], ones[SMALL / 4 + 2];
    for (size_t i = 0; i < countof(ones); i++)
        ones[i] = 1;
    Parts p = {.gap_bits = 8, .common = COMMON, .gap = none, .other = ones};
    for (size_t over = 0; over <= 2; over++) {
        p.count = p.gaps = p.others = SMALL / 4 + over;
        memset(byte, COMMON, SMALL);
        memset(byte, 1, p.gaps);
        check(parts_read(p) == (over == 0));
    }
    const ArenaMark mark = arena_mark(arena);
    p.gaps = p.others = 1; /* an only symbol, which takes no bits */
    p.count = SMALL / 2;
    const Buf b = assemble(&p);
    const size_t before = arena_used(arena);
    arena_reset_peak(arena);
    check(!reads(buf_bytes(&b)));
    check(arena_peak(arena) < before + 6 * SMALL); /* 5: what would come back */
    arena_rewind(arena, mark);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(damaged_heads_are_refused),
    cmocka_unit_test(gaps_are_as_wide_as_the_longest),
    cmocka_unit_test(another_form_reads_nothing_else),
    cmocka_unit_test(damaged_gaps_are_refused),
    cmocka_unit_test(no_others_are_refused),
    cmocka_unit_test(a_common_code_among_the_others_is_refused),
    cmocka_unit_test(every_prefix_and_flipped_bit_is_refused),
    cmocka_unit_test(more_others_than_a_quarter_are_refused),
};

int main(void)
{
    return cmocka_run_group_tests(tests, open_all, close_all) ? 1 : 0;
}
