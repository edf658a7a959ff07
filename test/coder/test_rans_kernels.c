/* test_rans_kernels.c -- the rANS kernels, which code a row of 16 symbols at a time, one in each of 16 lanes
 * (coder states), against coding one symbol at a time. The tests use states near the limits of renormalisation
 * and buffers that end at protected pages. */
#include "rig/wall.h"

#include "base/bytes.h"
#include "math/vec/kernels.h"
#include "coder/rans.h"
#include "base/rng.h"

enum {
    LANES = RANS_LANES,
    ROWS = 7,
    N = LANES * ROWS,
    LEAST = 1 << 16,
    ROW_BYTES = 2 * LANES,
    PUT_ROOM = 16
};

#define EACH_ISA(k)                                                                                          \
    for (int isa = 0; isa < ISA_COUNT; isa++)                                                                \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

static Rng rng;
static Walled slices, slots, bytes, words;

static int open_all(void **state)
{
    rng = rng_open(5, 0, 0, 0, rng_hash("rans kernels"));
    slices = walled(RANS_BYTES * sizeof(uint32_t));
    slots = walled(RANS_FINE_SLOTS + 3);
    bytes = walled(N);
    words = walled(PUT_ROOM + 2 * N + ROW_BYTES);
    return 0;
}

static int close_all(void **state)
{
    drop_walled(slices), drop_walled(slots), drop_walled(bytes), drop_walled(words);
    return 0;
}

static uint32_t draw(uint64_t trial, size_t i)
{
    return rng_u32(&rng, USE_TEST, trial << 12 | i);
}

/* ---- tables ---- */

/* Returns a table with two symbols of the frequencies (1, all - 1), (all - 1, 1) or (all / 2, all / 2), or with
 * several symbols of random frequencies. The sum of the frequencies is `all` = 2^precision. */
static Rans make_table(uint64_t trial, int precision)
{
    const uint32_t all = 1u << precision, law = (uint32_t)(trial % 4);
    const uint32_t most = all < RANS_BYTES ? all : RANS_BYTES;
    Rans r = {.alphabet = RANS_BYTES, .precision = precision, .present = 2};
    if (law == 3)
        r.present = 2 + draw(trial, 4000) % (most - 1);
    uint32_t left = all - r.present;
    for (uint32_t k = 0; k < r.present; k++) {
        const uint32_t more[] = {0, left, all / 2 - 1, draw(trial, k) % (left + 1) % (4 * all / r.present)};
        const uint32_t these = k + 1 < r.present ? more[law] : left;
        r.symbol[k] = (uint16_t)(k + (k + 1 == r.present ? RANS_BYTES - r.present : 0));
        r.frequency[k] = (uint16_t)(1 + these);
        left -= these;
    }
    return r;
}

static uint32_t start_of(const Rans *r, uint32_t k)
{
    uint32_t start = 0;
    while (k-- > 0)
        start += r->frequency[k];
    return start;
}

/* ---- reference: coding one symbol after the other ---- */

static uint8_t *put_one_by_one(const Rans *r, const uint32_t *rank, size_t rows, uint32_t state[LANES],
                               uint8_t *at)
{
    for (size_t i = LANES * rows; i-- > 0;) {
        const uint64_t f = r->frequency[rank[i]], start = start_of(r, rank[i]);
        uint64_t x = state[i % LANES];
        if ((x / f << r->precision) + start + x % f > UINT32_MAX) {
            store_u16(at -= 2, (uint16_t)x);
            x >>= 16;
        }
        state[i % LANES] = (uint32_t)((x / f << r->precision) + start + x % f);
    }
    return at;
}

static size_t get_one_by_one(const Rans *r, uint8_t *byte, size_t rows, uint32_t state[LANES],
                             const uint8_t **at, const uint8_t *end)
{
    size_t row = 0;
    for (; row < rows && end - *at >= ROW_BYTES; row++)
        for (size_t lane = 0; lane < LANES; lane++) {
            uint32_t k = 0, slot = state[lane] % (1u << r->precision);
            for (; slot >= r->frequency[k]; k++)
                slot -= r->frequency[k];
            uint32_t x = r->frequency[k] * (state[lane] >> r->precision) + slot;
            if (x < LEAST) {
                x = x * LEAST + load_u16(*at);
                *at += 2;
            }
            byte[LANES * row + lane] = (uint8_t)rans_byte(r, k);
            state[lane] = x;
        }
    return row;
}

/* ---- writing ---- */

static uint32_t within(uint64_t x)
{
    return x < LEAST ? LEAST : x > UINT32_MAX ? UINT32_MAX : (uint32_t)x;
}

/* Returns one of several encoder states, selected by `word`: the least state from which encoding symbol k
 * writes a word, the two neighbours of this state, the least or greatest valid state, or `word` itself. */
static uint32_t state_near_full(const Rans *r, uint32_t k, uint32_t word)
{
    const uint64_t full = (uint64_t)r->frequency[k] << (32 - r->precision);
    const uint64_t choice[] = {full, full - 1, full + 1, LEAST, UINT32_MAX, word};
    return within(choice[word % countof(choice)]);
}

