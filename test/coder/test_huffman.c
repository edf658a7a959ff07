/* test_huffman.c -- Huffman codes against brute force, a slow decoder and entropy bounds; incomplete tables. */
#include "coder/huffman.c"
#include "rig/check.h"

#include "coder/elias.h"
#include "rig/coder_rig.h"
#include "base/rng.h"

static Arena *arena;
static Rng rng;

static int open_all(void **state)
{
    arena = arena_open(0);
    rng = rng_open(5, 0, 0, 0, rng_hash("huffman"));
    return 0;
}

static int close_all(void **state)
{
    arena_close(arena);
    return 0;
}

static Huffman built(uint32_t alphabet, const uint64_t *count)
{
    Huffman h;
    huffman_build(&h, alphabet, count);
    fill_look(&h);
    return h;
}

/* ---- lengths of the codewords ---- */

/* Returns the least total number of bits of a prefix code: tries every order of merging two nodes. Each merge
 * costs the sum of the two weights. */
static uint64_t least_bits(const uint64_t *weight, size_t n)
{
    if (n < 2)
        return 0;
    uint64_t best = UINT64_MAX, rest[8];
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            size_t m = 0;
            for (size_t i = 0; i < n; i++)
                if (i != a && i != b)
                    rest[m++] = weight[i];
            rest[m++] = weight[a] + weight[b];
            const uint64_t bits = weight[a] + weight[b] + least_bits(rest, m);
            best = bits < best ? bits : best;
        }
    return best;
}

TEST(no_other_code_is_shorter_by_brute_force)
{
    for (uint64_t trial = 0; trial < 400; trial++) {
        uint64_t count[12] = {0}, weight[6];
        size_t n = 0;
        while (n < 1 + trial % 6) {
            const uint64_t s = rng_u64(&rng, USE_TEST, 100 * trial + n) % 12;
            const uint64_t w =
                1 + (rng_u64(&rng, USE_TEST, 100 * trial + n + 50) >> (trial % 8 * 8 + 7)) % 1000;
            for (uint64_t k = s;; k = (k + 1) % 12)
                if (!count[k]) {
                    count[k] = weight[n++] = w;
                    break;
                }
        }
        const Huffman h = built(12, count);
        assert_int_equal(huffman_bits(&h, count), least_bits(weight, n));
    }
}

/* Among all symbol counts with the same sum, Fibonacci numbers give the longest code words. */
TEST(codes_end_at_their_longest_and_only_there)
{
    for (uint32_t n = 2; n <= 46; n++) {
        uint64_t count[46] = {1, 1};
        for (uint32_t i = 2; i < n; i++)
            count[i] = count[i - 1] + count[i - 2];
        const Huffman h = built(n, count);
        unsigned longest = 0;
        double kraft = 0;
        for (uint32_t s = 0; s < n; s++) {
            longest = h.length[s] > longest ? h.length[s] : longest;
            kraft += ldexp(1, -(int)h.length[s]);
        }
        check(kraft == 1);
        if (n <= HUFFMAN_LONGEST + 1)
            assert_int_equal(longest, n - 1);
        else
            check(longest <= HUFFMAN_LONGEST && longest > HUFFMAN_LONGEST / 2);
    }
}

/* ---- streams ---- */

typedef struct {
    uint8_t *data;
    size_t size;
} Stream;

static Stream write_all(const Huffman *h, const uint64_t *count, const uint8_t *symbol, size_t n)
{
    const uint64_t bits = walk_table(h, NULL) + huffman_bits(h, count);
    Stream s = {.size = (size_t)((bits + 7) / 8)};
    s.data = NEW_ZERO(arena, uint8_t, s.size + 1);
    BitWriter w = bits_writer(s.data, s.size);
    walk_table(h, &w);
    Huffman own = *h;
    fill_words(&own);
    put_words(&own, symbol, n, &w);
    bits_close(&w);
    check(!w.full && w.at == w.end); /* the predicted number of bits is exact */
    return s;
}

static uint8_t slow_symbol(const Huffman *h, BitReader *r)
{
    uint64_t code = 0;
    for (unsigned l = 1;; l++) {
        code = code << 1 | bits_get(r, 1);
        check(!r->bad && l <= HUFFMAN_LONGEST);
        for (uint32_t s = 0; s < h->alphabet; s++)
            if (h->length[s] == l && h->code[s] == code)
                return (uint8_t)s;
    }
}

