/* test_symbols_forms.c -- the forms in which symbols.h codes an array of integers; the first byte tells the
 * form. Tests every value of the first byte, and the forms that are seldom chosen. */
#include "rig/coder_rig.h"
#include "rig/symbols_rig.h"

#include "coder/planes.h"
#include "coder/rans.h"

enum { TWO_BLOCKS = BLOCK + 1000, CLASS_OWN = 8 };

static uint32_t word[N];
static uint8_t byte[N];

static Carrier zeros(size_t n, int width)
{
    memset(word, 0, sizeof word);
    memset(byte, 0, sizeof byte);
    return (Carrier){.byte = byte, .word = width > 8 ? word : NULL, .n = n};
}

/* ---- bytes made by hand, with every form byte ---- */

/* Tables whose only symbol is 0, where gamma(n) is the Elias gamma code of n: 4 bits for the precision 12, 4 bits for the number 0 of low bits of a weight,
 * and then gamma(2), gamma(1), gamma(1). */
enum { TABLE_BYTES = 2 };
static const uint8_t only_table[TABLE_BYTES] = {0xc0, 0x58};

typedef struct {
    unsigned kind, lanes, shift, form;
    bool own;
} Shape;

static Shape shape_of(unsigned form)
{
    const Shape f = {form & 3, form >> 2 & 3, form >> 4, form, false};
    return (Shape){f.kind, f.lanes, f.shift, form,
                   f.kind == KIND_OWN || (f.kind == KIND_CLASSES && f.shift & CLASS_OWN)};
}

static void put_nothing(Buf *b, size_t size)
{
    memset(buf_room(b, size), 0, size);
}

static size_t low_size(const Shape *f, size_t n)
{
    return f->kind == KIND_CLASSES ? 4 : planes_size(n, (int)f->shift);
}

/* Returns the code of an array of zeros in the form `form`. A table with a single symbol needs no stream. */
static Bytes zeros_in(const Symbols *s, unsigned form, const uint8_t *table)
{
    static uint8_t data[N * 3];
    const Shape f = shape_of(form);
    const size_t bodies = blocks_of(s->n), size = TABLE_BYTES;
    Buf b = {.data = data, .cap = sizeof data};
    buf_u8(&b, (uint8_t)form);
    if (f.kind == KIND_PLANES) {
        put_nothing(&b, planes_size(s->n, s->width));
        return buf_bytes(&b);
    }
    if (!f.own)
        buf_copy(&b, table, size);
    for (size_t k = 0; k < bodies && bodies > 1; k++)
        buf_u32(&b, (uint32_t)(size * f.own + low_size(&f, block_size(s->n, k))));
    for (size_t k = 0; k < bodies; k++) {
        if (f.own)
            buf_copy(&b, table, size);
        put_nothing(&b, low_size(&f, bodies > 1 ? block_size(s->n, k) : s->n));
    }
    return buf_bytes(&b);
}

static bool is_a_form(const Symbols *s, unsigned form)
{
    const Shape f = shape_of(form);
    const bool blocks = s->n > BLOCK;
    const int left = s->width - (int)f.shift;
    if (f.kind == KIND_PLANES)
        return form == 0;
    if (f.kind == KIND_CLASSES ? s->width <= 8 : left < 1 || left > 16)
        return false;
    if (f.lanes > 2)
        return false;
    return blocks || !f.own;
}

TEST(every_form_of_the_page_is_read_and_no_other)
{
    static const int widths[] = {1, 8, 9, 17};
    for (size_t k = 0; k < 2 * countof(widths); k++) {
        const ArenaMark mark = arena_mark(arena);
        const int width = widths[k / 2];
        Carrier c = zeros(k % 2 ? 1000 : TWO_BLOCKS, width);
        const Symbols s = symbols_of(width, &c);
        for (unsigned form = 0; form < 256; form++)
            check(comes_back(&s, &c, zeros_in(&s, form, only_table)) == is_a_form(&s, form));
        arena_rewind(arena, mark);
    }
}

/* Reading one code too many may leave the final rANS states unchanged, yet the bytes must be refused. */
TEST(one_code_more_than_was_written_is_refused)
{
    static const int widths[] = {5, 9, 17};
    for (size_t k = 0; k < countof(widths); k++) {
        const char *why;
        Carrier c = {.byte = byte, .word = widths[k] > 8 ? word : NULL, .n = 3001};
        for (size_t i = 0; i < c.n; i++) {
            const double v = exp2((widths[k] - 1) * rng_unit(&rng, USE_TEST, i));
            word[i] = (uint32_t)(k == 1 ? v / 32 : v);
            byte[i] = (uint8_t)word[i];
        }
        const Buf b = both_ways(widths[k], &c);
        check(kind_of(b) == (k == 2 ? KIND_CLASSES : KIND_ONE) && (k == 2 || b.data[0] >> 4 == 0));
        c.n++;
        const Symbols s = symbols_of(widths[k], &c);
        check(get_copy(&s, buf_bytes(&b), &why) == ERR_CORRUPT);
    }
}

