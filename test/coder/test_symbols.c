/* test_symbols.c -- arrays of integer codes, as symbols.h writes them in the shortest of several formats: the
 * choice of the format, codes of every width, and malformed bytes. */
#include "rig/symbols_rig.h"

static uint8_t codes[N];

/* Fills `codes` with random values 0 .. most; the larger a value, the rarer it is. */
static void fill_codes(size_t n, uint8_t most, double slope)
{
    for (size_t i = 0; i < n; i++) {
        const double v = -log(rng_unit(&rng, USE_TEST, i)) / slope;
        codes[i] = (uint8_t)(v < most ? v : most);
    }
}

TEST(the_shortest_form_is_taken)
{
    Carrier c = {.byte = codes, .n = N};
    fill_codes(N, 31, 0.5);
    Buf b = both_ways(5, &c);
    /* all blocks have the same distribution, so they share one table */
    assert_int_equal(kind_of(b), KIND_ONE);
    const size_t alike = b.size;
    for (size_t i = 0; i < N; i++)
        /* each block gets other symbols, so a common table costs more than one table per block */
        codes[i] ^= (uint8_t)(7 * (i / BLOCK));
    b = both_ways(5, &c);
    assert_int_equal(kind_of(b), KIND_OWN);
    check(b.size < alike + 200);
    for (size_t i = 0; i < N; i++)
        codes[i] = (uint8_t)(rng_u64(&rng, USE_TEST, i) & 31);
    b = both_ways(5, &c);
    /* no table saves bits of uniform codes */
    assert_int_equal(kind_of(b), KIND_PLANES);
    c.n = 5;
    b = both_ways(5, &c);
    assert_int_equal(kind_of(b), KIND_PLANES);
    c.n = N;
    memset(codes, 9, N);
    b = both_ways(5, &c);
    check(kind_of(b) == KIND_ONE && b.size < 25);
}

TEST(every_width_and_size_comes_back)
{
    static const size_t ns[] = {1, 2, 63, 64, 65, 1000, 9000, 65536, 65537, 140000};
    static uint32_t word[140000];
    static uint8_t byte[140000];
    for (size_t i = 0; i < countof(ns); i++)
        for (int width = 1; width <= SYMBOLS_WIDTH; width += width < 9 ? 1 : 4) {
            const ArenaMark mark = arena_mark(arena);
            const double scale = (1u << width) / (width % 2 ? 40.0 : 6.0);
            for (size_t k = 0; k < ns[i]; k++) {
                const double v = fabs(rng_normal(&rng, USE_TEST, k)) * scale;
                word[k] = (uint32_t)v & ((1u << width) - 1);
                byte[k] = (uint8_t)word[k];
            }
            Carrier c = {.byte = byte, .word = width > 8 ? word : NULL, .n = ns[i]};
            const Buf b = both_ways(width, &c);
            check(b.size <= symbols_most(ns[i], width));
            arena_rewind(arena, mark);
        }
}

TEST(an_empty_list_comes_back)
{
    static uint32_t word[1];
    for (int width = 1; width <= SYMBOLS_WIDTH; width++) {
        Carrier c = {.byte = codes, .word = width > 8 ? word : NULL};
        const Buf b = both_ways(width, &c);
        check(b.size == symbols_most(0, width) && kind_of(b) == KIND_PLANES);
    }
}

TEST(forms_that_no_writer_writes_are_refused)
{
    Carrier c = {.byte = codes, .n = 1000};
    fill_codes(1000, 15, 0.7);
    const Buf b = both_ways(4, &c);
    const Symbols s = symbols_of(4, &c);
    for (unsigned form = 0; form < 256; form++) {
        const uint8_t was = b.data[0];
        b.data[0] = (uint8_t)form;
        check(comes_back(&s, &c, buf_bytes(&b)) == (form == was));
        b.data[0] = was;
    }
}

/* The logarithms of most codes are uniform. With high bits as symbols, most codes would be symbol 0, or the
 * table would be very large. So the symbols must be classes of magnitudes (the position of the highest bit). */
