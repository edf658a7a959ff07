/* test_symbols_sparse_damage.c -- bytes of the sparse form that no writer writes must be refused. The sparse
 * form stores the positions and values of the codes that differ from the common code, the most frequent one. */
#include "rig/symbols_rig.h"

enum { SPARSE = 4, SMALL = 2 * BLOCK + 1000, WIDTH = 5, COMMON = 3 };

static uint8_t byte[SMALL];

typedef struct {
    uint64_t common;
    const uint32_t *gap;
    const uint8_t *other;
    size_t gaps, others;
} Parts;

/* Three codes are not COMMON, at positions 5, 6 and LONG_GAP + 107. A gap is the number of COMMON codes in
 * front of a rare code. To a gap of LONG_GAP, the next gap is added. */
enum { LONG_GAP = 65535 };
static const uint32_t good_gaps[] = {5, 0, LONG_GAP, 100};
static const uint8_t good_others[] = {1, 31, 4};
static const Parts good = {.common = COMMON, .gap = good_gaps, .other = good_others, .gaps = 4, .others = 3};

static void put(int width, Carrier c, Buf *b)
{
    Error err;
    const Symbols s = symbols_of(CODER_HUFFMAN, width, &c);
    b->data = NEW(arena, uint8_t, b->cap = symbols_most(c.n, width));
    check_ok(symbols_put(&s, b, arena, &err), &err);
}

static Buf assemble(const Parts *p)
{
    Buf gaps = {0}, others = {0};
    put(16, (Carrier){.word = (uint32_t *)p->gap, .n = p->gaps}, &gaps);
    put(WIDTH, (Carrier){.byte = (uint8_t *)p->other, .n = p->others}, &others);
    Buf b = {.cap = 1 + 3 * VARINT_MAX + gaps.size + others.size};
    b.data = NEW(arena, uint8_t, b.cap + 1);
    buf_u8(&b, SPARSE);
    buf_varint(&b, p->common);
    buf_varint(&b, p->gaps);
    buf_varint(&b, gaps.size);
    buf_copy(&b, gaps.data, gaps.size);
    buf_copy(&b, others.data, others.size);
    return b;
}

/* True if the bytes are accepted and decode to the codes in `byte`. */
static bool reads(Bytes in)
{
    Carrier c = {.byte = byte, .n = SMALL};
    const Symbols s = symbols_of(CODER_HUFFMAN, WIDTH, &c);
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
    byte[LONG_GAP + 107] = 4;
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
    for (size_t others = 1; others <= 3; others++) {
        p = good;
        p.others = others;
        check(parts_read(p) == (others == 3));
    }
    for (size_t gaps = 0; gaps <= 4;
         /* with 3 gaps, the last gap is LONG_GAP, which needs another gap behind it */
         gaps++) {
        p = good;
        p.gaps = gaps;
        p.others = gaps < 3 ? gaps : gaps - 1;
        check(parts_read(p) == (gaps == 4));
    }
}

static void a_gap_ends_within_the_codes(void **state)
{
    (void)state;
    for (uint32_t last = SMALL - 2 * LONG_GAP - 8; last < SMALL - 2 * LONG_GAP - 4; last++) {
        const uint32_t gaps[] = {5, 0, LONG_GAP, LONG_GAP, last}, place = 2 * LONG_GAP + 7 + last;
        Parts p = good;
        p.gap = gaps;
        p.gaps = countof(gaps);
        fill_good();
        byte[LONG_GAP + 107] = COMMON;
        if (place < SMALL)
            byte[place] = 4;
        check(parts_read(p) == (place < SMALL));
    }
}

static void another_form_reads_nothing_else(void **state)
{
    (void)state;
    fill_good();
    const Buf b = assemble(&good);
    for (unsigned form = 0; form < 256; form++) {
        b.data[0] = (uint8_t)form;
        check(reads(buf_bytes(&b)) == (form == SPARSE));
    }
}

static void a_common_code_among_the_others_is_refused(void **state)
{
    (void)state;
    static const uint8_t others[] = {1, COMMON, 4};
    fill_good();
    byte[6] = COMMON;
    Parts p = good;
    p.other = others;
    check(!parts_read(p));
}

static void the_others_are_not_sparse_themselves(void **state)
{
    (void)state;
    static uint32_t gaps[SMALL / 8];
    static uint8_t others[SMALL / 8];
    for (size_t i = 0; i < countof(others); i++)
        others[i] = i % 1000 ? 1 : 2;
    const Parts p = {
        .common = COMMON, .gap = gaps, .other = others, .gaps = countof(gaps), .others = countof(others)};
    memset(byte, COMMON, SMALL);
    memcpy(byte, others, sizeof others);
    const Buf b = assemble(&p);
    Reader r = reader_open((Bytes){b.data + 1, b.size - 1});
    take_varint(&r);
    take_varint(&r);
    take_bytes(&r, take_varint(&r));
    check(reads(buf_bytes(&b)) == (*r.at != SPARSE));
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
    /* with a flipped bit, the bytes are refused or decode to other codes */
    for (size_t i = 0; i < 8 * b.size; i++) {
        b.data[i / 8] ^= (uint8_t)(1 << i % 8);
        check(!reads(buf_bytes(&b)));
        b.data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    check(reads(buf_bytes(&b)));
}

static void more_others_than_a_quarter_are_refused(void **state)
{
    (void)state;
    static uint32_t gaps[SMALL / 4 + 2];
    static uint8_t ones[SMALL / 4 + 2];
    memset(ones, 1, sizeof ones);
    Parts p = {.common = COMMON, .gap = gaps, .other = ones};
    for (size_t over = 0; over <= 2; over++) {
        p.gaps = p.others = SMALL / 4 + over;
        memset(byte, COMMON, SMALL);
        memset(byte, 1, p.others);
        check(parts_read(p) == (over == 0));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(damaged_heads_are_refused),
    cmocka_unit_test(a_gap_ends_within_the_codes),
    cmocka_unit_test(another_form_reads_nothing_else),
    cmocka_unit_test(a_common_code_among_the_others_is_refused),
    cmocka_unit_test(the_others_are_not_sparse_themselves),
    cmocka_unit_test(every_prefix_and_flipped_bit_is_refused),
    cmocka_unit_test(more_others_than_a_quarter_are_refused),
};

int main(void)
{
    return cmocka_run_group_tests(tests, open_all, close_all) ? 1 : 0;
}
