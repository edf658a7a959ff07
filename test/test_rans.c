/* test_rans.c -- rANS against a slow reference, its frequencies against the best there are, entropy bounds, every
 * instruction set, and damage. */
#include "check.h"

#include "arena.h"
#include "elias.h"
#include "kernels.h"
#include "rans.h"

static Rng rng;
static const unsigned lane_counts[] = {1, 4, RANS_LANES};

static int open_all(void **state)
{
    (void)state;
    rng = rng_open(5, 0, 0, 0, rng_hash("rans"));
    return 0;
}

/* ---- frequencies ---- */

static double cost_of(const uint64_t *count, const uint32_t *frequency, uint32_t n, int precision)
{
    double bits = 0;
    for (uint32_t s = 0; s < n; s++)
        if (count[s])
            bits += (double)count[s] * (precision - log2((double)frequency[s]));
    return bits;
}

/* The least cost at a precision: from one each, every further unit to whom it saves most, which is best as
 * savings fall. */
static double least_cost(const uint64_t *count, uint32_t n, int precision)
{
    uint32_t f[64] = {0}, sum = 0;
    for (uint32_t s = 0; s < n; s++)
        sum += f[s] = count[s] != 0;
    for (; sum < 1u << precision; sum++) {
        uint32_t best = n;
        double most = -1;
        for (uint32_t s = 0; s < n; s++) {
            const double saved = f[s] ? (double)count[s] * log2(1 + 1 / (double)f[s]) : -1;
            if (saved > most) {
                most = saved;
                best = s;
            }
        }
        f[best]++;
    }
    return cost_of(count, f, n, precision);
}

static void random_counts(uint64_t *count, uint32_t n, uint64_t trial)
{
    for (uint32_t s = 0; s < n; s++) {
        const uint64_t r = rng_u64(&rng, USE_TEST, trial * 64 + s);
        count[s] = r % 4 ? (r >> 20) % (UINT64_C(1) << (1 + (r >> 8) % (4 + trial % 20))) : 0;
    }
}

static void frequencies_are_the_best_to_a_thousandth(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 120; trial++) {
        const uint32_t n = 2 + (uint32_t)(trial % 60);
        uint64_t count[64];
        uint32_t f[64] = {0}, sum = 0;
        Rans r;
        random_counts(count, n, trial);
        count[0]++, count[n - 1]++;
        check(rans_build(&r, n, count));
        for (uint32_t k = 0; k < r.present; k++) {
            check(r.frequency[k] >= 1 && count[r.symbol[k]] > 0);
            sum += f[r.symbol[k]] = r.frequency[k];
        }
        assert_int_equal(sum, 1 << r.precision);
        const double cost = cost_of(count, f, n, r.precision), least = least_cost(count, n, r.precision);
        check(cost >= least * (1 - 1e-9) && cost <= least * 1.001);
        check_near((double)rans_bits(&r, count, 0), cost, 1 + 1e-4 * cost);
    }
}

static void no_other_precision_makes_a_short_stream_shorter(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 60; trial++) {
        uint64_t count[40];
        random_counts(count, 40, 3 * trial);
        count[3] += 2, count[7]++;
        for (uint32_t s = 0; s < 40; s++)
            count[s] %= 500;
        Rans r;
        check(rans_build(&r, 40, count));
        const double own = (double)(rans_table_bits(&r) + rans_bits(&r, count, 0));
        for (int p = RANS_PRECISION_LEAST; p <= RANS_PRECISION; p++)
            if (r.present <=
                1u << p) /* a table has a bit or more for each symbol, and each frequency but one */
                check(own <= least_cost(count, 40, p) + 12.0 + 20.0 * r.present);
    }
}