TEST(codes_spread_over_decades_go_by_classes)
{
    static uint32_t word[N];
    for (int width = 9; width <= SYMBOLS_WIDTH; width++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t top = UINT32_C(1) << (width - 1);
        /* an upper bound on the number of bits below the highest set bits of all codes */
        double open = 0;
        for (size_t i = 0; i < N; i++) {
            const double v = exp(rng_unit(&rng, USE_TEST, i) * log(top));
            word[i] = (uint32_t)v | (i % 3 ? 0 : top);
            open += log2(v);
        }
        Carrier c = {.word = word, .n = N};
        const Buf b = both_ways(width, &c);
        const double most = open + N * (1 + log2(log(top)) - log2(M_LN2) + 0.6);
        check(width < 11 || (b.data[0] & 3) == 3);
        check(8 * (double)b.size < most);
        check(10 * b.size < 9 * symbols_most(N, width));
        arena_rewind(arena, mark);
    }
}

static double bound_of(int width, Carrier *c, Buf *out)
{
    Error err;
    double bits = -1;
    Symbols s = symbols_of(width, c);
    s.threads = 2;
    s.entropy = &bits;
    *out = (Buf){.cap = symbols_most(c->n, width)};
    out->data = NEW(arena, uint8_t, out->cap);
    check_ok(symbols_put(&s, out, arena, &err), &err);
    return bits;
}

static double order_0(const uint32_t *code, size_t from, size_t to, int shift)
{
    static uint32_t count[1 << SYMBOLS_WIDTH];
    double bits = 0;
    memset(count, 0, sizeof count);
    for (size_t i = from; i < to; i++)
        count[code[i] >> shift]++;
    for (size_t c = 0; c < countof(count); c++)
        bits -= count[c] ? count[c] * log2(count[c] / (double)(to - from)) : 0;
    return bits;
}

/* `symbols_put` must report the entropy of what it writes. One table: the order-0 entropy of all symbols, plus
 * 1 bit for each low bit that is sent without a table. One table per block: the sum of the entropies of the
 * blocks. Bit planes: the number of bits. */
TEST(the_bound_is_that_of_the_streams_that_are_sent)
{
    static uint32_t word[N];
    Buf b;
    const ArenaMark mark = arena_mark(arena);
    Carrier c = {.byte = codes, .n = N};
    fill_codes(N, 31, 0.5);
    for (size_t i = 0; i < N; i++)
        word[i] = codes[i];
    check_rel(bound_of(5, &c, &b), order_0(word, 0, N, 0), 1e-12);
    assert_int_equal(kind_of(b), KIND_ONE);
    for (size_t i = 0; i < N; i++)
        word[i] = codes[i] ^= (uint8_t)(7 * (i / BLOCK));
    double own = 0;
    for (size_t from = 0; from < N; from += BLOCK)
        own += order_0(word, from, from + BLOCK < N ? from + BLOCK : N, 0);
    check_rel(bound_of(5, &c, &b), own, 1e-12);
    assert_int_equal(kind_of(b), KIND_OWN);
    for (size_t i = 0; i < N; i++)
        codes[i] = (uint8_t)(rng_u64(&rng, USE_TEST, i) & 31);
    check(bound_of(5, &c, &b) == 5.0 * N);
    c.word = word;
    for (size_t i = 0; i < N; i++) /* 13 bits, of which the low 8 are uniformly random */
        word[i] = (uint32_t)(31 * pow(rng_unit(&rng, USE_DATA, i), 4)) << 8 |
                  (rng_u64(&rng, USE_TEST, i) & 255);
    const double bits = bound_of(13, &c, &b);
    if (kind_of(b) == KIND_ONE)
        check_rel(bits, order_0(word, 0, N, b.data[0] >> 4) + (b.data[0] >> 4) * (double)N, 1e-12);
    check(bits > 0.99 * 8 * (double)b.size && bits < 8 * (double)b.size);
    arena_rewind(arena, mark);
}

CHECK_ALL(open_all, close_all)