static void come_back(uint32_t alphabet, size_t n, const uint64_t *shape, bool slow)
{
    uint64_t *count = NEW_ZERO(arena, uint64_t, alphabet), total = 0;
    uint8_t *symbol = NEW(arena, uint8_t, n + 1), *back = NEW(arena, uint8_t, n);
    for (uint32_t s = 0; s < alphabet; s++)
        total += shape[s];
    for (size_t i = 0; i < n; i++) {
        uint64_t t = rng_u64(&rng, USE_TEST, i + n) % total;
        uint32_t s = 0;
        for (; t >= shape[s]; s++)
            t -= shape[s];
        symbol[i] = (uint8_t)s;
        count[s]++;
    }
    const Huffman h = built(alphabet, count);
    const Stream bytes = write_all(&h, count, symbol, n);
    Huffman read;
    /* a copy, so that a sanitizer detects reads past the end */
    uint8_t *copy = malloc(bytes.size + 1);
    memcpy(copy, bytes.data, bytes.size);
    BitReader r = bits_reader((Bytes){copy, bytes.size});
    check(huffman_table_get(&read, alphabet, &r));
    assert_int_equal(r.at, walk_table(&h, NULL));
    fill_look(&read);
    BitReader again = r;
    check(get_words(&read, &r, n, back) && bits_finish(&r));
    assert_memory_equal(symbol, back, n * sizeof *symbol);
    for (size_t i = 0; i < n && slow && read.present > 1; i++)
        assert_int_equal(slow_symbol(&read, &again), symbol[i]);
    /* decoding must fail if the last `cut` bytes are missing */
    for (size_t cut = 1; cut <= bytes.size; cut = 2 * cut + 1) {
        BitReader less = bits_reader((Bytes){copy, bytes.size - cut});
        const bool table = huffman_table_get(&read, alphabet, &less);
        fill_look(&read);
        check(!table || !get_words(&read, &less, n, back) || !bits_finish(&less));
    }
    free(copy);
}

TEST(streams_come_back_at_their_stated_cost)
{
    static const size_t ns[] = {0, 1, 2, 3, 5, 12, 13, 100, 1000, 20000};
    static const uint32_t alphabets[] = {1, 2, 3, 4, 31, 255, 256};
    for (size_t a = 0; a < countof(alphabets); a++)
        for (size_t i = 0; i < countof(ns); i++)
            for (int kind = 0; kind < 3; kind++) {
                const ArenaMark mark = arena_mark(arena);
                uint64_t *shape = NEW_ZERO(arena, uint64_t, alphabets[a]);
                for (uint32_t s = 0; s < alphabets[a]; s++)
                    shape[s] = kind == 0   ? 1
                               : kind == 1 ? UINT64_C(1) << (s < 24 ? 24 - s : 0)
                                           : s == alphabets[a] / 2;
                come_back(alphabets[a], ns[i], shape, ns[i] <= 1000);
                arena_rewind(arena, mark);
            }
}

TEST(the_example_of_the_format_page_is_so)
{
    static const uint8_t symbol[] = {0, 1, 0, 3, 0, 1, 0};
    uint64_t count[4] = {4, 2, 0, 1};
    const Huffman h = built(4, count);
    const Stream bytes = write_all(&h, count, symbol, countof(symbol));
    static const uint8_t want[] = {0x24, 0x75, 0xaa, 0x68};
    assert_int_equal(bytes.size, sizeof want);
    assert_memory_equal(bytes.data, want, sizeof want);
}

/* ---- tables of code lengths: valid ones, and ones that no encoder writes ---- */

typedef struct {
    size_t present;
    int length[6];
    uint64_t skipped[6];
    bool good;
} Table;

TEST(tables_that_are_not_complete_are_refused)
{
    static const Table tables[] = {
        {2, {1, 1}, {1, 1}, true},
        {2, {1, 2}, {1, 1}, false},       /* incomplete: the codeword 11 belongs to no symbol */
        {2, {2, 2}, {1, 1}, false},       /* incomplete: the codewords 10 and 11 belong to no symbol */
        {3, {1, 1, 1}, {1, 1, 1}, false}, /* overfull: only two codewords have 1 bit */
        {3, {1, 2, 2}, {1, 1, 1}, true},
        {3, {2, 1, 2}, {1, 2, 1}, true},
        {3, {1, 1, 32}, {1, 1, 1}, false}, /* overfull: the Kraft sum is 1 + 2^-32 */
        {3, {1, 2, 32}, {1, 1, 1}, false},
        {4, {2, 2, 2, 2}, {1, 1, 1, 1}, true},
        {4, {2, 2, 2, 3}, {1, 1, 1, 1}, false},
        {4, {2, 2, 2, 2}, {1, 1, 1, 4}, true},  /* the last symbol of the alphabet */
        {4, {2, 2, 2, 2}, {1, 1, 1, 5}, false}, /* beyond the alphabet */
        {2, {0, 1}, {1, 1}, false},             /* length 0 is for a single symbol only */
        {2, {33, 1}, {1, 1}, false},
        {1, {0}, {7}, true},
        {1, {0}, {8}, false},
        {0, {0}, {0}, true},
        {8, {1, 1}, {1, 1}, false}, /* 8 symbols; the alphabet has 7 */
    };
    for (size_t t = 0; t < countof(tables); t++) {
        uint8_t data[64] = {0};
        BitWriter w = bits_writer(data, sizeof data);
        gamma_put(&w, tables[t].present + 1);
        int before = 8;
        for (size_t i = 0; i < tables[t].present && i < 6 && tables[t].skipped[i]; i++) {
            const int length = tables[t].length[i];
            gamma_put(&w, tables[t].skipped[i]);
            if (tables[t].present > 1)
                gamma_put(&w,
                          (uint64_t)(length >= before ? 1 + 2 * (length - before) : 2 * (before - length)));
            before = length;
        }
        bits_close(&w);
        Huffman h;
        BitReader r = bits_reader((Bytes){data, (size_t)(w.at - data)});
        check(huffman_table_get(&h, 7, &r) == tables[t].good);
    }
}

CHECK_ALL(open_all, close_all)