static void tables_come_back_at_their_stated_cost(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 200; trial++) {
        static uint64_t count[3000];
        const uint32_t alphabet = trial % 2 ? 40 : 3000;
        memset(count, 0, sizeof count);
        for (uint64_t k = 0; k < trial; k++)
            count[rng_u64(&rng, USE_TEST, 1000 * trial + k) % alphabet] +=
                1 + rng_u64(&rng, USE_DATA, 1000 * trial + k) % 100000;
        Rans r, back;
        check(rans_build(&r, alphabet, count));
        uint8_t data[2048] = {0};
        BitWriter w = bits_writer(data, sizeof data);
        rans_table_put(&r, &w);
        bits_close(&w);
        check(!w.full);
        BitReader in = bits_reader((Bytes){data, (size_t)(w.at - data)});
        check(rans_table_get(&back, alphabet, &in));
        assert_int_equal(in.at, rans_table_bits(&r));
        check(bits_finish(&in));
        assert_memory_equal(&r, &back, sizeof r);
    }
}

/* ---- streams ---- */

/* The stream as the page has it: big states one symbol at a time, slots found by counting, words kept apart. */
static size_t slow_put(const Rans *r, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *out)
{
    uint64_t x[RANS_LANES];
    uint16_t *word = malloc((n + 1) * sizeof *word);
    size_t words = 0;
    for (unsigned l = 0; l < lanes; l++)
        x[l] = 65536;
    for (size_t i = n; i-- > 0;) {
        uint64_t start = 0, f = 0, *state = &x[i % lanes];
        for (uint32_t k = 0; k < r->present; k++) {
            f = r->frequency[k];
            if (rans_byte(r, k) == byte[i])
                break;
            start += f;
        }
        const uint64_t sum = UINT64_C(1) << r->precision;
        if (*state / f * sum + start + *state % f > UINT32_MAX) { /* would not fit */
            word[words++] = (uint16_t)*state;
            *state >>= 16;
        }
        *state = *state / f * sum + start + *state % f;
    }
    for (unsigned l = 0; l < lanes; l++)
        store_u32(out + 4 * l, (uint32_t)x[l]);
    for (size_t k = 0; k < words; k++)
        store_u16(out + 4 * lanes + 2 * k, word[words - 1 - k]);
    free(word);
    return 4 * lanes + 2 * words;
}

typedef struct {
    size_t n;
    uint8_t *byte, *room, *stream;
    size_t size;
    uint64_t count[RANS_BYTES];
    Rans rans;
    unsigned lanes;
} Case;

/* n bytes under `alphabet`, the less often the larger they are; `slope` 0: all alike. */
static Case make_case(size_t n, uint32_t alphabet, double slope, unsigned lanes)
{
    Case c = {.n = n, .lanes = lanes};
    c.byte = malloc(n + 1);
    c.room = malloc(rans_most(n, lanes));
    for (size_t i = 0; i < n; i++) {
        const double u = rng_unit(&rng, USE_TEST, i + n);
        const double v = slope > 0 ? -log(u) / slope : u * alphabet;
        c.byte[i] = (uint8_t)(v < alphabet - 1 ? v : alphabet - 1);
        c.count[c.byte[i]]++;
    }
    RansWriter w;
    check(rans_build(&c.rans, alphabet, c.count));
    rans_writer(&w, &c.rans);
    c.size = rans_put(&w, lanes, c.byte, n, c.room);
    c.stream = c.room + rans_most(n, lanes) - c.size;
    return c;
}

static void drop_case(Case *c)
{
    free(c->byte);
    free(c->room);
}

/* From a block of its own, so that a sanitizer sees its end. */
static bool reads(const Case *c, const uint8_t *data, size_t size, uint8_t *back)
{
    static RansReader reader;
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, data, size);
    rans_reader(&reader, &c->rans);
    const bool good = rans_get(&reader, c->lanes, (Bytes){copy, size}, c->n, back);
    free(copy);
    return good;
}

