/* test_indices.c -- encoding and decoding of sets of k of n indices, and malformed bytes. Sizes in bits are
 * compared with log2 C(n, k) and with predicted sizes. */
#include "rig/check.h"
#include "coder/golomb.h"
#include "coder/indices.h"
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
    indices_put(&set, n, 1, NULL, &b);
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

static void runs_are_written_as_one_list(void **state)
{
    (void)state;
    const size_t n = 20000;
    for (size_t k = 1; k < n; k = 3 * k + 1)
        for (size_t each = 1; each < 500; each = 5 * each + 2) {
            const ArenaMark mark = arena_mark(scratch);
            const Cut c = {random_set(k, n, k), k, each};
            const Indices set = {.count = k, .runs = 2 * (k / each + 2), .data = &c, .run = cut_run};
            const Buf one = written(c.index, k, n);
            Buf b = {NEW(scratch, uint8_t, indices_bound(n)), 0, indices_bound(n)};
            indices_put(&set, n, 1, NULL, &b);
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

static double log2_choose(double n, double k)
{
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) * M_LOG2E;
}

static void sets_of_all_sizes_come_back(void **state)
{
    (void)state;
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

static void lopsided_sets_come_back(void **state)
{
    (void)state;
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

/* Bits for k, for the choice of the Golomb code and for padding are not counted. */
static void gaps_are_within_three_percent_of_the_entropy(void **state)
{
    (void)state;
    double worst = 0;
    for (size_t k = 60; k < 10000; k *= 3)
        for (double density = 0.0005; density <= 0.2; density *= 1.13) {
            const ArenaMark mark = arena_mark(scratch);
            const size_t n = (size_t)((double)k / density), draws = k < 1000 ? 40 : 4;
            double bits = 0;
            for (size_t r = 0; r < draws && n < 300000; r++) {
                uint64_t b;
                const Indices set = indices_list(random_set(r + 1000 * k, n, k), k);
                golomb_best(&set, 1, &b);
                bits += (double)b / (double)draws;
            }
            worst = fmax(worst, bits / log2_choose((double)n, (double)k) - 1);
            arena_rewind(scratch, mark);
        }
    print_message("worst excess over log2 C(n, k): %.2f %%\n", 100 * worst);
    check(worst < 0.03);
}

static void no_set_takes_more_than_its_bitmap(void **state)
{
    (void)state;
    const size_t n = 4000;
    for (size_t k = 1; k < n; k += 37) {
        const ArenaMark mark = arena_mark(scratch);
        const Buf b = written(random_set(k, n, k), k, n);
        check(b.size <= varint_size(k) + 1 + n / 8);
        arena_rewind(scratch, mark);
    }
}

static void the_best_code_is_the_best_of_all(void **state)
{
    (void)state;
    for (size_t k = 1; k < 3000; k = k * 3 + 2) {
        const size_t n = 30000;
        const Indices set = indices_list(random_set(k, n, k), k);
        uint64_t bits, least = UINT64_MAX;
        golomb_best(&set, 1, &bits);
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

static void lengths_are_those_of_golomb_codes(void **state)
{
    (void)state;
    for (int code = 0; code < 60; code++) {
        const uint64_t m = golomb_m((GolombCode)code);
        check(code == 0 || m > golomb_m((GolombCode)(code - 1)));
        for (size_t gap = 0; gap < (size_t)1 << 45; gap = gap * 5 / 4 + 1) {
            const Indices set = indices_list(&gap, 1);
            check(golomb_bits((GolombCode)code, &set) == length_ref(m, gap));
        }
    }
}

static void sizes_are_predicted(void **state)
{
    (void)state;
    const size_t n = 200000;
    for (double density = 0.0003; density < 0.99; density *= 1.4) {
        const ArenaMark mark = arena_mark(scratch);
        const size_t k = (size_t)(density * (double)n);
        const Buf b = written(random_set(k, n, k), k, n);
        check_rel(8 * (double)b.size, indices_mean_bits((double)n, (double)k), k < 1000 ? 0.03 : 0.01);
        arena_rewind(scratch, mark);
    }
}

static void cut_padded_and_foreign_bytes_are_refused(void **state)
{
    (void)state;
    size_t *back, count;
    for (size_t k = 3; k < 900; k = 2 * k + 1) {
        const size_t n = 1000;
        const Buf b = written(random_set(k, n, k), k, n);
        for (size_t size = 0; size < b.size; size++)
            check(!reads((Bytes){b.data, size}, n, &back, &count));
        check(!reads((Bytes){b.data, b.size}, n / 4 < k ? k - 1 : 0, &back, &count));
        /* with a flipped bit, the bytes must be refused or decode to a valid set */
        for (size_t bit = 0; bit < 8 * b.size; bit++) {
            b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            Reader in = reader_open(buf_bytes(&b));
            if (takes(&in, n, &back, &count))
                for (size_t i = 0; i < count; i++)
                    check(back[i] < n && (i == 0 || back[i] > back[i - 1]));
            b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
    static const struct {
        const char *why;
        uint8_t bytes[6];
        size_t size, n;
    } refused[] = {
        {"a form that is none", {1, 200, 1}, 3, 100},
        {"gap behind the end", {1, 0, 0x02}, 3, 6},
        {"bits behind the last gap", {1, 0, 0x03}, 3, 8},
        {"more members than places", {9, 255, 0xff}, 3, 8},
        {"fewer bits in the map than members", {3, 255, 0x05}, 3, 8},
        {"more bits in the map than members", {1, 255, 0x05}, 3, 8},
        {"map has bits behind its end", {2, 255, 0x81}, 3, 7},
        {"no quotient ends", {1, 0, 0, 0, 0}, 5, 100},
        {"count in a longer form", {0x81, 0x00, 0, 1}, 4, 100},
        {"more members than bits", {0xff, 0xff, 0x03, 0}, 4, 100000},
    };
    for (size_t i = 0; i < countof(refused); i++)
        if (reads((Bytes){refused[i].bytes, refused[i].size}, refused[i].n, &back, &count)) {
            print_error("taken: %s\n", refused[i].why);
            check(false);
        }
    check(reads((Bytes){(const uint8_t[]){1, 0, 0x02}, 3}, 8, &back, &count) && back[0] == 6);
}

static uint64_t *bits_of(const size_t *index, size_t k, size_t n)
{
    uint64_t *bits = NEW_ZERO(scratch, uint64_t, blocks_of(n) * (BLOCK / 64));
    for (size_t i = 0; i < k; i++)
        bits[index[i] / 64] |= UINT64_C(1) << index[i] % 64;
    return bits;
}

static void check_threads(size_t n, const size_t *index, size_t k, Arena *none)
{
    const ArenaMark mark = arena_mark(scratch);
    const Indices sets[] = {indices_list(index, k), indices_bits(bits_of(index, k, n), n, k)};
    const Buf want = written(index, k, n);
    for (int threads = 1; threads <= 5; threads++)
        for (int form = 0; form < 4; form++) {
            Buf b = {malloc(want.size), 0, want.size};
            memset(b.data, 0xff, b.cap); /* bytes must not depend on what was there */
            indices_put(&sets[form % 2], n, threads, form < 2 ? scratch : none, &b);
            check(b.size == want.size);
            assert_memory_equal(b.data, want.data, b.size);
            free(b.data);
        }
    arena_rewind(scratch, mark);
}

/* Long sets are written in parts by several threads, or by one if there is no memory. */
static void several_threads_write_the_same_bytes(void **state)
{
    (void)state;
    static const struct {
        size_t n, k;
    } sizes[] = {{1 << 20, 65536},   {1 << 20, 65537}, {1 << 20, 131072 + 3},
                 {40000000, 200001}, {700000, 300000}, {700001, 4200},
                 {700001, 4}};
    Arena *none = arena_open(64);
    for (size_t s = 0; s < countof(sizes); s++)
        check_threads(sizes[s].n, random_set(s, sizes[s].n, sizes[s].k), sizes[s].k, none);
    /* all parts but one are empty, and the bits end anywhere in a byte */
    for (size_t k = 5000; k < 5024; k++)
        check_threads(1 << 18, random_set(k, 1 << 16, k), k, none);
    arena_close(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_threads_write_the_same_bytes),
        cmocka_unit_test(sets_of_all_sizes_come_back),
        cmocka_unit_test(lopsided_sets_come_back),
        cmocka_unit_test(gaps_are_within_three_percent_of_the_entropy),
        cmocka_unit_test(no_set_takes_more_than_its_bitmap),
        cmocka_unit_test(the_best_code_is_the_best_of_all),
        cmocka_unit_test(runs_are_written_as_one_list),
        cmocka_unit_test(lengths_are_those_of_golomb_codes),
        cmocka_unit_test(sizes_are_predicted),
        cmocka_unit_test(cut_padded_and_foreign_bytes_are_refused),
    };
    scratch = arena_open(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_close(scratch);
    return failed ? 1 : 0;
}
