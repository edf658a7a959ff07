/* test_symbols_sparse.c -- codes most of which are one: they take their entropy however rare the others are, come back,
 * and nothing else is read for them. */
#include "sources.h"
#include "symbols_rig.h"

enum { LARGE = 40 * BLOCK, SPARSE = 4, LONG_GAP = 1 << 16 };

static uint32_t word[LARGE];
static uint8_t byte[LARGE];

static Symbols symbols_of(SymbolCoder coder, int width, const Carrier *c)
{
    return (Symbols){
        .coder = coder, .n = c->n, .width = width, .threads = 1, .data = c, .make = make, .take = take};
}

static bool is_sparse(const Buf *b)
{
    return (b->data[0] & 15) == SPARSE;
}
static bool sparse_both_ways(SymbolCoder coder, int width, Carrier *c)
{
    const Buf b = both_ways(coder, width, c);
    return is_sparse(&b);
}

static Carrier carrier(int width, size_t n)
{
    for (size_t i = 0; i < n; i++)
        byte[i] = (uint8_t)word[i];
    return (Carrier){.byte = byte, .word = width > 8 ? word : NULL, .n = n};
}

static uint32_t another(int width, uint32_t common, double scale, size_t i)
{
    const uint32_t all = UINT32_C(1) << width;
    const double above = floor(-log(rng_unit(&rng, USE_DATA, i)) * scale);
    return (common + 1 + (uint32_t)fmin(above, all - 2)) % all;
}

/* One in `every` codes, at random, is not the common one; those are as likely as `law` bits say. */
static double law;
static Carrier rare(int width, uint32_t common, size_t every, double scale, size_t n)
{
    const double most = (UINT32_C(1) << width) - 2;
    law = 0;
    for (size_t i = 0; i < n; i++) {
        const bool hit = rng_u64(&rng, USE_TEST, i) % every == 0;
        word[i] = hit ? another(width, common, scale, i) : common;
        const double above = (word[i] - common - 1) & ((UINT32_C(1) << width) - 1);
        law += hit ? log2((double)every) + above / scale * M_LOG2E -
                         (above < most ? log2(-expm1(-1 / scale)) : 0)
                   : -log1p(-1 / (double)every) * M_LOG2E;
    }
    return carrier(width, n);
}

static void rare_codes_take_their_entropy_and_come_back(void **state)
{
    (void)state;
    static const struct {
        SymbolCoder coder;
        int width;
        uint32_t common;
        size_t every;
        double scale;
    } cases[] = {{CODER_RANS, 8, 0, 150, 16},       {CODER_RANS, 8, 200, 150, 4},
                 {CODER_RANS, 12, 77, 300, 300},    {CODER_RANS, 17, 0, 300, 20000},
                 {CODER_RANS, 17, 98304, 300, 900}, {CODER_RANS, 5, 9, 700, 8},
                 {CODER_HUFFMAN, 2, 3, 30, 0.2},    {CODER_HUFFMAN, 8, 0, 10, 16},
                 {CODER_HUFFMAN, 11, 5, 100, 100},  {CODER_HUFFMAN, 17, 0, 300, 3000}};
    for (size_t k = 0; k < countof(cases); k++) {
        const ArenaMark mark = arena_mark(arena);
        const int width = cases[k].width;
        Carrier c = rare(width, cases[k].common, cases[k].every, cases[k].scale, N);
        const Buf b = both_ways(cases[k].coder, width, &c);
        check(8 * (double)b.size < 1.02 * law + 300);
        arena_rewind(arena, mark);
    }
}

/* The same bytes for ever: FNV-1a of three payloads. */
static void what_is_written_stays(void **state)
{
    (void)state;
    static const struct {
        SymbolCoder coder;
        int width;
        uint32_t common;
        size_t bytes;
        uint64_t hash;
    } cases[] = {{CODER_RANS, 8, 0, 2575, 0xddc242cd4b634a36},
                 {CODER_HUFFMAN, 12, 5, 2921, 0x8dc7857ddc74ef04},
                 {CODER_RANS, 17, 98304, 3226, 0xc6b6a9ef512f9979}};
    for (size_t k = 0; k < countof(cases); k++) {
        const ArenaMark mark = arena_mark(arena);
        Carrier c = rare(cases[k].width, cases[k].common, 150, 4 << cases[k].width / 2, N);
        const Buf b = both_ways(cases[k].coder, cases[k].width, &c);
        const uint64_t hash = hash_bytes(b.data, b.size);
        if (hash != cases[k].hash)
            print_error("width %d: %zu bytes, %#llx\n", cases[k].width, b.size, (unsigned long long)hash);
        check(is_sparse(&b));
        check(b.size == cases[k].bytes && hash == cases[k].hash);
        arena_rewind(arena, mark);
    }
}