static void streams_equal_a_slow_writers_and_come_back(void **state)
{
    (void)state;
    static const size_t ns[] = {0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 100, 1000, 5003};
    static const uint32_t alphabets[] = {1, 2, 3, 16, 31, 256};
    static uint8_t slow[3 * 5003 + 64], back[5003];
    for (size_t a = 0; a < countof(alphabets); a++)
        for (size_t i = 0; i < countof(ns); i++)
            for (size_t l = 0; l < countof(lane_counts); l++)
                for (int kind = 0; kind < 3; kind++) {
                    Case c = make_case(ns[i], alphabets[a], kind == 2 ? 3 : kind * 0.2, lane_counts[l]);
                    check(reads(&c, c.stream, c.size, back));
                    assert_memory_equal(back, c.byte, c.n);
                    if (c.rans.present > 1) {
                        assert_int_equal(slow_put(&c.rans, c.lanes, c.byte, c.n, slow), c.size);
                        assert_memory_equal(slow, c.stream, c.size);
                    } else {
                        assert_int_equal(c.size, 0);
                    }
                    drop_case(&c);
                }
}

static void sizes_are_the_entropy_and_what_the_cost_function_says(void **state)
{
    (void)state;
    for (int kind = 0; kind < 8; kind++)
        for (size_t l = 0; l < countof(lane_counts); l++) {
            const double slopes[] = {0, 0.1, 0.3, 0.7, 1, 2, 4, 6};
            Case c = make_case(65536, 31, slopes[kind], lane_counts[l]);
            double entropy = 0;
            for (uint32_t s = 0; s < 31; s++)
                if (c.count[s])
                    entropy -= (double)c.count[s] * log2((double)c.count[s] / 65536);
            const double bits = 8 * (double)c.size, said = (double)rans_bits(&c.rans, c.count, c.lanes);
            /* a symbol rarer than one in 4096 still takes that share of the others */
            check(bits >= entropy && bits <= entropy * 1.002 + 32 * c.lanes + 16.0 * c.rans.present);
            check_near(bits, said, 9 * c.lanes + 0.001 * said);
            drop_case(&c);
        }
}

static void ranks_stand_for_symbols_of_large_alphabets(void **state)
{
    (void)state;
    uint64_t *count = calloc(RANS_ALPHABET, sizeof *count);
    Rans r;
    for (uint32_t k = 0; k < RANS_BYTES; k++)
        count[257 * k] = k + 1;
    check(rans_build(&r, RANS_ALPHABET, count) && rans_ranks(&r));
    for (uint32_t k = 0; k < RANS_BYTES; k++)
        check(r.symbol[k] == 257 * k && rans_byte(&r, k) == k);
    count[5] = 1;
    check(!rans_build(&r, RANS_ALPHABET, count)); /* one more than a byte can name */
    free(count);
}

static void every_instruction_set_writes_and_reads_the_same(void **state)
{
    (void)state;
    static uint8_t room[ISA_COUNT][3 << 12], back[1 << 12];
    for (int kind = 0; kind < 4; kind++)
        for (size_t rows = 0; rows < 200; rows += 1 + rows / 4) {
            Case c = make_case(16 * rows + 16, kind < 2 ? 31 : 256, kind % 2 ? 0.5 : 0, RANS_LANES);
            RansWriter w;
            static RansReader reader;
            rans_writer(&w, &c.rans);
            rans_reader(&reader, &c.rans);
            size_t size[ISA_COUNT] = {0};
            uint32_t states[ISA_COUNT][16], first[16];
            for (int isa = 0; isa < ISA_COUNT && kernels_of((Isa)isa); isa++) {
                const Kernels *k = kernels_of((Isa)isa);
                uint8_t *end = room[isa] + sizeof room[isa];
                for (int l = 0; l < 16; l++)
                    states[isa][l] = 1u << 16;
                const uint8_t *at = k->rans_put(w.slice, c.rans.precision, c.byte, rows, states[isa], end);
                size[isa] = (size_t)(end - at);
                assert_int_equal(size[isa], size[0]);
                assert_memory_equal(states[isa], k == kernels_of(ISA_BASE) ? states[isa] : first,
                                    sizeof first);
                memcpy(first, states[isa], sizeof first);
                assert_memory_equal(at, room[0] + sizeof room[0] - size[0], size[0]);
                const size_t got =
                    k->rans_get(reader.slot, c.rans.precision, back, rows, states[isa], &at, end);
                check(got <= rows && end - at < 32); /* the last rows may be left to others */
                assert_memory_equal(back, c.byte, 16 * got);
            }
            drop_case(&c);
        }
}