static void check_put(const Kernels *k, const Rans *r, const uint32_t *rank, size_t rows,
                      const uint32_t *first)
{
    uint8_t want[2 * N], byte[N];
    uint32_t ref[LANES], state[LANES];
    RansWriter w;
    rans_writer(&w, r);
    memcpy(ref, first, sizeof ref);
    memcpy(state, first, sizeof state);
    for (size_t i = 0; i < LANES * rows; i++)
        byte[i] = (uint8_t)rans_byte(r, rank[i]);
    const uint8_t *from = put_one_by_one(r, rank, rows, ref, want + sizeof want);
    const size_t size = (size_t)(want + sizeof want - from);
    /* the words end up PUT_ROOM bytes after a protected page */
    uint8_t *front = words.start + PUT_ROOM, *end = front + size;
    memset(words.start, 0xa5, PUT_ROOM + 2 * N + ROW_BYTES);
    const uint8_t *at = k->rans_put(at_the_end(slices, w.slice, sizeof w.slice), r->precision,
                                    at_the_end(bytes, byte, LANES * rows), rows, state, end);
    check(at == front);
    assert_memory_equal(front, from, size);
    assert_memory_equal(state, ref, sizeof ref);
    for (size_t i = 0; i < ROW_BYTES; i++)
        assert_int_equal(end[i], 0xa5);
}

TEST(states_that_are_just_full_give_a_word_and_those_below_do_not)
{
    for (uint64_t trial = 0; trial < 6000; trial++) {
        const Rans r = make_table(trial, RANS_PRECISION + (int)(trial / 4 % 4));
        const size_t rows = trial % 3 ? 1 : trial / 3 % (ROWS + 1);
        uint32_t rank[N], first[LANES];
        for (size_t i = 0; i < LANES * rows; i++)
            rank[i] = draw(trial, i) % r.present;
        /* rANS encodes the last row first, so the first states are near the limits of its symbols */
        for (size_t lane = 0; lane < LANES; lane++)
            first[lane] =
                state_near_full(&r, rows ? rank[LANES * (rows - 1) + lane] : 0, draw(trial, N + lane));
        EACH_ISA(k)
        check_put(k, &r, rank, rows, first);
    }
}

/* ---- reading ---- */

/* Returns one of several decoder states, selected by `word`: a state that decoding symbol k turns into 2^16 -
 * 1, 2^16 or 2^16 + 1, or `word` itself. */
static uint32_t state_near_empty(const Rans *r, uint32_t k, uint32_t word)
{
    const uint32_t choice[] = {LEAST - 1, LEAST, LEAST + 1, 0}, left = choice[word % countof(choice)];
    const uint32_t f = r->frequency[k];
    return left ? within((uint64_t)(left / f) << r->precision | (start_of(r, k) + left % f)) : within(word);
}

/* Reads a run alone, and beside a copy of itself, which must read the same. */
static size_t get_rows(const Kernels *k, const Rans *r, const RansReader *reader, uint8_t *byte, size_t rows,
                       uint32_t state[LANES], const uint8_t **at, const uint8_t *end)
{
    const int p = r->precision;
    const bool fine = p > RANS_PRECISION;
    uint32_t copy[RANS_RUNS][LANES];
    uint8_t copied[RANS_RUNS][N];
    RansRun run = {.slot = fine ? at_the_end(slots, reader->fine, (1u << p) + 3)
                                : at_the_end(slots, reader->slot, sizeof(uint32_t) << p),
                   .slice = fine ? (const uint32_t *)at_the_end(slices, reader->slice, sizeof reader->slice) : NULL,
                   .precision = p,
                   .byte = byte,
                   .state = state,
                   .at = *at,
                   .end = end};
    RansRun pair[RANS_RUNS] = {run, run};
    for (int j = 0; j < RANS_RUNS; j++) {
        memcpy(copy[j], state, sizeof copy[j]);
        pair[j].state = copy[j];
        pair[j].byte = copied[j];
    }
    const size_t got = (fine ? k->rans_get_fine : k->rans_get)(&run, 1, rows);
    assert_int_equal((fine ? k->rans_get_fine : k->rans_get)(pair, RANS_RUNS, rows), got);
    for (int j = 0; j < RANS_RUNS; j++) {
        check(pair[j].at == run.at);
        assert_memory_equal(copy[j], state, sizeof copy[j]);
        assert_memory_equal(copied[j], byte, LANES * got);
    }
    *at = run.at;
    return got;
}

static void check_get(const Kernels *k, const Rans *r, const RansReader *reader, size_t rows, size_t size,
                      const uint32_t *first)
{
    uint8_t want[N];
    const uint8_t *end = words.end, *at = end - size, *ref_at = at;
    uint32_t ref[LANES], state[LANES];
    memcpy(ref, first, sizeof ref);
    memcpy(state, first, sizeof state);
    const size_t got = get_one_by_one(r, want, rows, ref, &ref_at, end);
    uint8_t *byte = bytes.end - LANES * rows;
    memset(bytes.start, 0xa5, (size_t)(bytes.end - bytes.start));
    assert_int_equal(get_rows(k, r, reader, byte, rows, state, &at, end), got);
    check(at == ref_at);
    assert_memory_equal(byte, want, LANES * got);
    assert_memory_equal(state, ref, sizeof ref);
    for (const uint8_t *p = bytes.start; p < bytes.end; p++)
        check(*p == 0xa5 || (p >= byte && p < byte + LANES * got));
}

TEST(rows_are_read_while_there_are_words_for_all_lanes)
{
    static RansReader reader;
    for (uint64_t trial = 0; trial < 6000; trial++) {
        const Rans r = make_table(trial, RANS_PRECISION_LEAST + (int)(trial / 4 % 12));
        const size_t rows = trial % 3 ? 1 : trial / 3 % (ROWS + 1), size = draw(trial, 3000) % 100;
        uint32_t first[LANES];
        for (size_t lane = 0; lane < LANES; lane++)
            first[lane] = state_near_empty(&r, draw(trial, lane) % r.present, draw(trial, LANES + lane));
        for (size_t i = 0; i < size; i++)
            words.end[-1 - (ptrdiff_t)i] = (uint8_t)draw(trial, 100 + i);
        rans_reader(&reader, &r);
        EACH_ISA(k)
        check_get(k, &r, &reader, rows, size, first);
    }
}

CHECK_ALL(open_all, close_all)