static void a_gap_may_be_longer_than_any_symbol(void **state)
{
    (void)state;
    Carrier c = rare(17, 0, 50000, 2000, LARGE);
    size_t most = 0;
    for (size_t i = 0, gap = 0; i < LARGE; i++) {
        gap = word[i] ? 0 : gap + 1;
        most = gap > most ? gap : most;
    }
    check(most > 2 * LONG_GAP);
    check(sparse_both_ways(CODER_RANS, 17, &c));
    check(sparse_both_ways(CODER_HUFFMAN, 17, &c));
}

/* Gaps that are nearly all none have a common one themselves. */
static void gaps_may_be_sparse_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        word[i] = rng_u64(&rng, USE_TEST, i / 200) % 10 ? 0 : 1 + (i % 7 == 0);
    Carrier c = carrier(2, N);
    const Buf b = both_ways(CODER_HUFFMAN, 2, &c);
    Reader r = reader_open((Bytes){b.data + 1, b.size - 1});
    check(is_sparse(&b) && take_varint(&r) == 0);
    take_varint(&r), take_varint(&r);
    assert_int_equal(*r.at & 15, SPARSE);
}

static void symbols_that_suit_a_table_have_one(void **state)
{
    (void)state;
    Carrier c = rare(2, 0, 10, 0.2, N);
    check(!sparse_both_ways(CODER_RANS, 2, &c));
    c = rare(8, 0, 3, 16, N); /* a third are others */
    check(!sparse_both_ways(CODER_RANS, 8, &c));
    check(!sparse_both_ways(CODER_HUFFMAN, 8, &c));
    c = rare(8, 0, 100000, 16, N); /* some bytes in all */
    check(!sparse_both_ways(CODER_RANS, 8, &c));
}

/* Others at random places: gaps and others together are as surprising as the codes. */
static void the_bound_is_that_of_gaps_and_others(void **state)
{
    (void)state;
    for (int width = 4; width <= 8; width += 4) {
        const ArenaMark mark = arena_mark(arena);
        Error err;
        double bits = -1;
        const Carrier c = rare(width, 1, 200, 1.5, N);
        Symbols s = symbols_of(CODER_HUFFMAN, width, &c);
        Buf b = {.cap = symbols_most(N, width)};
        b.data = NEW(arena, uint8_t, b.cap);
        s.entropy = &bits;
        check_ok(symbols_put(&s, &b, arena, &err), &err);
        check(is_sparse(&b));
        check_rel(bits, law, 0.02);
        check(bits < 8 * (double)b.size);
        arena_rewind(arena, mark);
    }
}

/* ---- what no writer writes ---- */

enum { SMALL = 2 * BLOCK + 1000, WIDTH = 5, COMMON = 3 };

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
    const Carrier c = {.byte = narrow, .word = width > 8 ? code : NULL, .n = n};
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
    Carrier c = {.byte = byte, .byte_back = NEW(arena, uint8_t, SMALL), .n = SMALL};
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
    static const uint32_t above[] = {5, 0, LONG_GAP + 1, 99}, last[] = {5, LONG_GAP, LONG_GAP, LAST},
                          beyond[] = {5, LONG_GAP, LONG_GAP, LAST + 1},
                          far[] = {5, LONG_GAP, LONG_GAP, LONG_GAP},
                          goes_on[] = {5, 0, LONG_GAP, 100, LONG_GAP};
    fill_good();
    check(gaps_read(good_gaps, 4, 3));
    check(!gaps_read(above, 4, 3));
    check(!gaps_read(goes_on, 5, 3));
    check(!gaps_read(good_gaps, 4, 2) && !gaps_read(good_gaps, 4, 1));
    memset(byte, COMMON, sizeof byte);
    byte[5] = 1;
    byte[SMALL - 1] = 31;
    check(gaps_read(last, 4, 2));
    check(!gaps_read(beyond, 4, 2));
    check(!gaps_read(far, 4, 1));
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
    p.count = UINT64_C(1) << 40;
    const Buf b = assemble(&p);
    const size_t before = arena_used(arena);
    arena_reset_peak(arena);
    check(!reads(buf_bytes(&b)));
    check(arena_peak(arena) < before + 4 * SMALL);
    arena_rewind(arena, mark);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rare_codes_take_their_entropy_and_come_back),
    cmocka_unit_test(what_is_written_stays),
    cmocka_unit_test(a_gap_may_be_longer_than_any_symbol),
    cmocka_unit_test(gaps_may_be_sparse_too),
    cmocka_unit_test(symbols_that_suit_a_table_have_one),
    cmocka_unit_test(the_bound_is_that_of_gaps_and_others),
    cmocka_unit_test(damaged_heads_are_refused),
    cmocka_unit_test(gaps_are_as_wide_as_the_longest),
    cmocka_unit_test(another_form_reads_nothing_else),
    cmocka_unit_test(damaged_gaps_are_refused),
    cmocka_unit_test(a_common_code_among_the_others_is_refused),
    cmocka_unit_test(every_prefix_and_flipped_bit_is_refused),
    cmocka_unit_test(more_others_than_a_quarter_are_refused),
};

int main(void)
{
    return cmocka_run_group_tests(tests, open_all, close_all) ? 1 : 0;
}