static void the_example_of_the_format_page_is_so(void **state)
{
    (void)state;
    static const uint8_t byte[] = {0, 1, 0, 3, 0, 1, 0};
    static const uint8_t table[] = {0x42, 0x4c, 0x69, 0x40}, stream[] = {0x45, 0x3d, 0x32, 0x03};
    static const uint64_t count[4] = {4, 2, 0, 1};
    uint8_t out[32] = {0}, room[32];
    Rans r;
    RansWriter writer;
    check(rans_build(&r, 4, count));
    rans_writer(&writer, &r);
    BitWriter w = bits_writer(out, sizeof out);
    rans_table_put(&r, &w);
    bits_close(&w);
    check((size_t)(w.at - out) == sizeof table && !memcmp(out, table, sizeof table));
    const size_t size = rans_put(&writer, 1, byte, countof(byte), room);
    check(size == sizeof stream && !memcmp(room + rans_most(countof(byte), 1) - size, stream, size));
}

/* ---- what no encoder writes ---- */

static void a_wrong_last_state_is_refused_as_no_stream_has_two_meanings(void **state)
{
    (void)state;
    static uint8_t back[1001], again[3000];
    for (size_t l = 0; l < countof(lane_counts); l++) {
        size_t refused = 0;
        Case c = make_case(1000, 16, 0.3, lane_counts[l]);
        uint8_t *copy = malloc(c.size + 2);
        for (size_t bit = 0; bit < 8 * c.size; bit++) {
            memcpy(copy, c.stream, c.size);
            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (!reads(&c, copy, c.size, back)) {
                refused++;
                continue;
            }
            assert_int_equal(slow_put(&c.rans, c.lanes, back, c.n, again), c.size); /* what other bytes are */
            assert_memory_equal(again, copy, c.size);
        }
        check(refused > 7 * c.size);
        memcpy(copy, c.stream, c.size);
        for (size_t size = 0; size < c.size; size++)
            check(!reads(&c, copy, size, back));
        copy[c.size] = copy[c.size + 1] = 0;
        check(!reads(&c, copy, c.size + 1, back) && !reads(&c, copy, c.size + 2, back));
        check(reads(&c, copy, c.size, back));
        store_u32(copy, 65535); /* a state below all that are */
        check(!reads(&c, copy, c.size, back));
        c.n++; /* one symbol more than was written */
        check(!reads(&c, c.stream, c.size, back));
        c.n--;
        free(copy);
        drop_case(&c);
    }
}

typedef struct {
    int precision;
    size_t present;
    uint64_t skipped[4];
    uint32_t frequency[4];
    bool good;
} Table;

