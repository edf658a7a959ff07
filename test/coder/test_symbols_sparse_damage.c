/* test_symbols_sparse_damage.c -- sparse symbols made by hand: bytes that no writer writes are refused, before memory is
 * allocated for them. */
#include "rig/symbols_rig.h"

#include "coder/indices.h"

enum { SPARSE = 4, SMALL = 2 * BLOCK + 1000, WIDTH = 5, COMMON = 3 };

static uint8_t byte[SMALL];

typedef struct {
    uint64_t common;
    const size_t *index;
    const uint8_t *other;
    size_t count, others;
} Parts;

static const size_t good_index[] = {5, 6, BLOCK + 107};
static const uint8_t good_others[] = {1, 31, 4};
static const Parts good = {
    .common = COMMON, .index = good_index, .other = good_others, .count = 3, .others = 3};

static Buf assemble(const Parts *p)
{
    Error err;
    Carrier c = {.byte = p->other, .n = p->others};
    const Symbols s = symbols_of(CODER_RANS, WIDTH, &c);
    const Indices set = indices_list(p->index, p->count);
    Buf b = {.cap = 1 + VARINT_MAX + indices_bound(SMALL) + symbols_most(p->others, WIDTH)};
    b.data = NEW(arena, uint8_t, b.cap + 1);
    buf_u8(&b, SPARSE);
    buf_varint(&b, p->common);
    indices_put(&set, SMALL, &b);
    check_ok(symbols_put(&s, &b, arena, &err), &err);
    return b;
}

/* Whether the bytes are read, and as the codes in `byte`. */
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
    for (size_t k = 0; k < countof(good_index); k++)
        byte[good_index[k]] = good_others[k];
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
    for (size_t count = 0; count <= 3; count++) {
        p = good;
        p.count = count;
        check(parts_read(p) == (count == 3));
        p = good;
        p.others = count ? count : 1;
        check(parts_read(p) == (count == 3));
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
    static size_t index[SMALL / 8];
    static uint8_t others[SMALL / 8];
    for (size_t i = 0; i < countof(index); i++) {
        index[i] = i;
        others[i] = i % 1000 ? 1 : 2;
    }
    Parts p = good;
    p.index = index;
    p.other = others;
    p.count = p.others = countof(index);
    memset(byte, COMMON, SMALL);
    memcpy(byte, others, sizeof others);
    const Buf b = assemble(&p);
    Reader r = reader_open((Bytes){b.data + 1, b.size - 1});
    Places places;
    take_varint(&r);
    check(indices_get(&r, SMALL, arena, &places));
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
    for (size_t i = 0; i < 8 * b.size; i++) { /* refused, or other codes */
        b.data[i / 8] ^= (uint8_t)(1 << i % 8);
        check(!reads(buf_bytes(&b)));
        b.data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    check(reads(buf_bytes(&b)));
}

/* Up to a quarter of the codes may differ from the common one. */
static void more_others_than_a_quarter_are_refused(void **state)
{
    (void)state;
    static size_t index[SMALL / 4 + 2];
    static uint8_t ones[SMALL / 4 + 2];
    for (size_t i = 0; i < countof(index); i++) {
        index[i] = i;
        ones[i] = 1;
    }
    Parts p = {.common = COMMON, .index = index, .other = ones};
    for (size_t over = 0; over <= 2; over++) {
        p.count = p.others = SMALL / 4 + over;
        memset(byte, COMMON, SMALL);
        memset(byte, 1, p.count);
        check(parts_read(p) == (over == 0));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(damaged_heads_are_refused),
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
