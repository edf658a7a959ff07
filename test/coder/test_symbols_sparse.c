/* test_symbols_sparse.c -- arrays in which nearly all codes are equal (the common code). The sparse form stores
 * the positions and values of the rare codes, in a size near the entropy. */
#include "rig/sources.h"
#include "rig/symbols_rig.h"

enum { LARGE = 40 * BLOCK, SPARSE = 4 };

static uint32_t word[LARGE];
static uint8_t byte[LARGE];

static bool is_sparse(const Buf *b)
{
    return b->data[0] == SPARSE;
}
static bool sparse_both_ways(int width, Carrier *c)
{
    const Buf b = both_ways(width, c);
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

/* Makes n codes. Each differs from the common code with probability 1 / `every`. Sets `law` to minus the log2
 * of the probability of these codes, their ideal size in bits. */
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

TEST(rare_codes_take_their_entropy_and_come_back)
{
    static const struct {
        int width;
        uint32_t common;
        size_t every;
        double scale;
    } cases[] = {{8, 0, 150, 16},     {8, 200, 150, 4},     {12, 77, 300, 300},
                 {17, 0, 300, 20000}, {17, 98304, 300, 900}, {5, 9, 700, 8}};
    for (size_t k = 0; k < countof(cases); k++) {
        const ArenaMark mark = arena_mark(arena);
        const int width = cases[k].width;
        Carrier c = rare(width, cases[k].common, cases[k].every, cases[k].scale, N);
        const Buf b = both_ways(width, &c);
        check(8 * (double)b.size < 1.02 * law + 300);
        arena_rewind(arena, mark);
    }
}

/* Stored FNV-1a hashes detect a change of the format. */
TEST(what_is_written_stays)
{
    static const struct {
        int width;
        uint32_t common;
        size_t bytes;
        uint64_t hash;
    } cases[] = {{8, 0, 2567, 0x9eb6b02223430882},
                 {17, 98304, 3218, 0x40824cd6f84212ca}};
    for (size_t k = 0; k < countof(cases); k++) {
        const ArenaMark mark = arena_mark(arena);
        Carrier c = rare(cases[k].width, cases[k].common, 150, 4 << cases[k].width / 2, N);
        const Buf b = both_ways(cases[k].width, &c);
        const uint64_t hash = hash_bytes(b.data, b.size);
        if (hash != cases[k].hash)
            print_error("width %d: %zu bytes, %#llx\n", cases[k].width, b.size, (unsigned long long)hash);
        check(is_sparse(&b));
        check(b.size == cases[k].bytes && hash == cases[k].hash);
        arena_rewind(arena, mark);
    }
}

TEST(rare_codes_may_lie_blocks_apart)
{
    Carrier c = rare(17, 0, 50000, 2000, LARGE);
    memset(&word[100], 0, 3 * BLOCK * sizeof *word);
    check(sparse_both_ways(17, &c));
}

TEST(symbols_that_suit_a_table_have_one)
{
    Carrier c = rare(2, 0, 10, 0.2, N);
    check(!sparse_both_ways(2, &c));
    /* a third of the codes differ from the common code: too many for the sparse form */
    c = rare(8, 0, 3, 16, N);
    check(!sparse_both_ways(8, &c));
}

/* The reported entropy is that of the positions plus that of the rare codes. At random positions, this sum must
 * be the entropy of all codes. */
TEST(the_bound_is_that_of_positions_and_others)
{
    for (int width = 4; width <= 8; width += 4) {
        const ArenaMark mark = arena_mark(arena);
        Error err;
        double bits = -1;
        Carrier c = rare(width, 1, 200, 1.5, N);
        Symbols s = symbols_of(width, &c);
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

CHECK_ALL(open_all, close_all)