static void tables_whose_frequencies_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const Table tables[] = {
        {4, 2, {1, 1}, {15}, true},
        {4, 2, {1, 1}, {16}, false}, /* nothing is left for the last */
        {4, 2, {1, 1}, {17}, false},
        {4, 3, {1, 1, 1}, {8, 7}, true},
        {4, 3, {1, 1, 1}, {8, 8}, false},
        {12, 2, {1, 1}, {4095}, true},
        {12, 2, {1, 1}, {4096}, false},
        {3, 2, {1, 1}, {5}, false}, /* precisions that are not */
        {13, 2, {1, 1}, {5}, false},
        {4, 2, {1, 6}, {5}, true},
        {4, 2, {1, 7}, {5}, false}, /* a symbol beyond the alphabet */
        {4, 2, {8, 1}, {5}, false},
        {12, 1, {7}, {0}, true},
        {11, 1, {7}, {0}, false}, /* an only symbol has one precision */
        {12, 1, {8}, {0}, false},
        {12, 0, {0}, {0}, true},
        {4, 17, {1, 1, 1, 1}, {1, 1, 1, 1}, false}, /* more symbols than the sum has room for */
        {12, 257, {1, 1, 1, 1}, {1, 1, 1, 1}, false},
    };
    for (size_t t = 0; t < countof(tables); t++) {
        uint8_t data[64] = {0};
        BitWriter w = bits_writer(data, sizeof data);
        unsigned before = 6;
        bits_put(&w, (uint64_t)tables[t].precision, 4);
        gamma_put(&w, tables[t].present + 1);
        for (size_t k = 0; k < tables[t].present && k < 4; k++) {
            gamma_put(&w, tables[t].skipped[k]);
            if (k + 1 == tables[t].present)
                break;
            const unsigned below = log2_floor(tables[t].frequency[k]);
            gamma_put(&w, below >= before ? 1 + 2 * (below - before) : 2 * (before - below));
            bits_put(&w, tables[t].frequency[k] & ((1u << below) - 1), below);
            before = below;
        }
        bits_close(&w);
        BitReader in = bits_reader((Bytes){data, (size_t)(w.at - data)});
        Rans r;
        check(rans_table_get(&r, 7, &in) == tables[t].good);
    }
}

static void alphabets_of_one_symbol_or_none_take_no_bytes(void **state)
{
    (void)state;
    uint64_t count[9] = {0};
    uint8_t back[100];
    Rans r;
    static RansReader reader;
    check(rans_build(&r, 9, count));
    rans_reader(&reader, &r);
    check(rans_get(&reader, 1, (Bytes){back, 0}, 0, back) &&
          !rans_get(&reader, 1, (Bytes){back, 0}, 1, back));
    count[7] = 100;
    check(rans_build(&r, 9, count));
    rans_reader(&reader, &r);
    assert_int_equal(rans_bits(&r, count, 16), 0);
    assert_int_equal(rans_table_bits(&r), 4 + gamma_bits(2) + gamma_bits(8));
    check(rans_get(&reader, 16, (Bytes){back, 0}, 100, back));
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(back[i], 7);
    check(!rans_get(&reader, 16, (Bytes){back, 1}, 100, back));
}

static void no_bytes_make_reading_run_away(void **state)
{
    (void)state;
    static RansReader reader;
    uint8_t data[96], back[200];
    for (uint64_t trial = 0; trial < 20000; trial++) {
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)rng_u64(&rng, USE_TEST, trial * 128 + i);
        data[0] = (uint8_t)(trial % 16 << 4 | (data[0] & 7));
        Rans r;
        BitReader in = bits_reader((Bytes){data, trial % 97});
        if (!rans_table_get(&r, 1 + (uint32_t)(trial % 300), &in))
            continue;
        rans_reader(&reader, &r);
        const size_t at = (size_t)(in.at / 8);
        if (rans_get(&reader, lane_counts[trial % 3], (Bytes){data + at, trial % 97 - at}, 200, back))
            check(r.present == 1);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(frequencies_are_the_best_to_a_thousandth),
    cmocka_unit_test(no_other_precision_makes_a_short_stream_shorter),
    cmocka_unit_test(tables_come_back_at_their_stated_cost),
    cmocka_unit_test(streams_equal_a_slow_writers_and_come_back),
    cmocka_unit_test(sizes_are_the_entropy_and_what_the_cost_function_says),
    cmocka_unit_test(ranks_stand_for_symbols_of_large_alphabets),
    cmocka_unit_test(the_example_of_the_format_page_is_so),
    cmocka_unit_test(every_instruction_set_writes_and_reads_the_same),
    cmocka_unit_test(a_wrong_last_state_is_refused_as_no_stream_has_two_meanings),
    cmocka_unit_test(tables_whose_frequencies_do_not_fit_are_refused),
    cmocka_unit_test(alphabets_of_one_symbol_or_none_take_no_bytes),
    cmocka_unit_test(no_bytes_make_reading_run_away),
};

int main(void)
{
    return cmocka_run_group_tests(tests, open_all, NULL) ? 1 : 0;
}
