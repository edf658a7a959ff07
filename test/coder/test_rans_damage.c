/* test_rans_damage.c -- rANS tables and streams that no encoder writes must be refused. In a table of precision
 * p, symbols share 2^p slots in proportion to their weights. */
#include "rig/rans_case.h"

#include "coder/elias.h"

static Rng rng;

static int open_all(void **state)
{
    (void)state;
    rng = rng_open(5, 0, 0, 0, rng_hash("rans"));
    return 0;
}

static void a_wrong_last_state_is_refused_as_no_stream_has_two_meanings(void **state)
{
    (void)state;
    static uint8_t back[1001], again[3000];
    for (size_t l = 0; l < countof(lane_counts); l++) {
        size_t refused = 0;
        Case c = make_case(&rng, 1000, 16, 0.3, lane_counts[l]);
        uint8_t *copy = malloc(c.size + 2);
        for (size_t bit = 0; bit < 8 * c.size; bit++) {
            memcpy(copy, c.stream, c.size);
            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (!reads(&c, copy, c.size, back)) {
                refused++;
                continue;
            }
            assert_int_equal(slow_put(&c.rans, c.lanes, back, c.n, again), c.size); /* same bytes again */
            assert_memory_equal(again, copy, c.size);
        }
        check(refused > 7 * c.size);
        memcpy(copy, c.stream, c.size);
        for (size_t size = 0; size < c.size; size++)
            check(!reads(&c, copy, size, back));
        copy[c.size] = copy[c.size + 1] = 0;
        check(!reads(&c, copy, c.size + 1, back) && !reads(&c, copy, c.size + 2, back));
        check(reads(&c, copy, c.size, back));
        store_u32(copy, 65535); /* an initial state must be at least 2^16 */
        check(!reads(&c, copy, c.size, back));
        c.n++; /* one symbol more than the stream has */
        check(!reads(&c, c.stream, c.size, back));
        c.n--;
        free(copy);
        drop_case(&c);
    }
}

typedef struct {
    int precision;
    /* `runs`: number of runs of consecutive symbols that occur; `present`: number of weights after the runs */
    size_t runs, present;
    /* two numbers per run: the number of absent symbols before the run (plus 1 in the first run), and the
     * length of the run */
    uint64_t run[6];
    bool good;
} Table;

static void tables_whose_runs_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const Table tables[] = {
        {8, 1, 7, {1, 7}, true},
        {8, 1, 6, {2, 6}, true},
        {8, 1, 7, {2, 7}, false}, /* beyond the alphabet */
        {8, 2, 5, {1, 4, 2, 1}, true},
        {8, 2, 5, {1, 4, 3, 1}, false},
        {8, 2, 5, {1, 4, 2, 2}, false},
        {8, 2, 5, {1, 4, 4, 1}, false},
        {8, 2, 5, {1, 4, 11, 1}, false},
        {8, 2, 5, {1, 4, UINT64_C(1) << 40, 1}, false},
        {8, 1, 2, {1, 2}, true},
        /* a table of one symbol must have precision 12 and 0 bits below the highest bit of a weight */
        {8, 1, 1, {1, 1}, false},
        {8, 1, 7, {1, UINT64_C(1) << 40}, false},
        {8, 1, 7, {UINT64_C(1) << 40, 7}, false},
        {3, 1, 7, {1, 7}, false}, /* precision 3 is too low */
        {0, 1, 7, {1, 7}, false},
        {15, 1, 7, {1, 7}, true},
    };
    for (size_t t = 0; t < countof(tables); t++) {
        const Table *c = &tables[t];
        uint8_t data[64] = {0};
        BitWriter w = bits_writer(data, sizeof data);
        bits_put(&w, (uint64_t)c->precision, 4);
        bits_put(&w, 2, 4);
        gamma_put(&w, 1 + c->runs);
        for (size_t k = 0; k < 2 * c->runs; k++)
            gamma_put(&w, c->run[k]);
        for (size_t k = 0; k < c->present; k++) { /* writes the weights 96, 64, 64, ... */
            gamma_put(&w, 1);
            bits_put(&w, k ? 0 : 2, 2);
        }
        bits_close(&w);
        for (size_t cut = 0; cut < 2; cut++) {
            BitReader in = bits_reader((Bytes){data, (size_t)(w.at - data) - cut});
            Rans r;
            const bool good = rans_table_get(&r, 7, &in);
            check(good == (c->good && !cut));
            if (!good)
                continue;
            uint32_t sum = 0;
            for (uint32_t k = 0; k < r.present; k++)
                sum += r.frequency[k];
            check(r.present == c->present && r.detail == 2 && sum == 1u << c->precision);
            check(r.weight[0] == 96 && r.weight[1] == 64 && r.frequency[0] > r.frequency[1]);
        }
    }
}

/* With precision 4, a table of more than 16 symbols is refused, as is a weight of more than RANS_PRECISION_MOST
 * bits. */
static void tables_beyond_their_precision_are_refused(void **state)
{
    (void)state;
    for (uint64_t listed = 15; listed < 19; listed++)
        for (uint64_t first = 18; first < 24; first++) {
            uint8_t data[64] = {0};
            BitWriter w = bits_writer(data, sizeof data);
            bits_put(&w, 4, 4);
            bits_put(&w, 0, 4);
            gamma_put(&w, 2);
            gamma_put(&w, 1);
            gamma_put(&w, listed);
            gamma_put(&w, 1 + 2 * (first - 6 - 6));
            for (uint64_t k = 1; k < listed; k++)
                gamma_put(&w, 1);
            bits_close(&w);
            BitReader in = bits_reader((Bytes){data, (size_t)(w.at - data)});
            Rans r;
            check(rans_table_get(&r, 100, &in) == (listed <= 16 && first - 6 <= RANS_PRECISION_MOST));
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
    assert_int_equal(rans_table_bits(&r), 8 + gamma_bits(2) + gamma_bits(8) + gamma_bits(1));
    check(rans_get(&reader, 16, (Bytes){back, 0}, 100, back));
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(back[i], 7);
    check(!rans_get(&reader, 16, (Bytes){back, 1}, 100, back));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_wrong_last_state_is_refused_as_no_stream_has_two_meanings),
    cmocka_unit_test(tables_whose_runs_do_not_fit_are_refused),
    cmocka_unit_test(tables_beyond_their_precision_are_refused),
    cmocka_unit_test(alphabets_of_one_symbol_or_none_take_no_bytes),
};

int main(void)
{
    return cmocka_run_group_tests(tests, open_all, NULL) ? 1 : 0;
}
