/* test_indices.c -- encoding and decoding of sets of k of n indices. Sizes in bits are compared with log2 C(n, k)
 * and with predicted sizes. */
#include "coder/indices.c"
#include "rig/check.h"
#include "base/rng.h"

static Arena *scratch;

/* Returns a uniformly random set of k out of n indices, ascending (Knuth's selection sampling). */
static size_t *random_set(uint64_t stream, size_t n, size_t k)
{
    const Rng rng = rng_open(3, 0, 0, 0, stream);
    size_t *index = NEW(scratch, size_t, k);
    size_t found = 0;
    RngKey key = {0};
    for (size_t i = 0; i < n && found < k; i++) {
        if (i % BLOCK == 0)
            key = rng_key(&rng, USE_TEST, i / BLOCK);
        if ((double)rng_word(&key, (uint32_t)(i % BLOCK)) * 0x1p-32 * (double)(n - i) < (double)(k - found))
            index[found++] = i;
    }
    return index;
}

static Buf written(const size_t *index, size_t k, size_t n)
{
    Buf b = {NEW(scratch, uint8_t, indices_bound(n)), 0, indices_bound(n)};
    const Indices set = indices_list(index, k);
    indices_put(&set, n, &b);
    return b;
}

/* Decodes a set to *index, an array of *k indices. Returns false if the decoder refuses the bytes. */
static bool takes(Reader *in, size_t n, size_t **index, size_t *k)
{
    Places set;
    if (!indices_get(in, n, scratch, &set))
        return false;
    *k = set.count;
    *index = NEW(scratch, size_t, *k);
    check(set.before[0] == 0 && set.before[blocks_of(n)] == *k);
    for (size_t b = 0; b < blocks_of(n); b++)
        for (size_t i = set.before[b]; i < set.before[b + 1]; i++)
            (*index)[i] = b * BLOCK + set.at[i];
    return true;
}

static bool reads(Bytes bytes, size_t n, size_t **index, size_t *k)
{
    Reader in = reader_open(bytes);
    return takes(&in, n, index, k) && reader_done(&in);
}

/* A list of `count` indices, cut into runs for the encoder: runs 0, 2, 4, ... have `each` indices, runs 1, 3,
 * 5, ... have none. */
typedef struct {
    const size_t *index;
    size_t count, each;
} Cut;

static const size_t *cut_run(const Indices *set, size_t run, size_t room[INDEX_RUN], size_t *count)
{
    (void)room;
    const Cut *c = set->data;
    const size_t from = run / 2 * c->each;
    *count = run % 2 || from >= c->count ? 0 : c->count - from < c->each ? c->count - from : c->each;
    return c->index + from;
}

TEST(runs_are_written_as_one_list)
{
    const size_t n = 20000;
    for (size_t k = 1; k < n; k = 3 * k + 1)
        for (size_t each = 1; each < 500; each = 5 * each + 2) {
            const ArenaMark mark = arena_mark(scratch);
            const Cut c = {random_set(k, n, k), k, each};
            const Indices set = {.count = k, .runs = 2 * (k / each + 2), .data = &c, .run = cut_run};
            const Buf one = written(c.index, k, n);
            Buf b = {NEW(scratch, uint8_t, indices_bound(n)), 0, indices_bound(n)};
            indices_put(&set, n, &b);
            check(b.size == one.size && !memcmp(b.data, one.data, one.size));
            arena_rewind(scratch, mark);
        }
}

static void returns(const size_t *index, size_t k, size_t n)
{
    size_t *back, count;
    const Buf b = written(index, k, n);
    check(reads(buf_bytes(&b), n, &back, &count) && count == k);
    for (size_t i = 0; i < k; i++)
        check(back[i] == index[i]);
}

TEST(sets_of_all_sizes_come_back)
{
    static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 65535, 65536, 65537, 300000};
    for (size_t s = 0; s < countof(sizes); s++)
        for (double density = 1e-6; density < 2; density *= 2.3) {
            const size_t n = sizes[s];
            const size_t k = density >= 1 ? n : (size_t)ceil(density * (double)n);
            const ArenaMark mark = arena_mark(scratch);
            returns(random_set(n + k, n, k), k, n);
            returns(NULL, 0, n);
            arena_rewind(scratch, mark);
        }
}

TEST(lopsided_sets_come_back)
{
    const size_t n = (size_t)1 << 24;
    const size_t far[] = {0, 1, 2, n / 3, n / 3 + 1, n - 2, n - 1};
    for (size_t from = 0; from < countof(far); from++)
        for (size_t to = from + 1; to <= countof(far); to++) {
            const ArenaMark mark = arena_mark(scratch);
            size_t *back, count;
            const Buf b = written(far + from, to - from, n);
            check(reads(buf_bytes(&b), n, &back, &count) && count == to - from);
            check(!memcmp(back, far + from, count * sizeof *back));
            arena_rewind(scratch, mark);
        }
    size_t crowd[5000];
    for (size_t i = 0; i < countof(crowd); i++)
        crowd[i] = i < 4999 ? i : 299999;
    returns(crowd, countof(crowd), 300000);
}

/* Returns the exact number of bits of all gaps of `set` in this code. */
static uint64_t golomb_bits(GolombCode code, const Indices *set)
{
    uint64_t bits[NEAR];
    count_bits(set, code, 1, bits);
    return bits[0];
}

TEST(the_best_code_is_the_best_of_all)
{
    for (size_t k = 1; k < 3000; k = k * 3 + 2) {
        const size_t n = 30000;
        const Indices set = indices_list(random_set(k, n, k), k);
        uint64_t bits, least = UINT64_MAX;
        golomb_best(&set, &bits);
        for (int code = 0; code < GOLOMB_CODES; code++) {
            const uint64_t b = golomb_bits((GolombCode)code, &set);
            least = b < least ? b : least;
        }
        check(bits == least);
    }
}

/* Returns the length in bits of the Golomb code of `gap` with divisor m: gap / m + 1 bits for the quotient in
 * unary, and ceil(log2 m) bits for the remainder, or one less for the smallest remainders. */
static uint64_t length_ref(uint64_t m, uint64_t gap)
{
    unsigned most = 0;
    while (UINT64_C(1) << most < m)
        most++;
    const uint64_t shorter = (UINT64_C(1) << most) - m;
    return gap / m + 1 + most - (gap % m < shorter);
}

TEST(lengths_are_those_of_golomb_codes)
{
    for (int code = 0; code < 60; code++) {
        const uint64_t m = golomb_m((GolombCode)code);
        check(code == 0 || m > golomb_m((GolombCode)(code - 1)));
        for (size_t gap = 0; gap < (size_t)1 << 45; gap = gap * 5 / 4 + 1) {
            const Indices set = indices_list(&gap, 1);
            check(golomb_bits((GolombCode)code, &set) == length_ref(m, gap));
        }
    }
}

TEST(sizes_are_predicted)
{
    const size_t n = 200000;
    for (double density = 0.0003; density < 0.99; density *= 1.4) {
        const ArenaMark mark = arena_mark(scratch);
        const size_t k = (size_t)(density * (double)n);
        const Buf b = written(random_set(k, n, k), k, n);
        check_rel(8 * (double)b.size, indices_mean_bits((double)n, (double)k), k < 1000 ? 0.03 : 0.01);
        arena_rewind(scratch, mark);
    }
}

CHECK_ALL_IN(scratch)