/* ---- forms that the writer seldom chooses ---- */

/* Fills `word` with random codes. Magnitudes rise by a factor of 16 from each block to the next. */
static void fill_decades(void)
{
    for (size_t i = 0; i < N; i++)
        word[i] = (uint32_t)exp2((double)(4 * (i / BLOCK)) + 4 * rng_unit(&rng, USE_TEST, i)) |
                  (uint32_t)(i % 3 == 0) << 16;
}

TEST(blocks_of_different_decades_have_classes_with_tables_of_their_own)
{
    Carrier c = {.word = word, .n = N};
    fill_decades();
    const Buf b = both_ways(17, &c);
    check(kind_of(b) == KIND_CLASSES && b.data[0] >> 4 & CLASS_OWN);
}

/* A class is all codes with the same leading bits. `symbols_put` must report the order-0 entropy of the
 * classes, plus 1 bit for each low bit. */
TEST(the_bound_of_classes_counts_their_open_bits)
{
    static uint32_t count[1 << SYMBOLS_WIDTH];
    Error err;
    double said = -1, bits = 0;
    Carrier c = {.word = word, .n = 60000};
    for (size_t i = 0; i < c.n; i++)
        word[i] = (uint32_t)exp2(16 * rng_unit(&rng, USE_TEST, i)) | (uint32_t)(i % 3 == 0) << 16;
    Symbols s = symbols_of(17, &c);
    s.entropy = &said;
    Buf out = {.cap = symbols_most(c.n, 17)};
    out.data = NEW(arena, uint8_t, out.cap);
    check_ok(symbols_put(&s, &out, arena, &err), &err);
    assert_int_equal(out.data[0] & 3, KIND_CLASSES);
    for (size_t i = 0; i < c.n; i++) {
        const uint32_t magnitude = word[i] & 0xffff, lead = out.data[0] >> 4 & 7;
        uint32_t open = 0;
        while (magnitude >> open >= 2u << lead)
            open++;
        bits += open;
        count[word[i] >> open << open]++;
    }
    for (size_t k = 0; k < countof(count); k++)
        bits -= count[k] ? count[k] * log2(count[k] / (double)c.n) : 0;
    check_rel(said, bits, 1e-10);
}

/* Few bits a code: one rANS lane, and several blocks are coded in turn. Reads each block's stream alone, as the page of
 * the format says; then damages one block after another. With `own`, frequencies change from block to block. */
static void check_one_lane(size_t blocks, bool own)
{
    const size_t n = blocks * BLOCK + 77;
    uint8_t *few = malloc(n), *back = malloc(BLOCK);
    for (size_t i = 0; i < n; i++) {
        const uint32_t u = rng_u32(&rng, USE_TEST, i) >> 24;
        few[i] = u < 9 ? 1 : u < (own ? 10 + i / BLOCK % 3 * 9 : 14) ? 2 : 0;
    }
    Carrier c = {.byte = few, .n = n};
    const Buf b = both_ways(2, &c);
    check(b.data[0] == (own ? KIND_OWN : KIND_ONE));
    BitReader bits = bits_reader((Bytes){b.data + 1, b.size - 1});
    static Rans table;
    static RansReader reader;
    check(own || rans_table_get(&table, 4, &bits));
    const uint8_t *length = b.data + 1 + (bits.at + 7) / 8, *at = length + 4 * (blocks + 1);
    const Symbols s = symbols_of(2, &c);
    for (size_t k = 0; k <= blocks; k++) {
        const size_t size = load_u32(length + 4 * k);
        Reader in = reader_open((Bytes){at, size});
        if (own) {
            bits = bits_reader((Bytes){at, size});
            check(rans_table_get(&table, 4, &bits) && take_bytes(&in, (size_t)(bits.at + 7) / 8));
        }
        RansLanes lanes;
        rans_reader(&reader, &table);
        check(rans_open(&reader, &lanes, 1, &in) && rans_pull(&reader, &lanes, &in, block_size(n, k), back) &&
              rans_ended(&reader, &lanes, &in) && !memcmp(back, few + k * BLOCK, block_size(n, k)));
        uint8_t *last = b.data + (at - b.data) + size - 1;
        *last ^= 0x40;
        check(!comes_back(&s, &c, buf_bytes(&b)));
        *last ^= 0x40;
        at += size;
    }
    free(few), free(back);
}

TEST(blocks_with_one_lane_are_streams_of_their_own)
{
    for (size_t blocks = 3; blocks <= 9; blocks += 3) {
        check_one_lane(blocks, false);
        check_one_lane(blocks, true);
    }
}

CHECK_ALL(open_all, close_all)
