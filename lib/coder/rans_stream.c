/* rans_stream.c -- writes and reads rANS streams. With sixteen lanes (coder states), the SIMD kernels of
 * math/vec/rans_vec.c handle 16 symbols at a time. */
#include "math/vec/kernels.h"
#include "coder/rans.h"

#include <stddef.h>

/* ---- filling the look-up tables of writers and readers ---- */

static void fill_slices(const Rans *r, uint32_t *slice)
{
    uint32_t start = 0;
    memset(slice, 0, RANS_BYTES * sizeof *slice);
    for (uint32_t k = 0; k < r->present; k++) {
        slice[rans_byte(r, k)] = (uint32_t)r->frequency[k] << 16 | start;
        start += r->frequency[k];
    }
}

static bool is_fine(const Rans *r)
{
    return r->precision > RANS_PRECISION;
}

void rans_writer(RansWriter *w, const Rans *r)
{
    w->rans = r;
    fill_slices(r, w->slice);
    for (uint32_t k = 0; k < r->present && r->present > 1; k++) {
        const uint32_t byte = rans_byte(r, k), f = w->slice[byte] >> 16, start = w->slice[byte] & 0xffff;
        const uint32_t complement = (1u << r->precision) - f;
        w->step[byte] = (RansStep){.inverse = f > 1 ? UINT64_MAX / f + 1 : UINT64_MAX,
                                   .limit = f << (32 - r->precision),
                                   .start = (uint16_t)(f > 1 ? start : start + complement),
                                   .complement = (uint16_t)complement};
    }
}

void rans_reader(RansReader *reader, const Rans *r)
{
    reader->rans = r;
    uint32_t slot = 0;
    if (is_fine(r))
        fill_slices(r, reader->slice);
    for (uint32_t k = 0; k < r->present && r->present > 1; k++)
        for (uint32_t i = 0; i < r->frequency[k]; i++, slot++) {
            if (is_fine(r))
                reader->fine[slot] = (uint8_t)rans_byte(r, k);
            else
                reader->slot[slot] = rans_byte(r, k) << 24 | (uint32_t)r->frequency[k] << 12 | i;
        }
}

size_t rans_reader_size(const Rans *r)
{
    const RansReader *all = NULL;
    return offsetof(RansReader, slot) + (is_fine(r) ? sizeof all->fine : sizeof all->slot);
}

/* ---- streams ---- */

static const uint32_t FIRST_STATE = 1u << 16;

/* With q = x / f, the new state is q 2^precision + (x - q f) + start. */
static inline uint32_t next_state(const RansStep *s, uint32_t x)
{
    const uint32_t q = (uint32_t)((unsigned __int128)x * s->inverse >> 64);
    return x + s->start + q * s->complement;
}

/* Encodes a symbol into a lane's state. If the state would become too large, its low 16 bits go in front of `at` first.
 * Returns the address of the first byte written so far. */
static inline uint8_t *push(const RansStep *s, uint32_t *state, uint8_t *at)
{
    uint32_t x = *state;
    const uint32_t full = 0 - (uint32_t)(x >= s->limit); /* all bits or none: no branch */
    store_u16(at - 2, (uint16_t)x); /* overwritten by the next word unless the state is full */
    at -= full & 2;
    x >>= full & 16;
    *state = next_state(s, x);
    return at;
}

/* The steps of a state wait for each other, so four states take turns, each in a register. */
enum { TURNS = 4 };

/* Writes rows of four symbols, one for each lane, in front of `at`. */
static uint8_t *put_four(const RansStep *step, const uint8_t *byte, size_t rows, uint32_t state[TURNS], uint8_t *at)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (size_t i = TURNS * rows; i > 0; i -= TURNS) {
        at = push(&step[byte[i - 1]], &d, at);
        at = push(&step[byte[i - 2]], &c, at);
        at = push(&step[byte[i - 3]], &b, at);
        at = push(&step[byte[i - 4]], &a, at);
    }
    memcpy(state, (uint32_t[]){a, b, c, d}, TURNS * sizeof *state);
    return at;
}

size_t rans_put(const RansWriter *w, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *end)
{
    uint32_t state[RANS_LANES];
    uint8_t *at = end;
    const unsigned mask = lanes - 1;
    size_t rows = n / lanes;
    if (w->rans->present < 2)
        return 0;
    if (lanes == 1 || (lanes == RANS_LANES && w->rans->precision < RANS_PRECISION))
        rows = 0;
    for (unsigned lane = 0; lane < lanes; lane++)
        state[lane] = FIRST_STATE;
    for (size_t i = n; i > rows * lanes; i--)
        at = push(&w->step[byte[i - 1]], &state[(i - 1) & mask], at);
    if (rows)
        at = lanes == TURNS ? put_four(w->step, byte, rows, state, at)
                            : kernels()->rans_put(w->slice, w->rans->precision, byte, rows, state, at);
    at -= 4 * lanes;
    for (unsigned lane = 0; lane < lanes; lane++)
        store_u32(at + 4 * lane, state[lane]);
    return (size_t)(end - at);
}

typedef struct {
    const RansStep *step;
    const uint8_t *byte;
    uint32_t state;
    uint8_t *at;
} OneLane;

/* As push, with a branch: streams of one lane are of symbols that take less than a bit, so that words are rare. */
static inline void push_lane(OneLane *l, size_t i)
{
    const RansStep *s = &l->step[l->byte[i]];
    uint32_t x = l->state;
    if (__builtin_expect(x >= s->limit, 0)) {
        l->at -= 2;
        store_u16(l->at, (uint16_t)x);
        x >>= 16;
    }
    l->state = next_state(s, x);
}

void rans_put_several(const RansWriter *const w[RANS_SEVERAL], const uint8_t *const byte[RANS_SEVERAL],
                      size_t n, uint8_t *const end[RANS_SEVERAL], size_t size[RANS_SEVERAL])
{
    OneLane a = {w[0]->step, byte[0], FIRST_STATE, end[0]}, b = {w[1]->step, byte[1], FIRST_STATE, end[1]},
            c = {w[2]->step, byte[2], FIRST_STATE, end[2]}, d = {w[3]->step, byte[3], FIRST_STATE, end[3]};
    bool all = true;
    for (int k = 0; k < RANS_SEVERAL; k++)
        all &= w[k]->rans->present > 1;
    for (size_t i = n; i-- > 0 && all;) {
        push_lane(&a, i);
        push_lane(&b, i);
        push_lane(&c, i);
        push_lane(&d, i);
    }
    const OneLane lane[RANS_SEVERAL] = {a, b, c, d};
    for (int k = 0; k < RANS_SEVERAL; k++) {
        if (!all) {
            size[k] = rans_put(w[k], 1, byte[k], n, end[k]);
            continue;
        }
        store_u32(lane[k].at - 4, lane[k].state);
        size[k] = (size_t)(end[k] - lane[k].at) + 4;
    }
}

bool rans_open(const RansReader *r, RansLanes *l, unsigned lanes, Reader *in)
{
    bool good = true;
    *l = (RansLanes){.lanes = lanes};
    for (unsigned lane = 0; lane < lanes && r->rans->present > 1; lane++) {
        l->state[lane] = take_u32(in);
        good &= l->state[lane] >= FIRST_STATE;
    }
    return good && !in->bad;
}

/* Sets a lane's state to x, after reading a word if x is too small for a state. Returns false if no word is left. */
static inline bool refill(uint32_t x, uint32_t *state, Reader *in)
{
    if (x < FIRST_STATE) {
        if (in->end - in->at < 2)
            return false;
        x = x << 16 | load_u16(in->at);
        in->at += 2;
    }
    *state = x;
    return true;
}

/* Reads a symbol of a lane by a coarse table, and a word at *at if the lane needs it. */
static inline uint8_t pull_coarse(const uint32_t *slot, int precision, uint32_t *state, const uint8_t **at)
{
    const uint32_t entry = slot[*state & ((1u << precision) - 1)],
                   x = (entry >> 12 & 0xfff) * (*state >> precision) + (entry & 0xfff),
                   empty = 0 - (uint32_t)(x < FIRST_STATE); /* all bits or none: no branch */
    *state = x << (empty & 16) | (load_u16(*at) & empty);
    *at += empty & 2;
    return (uint8_t)(entry >> 24);
}

/* Reads the next symbol of a lane (coder state). Returns false if the lane needs another word but none is
 * left. */
static bool pull(const RansReader *r, uint32_t *state, Reader *in, uint8_t *byte)
{
    const int precision = r->rans->precision;
    const uint32_t slot = *state & ((1u << precision) - 1);
    if (!is_fine(r->rans)) {
        const uint32_t entry = r->slot[slot];
        *byte = (uint8_t)(entry >> 24);
        return refill((entry >> 12 & 0xfff) * (*state >> precision) + (entry & 0xfff), state, in);
    }
    *byte = r->fine[slot];
    const uint32_t slice = r->slice[*byte];
    return refill((slice >> 16) * (*state >> precision) + slot - (slice & 0xffff), state, in);
}

/* Reads rows of sixteen symbols, one from each lane, of `runs` streams (1 or RANS_RUNS) whose tables have one
 * precision. A row takes at most 16 words, so reading stops when fewer than 16 words are left in one of them. Returns
 * the number of symbols read of each. */
static size_t pull_rows(const RansReader *const r[], RansLanes *const l[], Reader *const in[], int runs, size_t n,
                        uint8_t *const byte[])
{
    RansRun run[RANS_RUNS];
    const bool fine = is_fine(r[0]->rans);
    for (int k = 0; k < runs; k++)
        run[k] = (RansRun){.slot = fine ? (const void *)r[k]->fine : r[k]->slot,
                           .slice = r[k]->slice,
                           .precision = r[k]->rans->precision,
                           .byte = byte[k],
                           .state = l[k]->state,
                           .at = in[k]->at,
                           .end = in[k]->end};
    const size_t rows = (fine ? kernels()->rans_get_fine : kernels()->rans_get)(run, runs, n / RANS_LANES);
    for (int k = 0; k < runs; k++)
        in[k]->at = run[k].at;
    return rows * RANS_LANES;
}

/* Reads rows of four symbols, one for each lane, by a coarse table, while four words are left. Returns the number of symbols
 * read. */
static size_t pull_four(const RansReader *r, uint32_t state[TURNS], Reader *in, size_t n, uint8_t *byte)
{
    const int p = r->rans->precision;
    const uint8_t *at = in->at;
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    size_t i = 0;
    for (; i + TURNS <= n && in->end - at >= 2 * TURNS; i += TURNS) {
        byte[i] = pull_coarse(r->slot, p, &a, &at);
        byte[i + 1] = pull_coarse(r->slot, p, &b, &at);
        byte[i + 2] = pull_coarse(r->slot, p, &c, &at);
        byte[i + 3] = pull_coarse(r->slot, p, &d, &at);
    }
    memcpy(state, (uint32_t[]){a, b, c, d}, TURNS * sizeof *state);
    in->at = at;
    return i;
}

static bool pull_stream(const RansReader *r, RansLanes *l, Reader *in, size_t n, uint8_t *byte)
{
    if (r->rans->present < 2) {
        if (n && r->rans->present)
            memset(byte, (int)rans_byte(r->rans, 0), n);
        return n == 0 || r->rans->present;
    }
    const unsigned mask = l->lanes - 1;
    size_t i = 0;
    if (l->lanes == RANS_LANES)
        i = pull_rows(&r, &l, &in, 1, n, &byte);
    else if (l->lanes == TURNS && !is_fine(r->rans))
        i = pull_four(r, l->state, in, n, byte);
    for (; i < n; i++)
        if (!pull(r, &l->state[i & mask], in, &byte[i]))
            return false;
    return true;
}

typedef struct {
    const uint32_t *slot;
    uint8_t *byte;
    const uint8_t *at, *end;
    uint32_t state;
    int precision;
} OneReader;

static OneReader one_open(const RansReader *r, const RansLanes *l, const Reader *in, uint8_t *byte)
{
    return (OneReader){r->slot, byte, in->at, in->end, l->state[0], r->rans->precision};
}
static inline bool one_pull(OneReader *o, size_t i)
{
    const uint32_t entry = o->slot[o->state & ((1u << o->precision) - 1)];
    o->byte[i] = (uint8_t)(entry >> 24);
    o->state = (entry >> 12 & 0xfff) * (o->state >> o->precision) + (entry & 0xfff);
    if (__builtin_expect(o->state >= FIRST_STATE, 1))
        return true;
    o->state = o->state << 16 | load_u16(o->at);
    o->at += 2;
    return o->end - o->at >= 2;
}

/* Reads symbols of each of RANS_SEVERAL streams with one lane and coarse tables, while a word is left in all of them. Returns
 * the number of symbols read of each. */
static size_t pull_single_lanes(const RansReader *const r[], RansLanes *const l[], Reader *const in[], size_t n,
                                uint8_t *const byte[])
{
    OneReader a = one_open(r[0], l[0], in[0], byte[0]), b = one_open(r[1], l[1], in[1], byte[1]),
              c = one_open(r[2], l[2], in[2], byte[2]), d = one_open(r[3], l[3], in[3], byte[3]);
    size_t i = 0;
    for (int k = 0; k < RANS_SEVERAL; k++)
        if (reader_left(in[k]) < 2)
            return 0;
    for (bool more = true; i < n && more; i++)
        more = (int)one_pull(&a, i) & one_pull(&b, i) & one_pull(&c, i) & one_pull(&d, i);
    const OneReader one[RANS_SEVERAL] = {a, b, c, d};
    for (int k = 0; k < RANS_SEVERAL; k++) {
        l[k]->state[0] = one[k].state;
        in[k]->at = one[k].at;
    }
    return i;
}

void rans_pull_several(const RansReader *const r[], RansLanes *const l[], Reader *const in[], size_t count, size_t n,
                       uint8_t *const byte[], bool good[])
{
    const unsigned lanes = l[0]->lanes;
    bool coded = true, alike = true;
    size_t done = 0;
    for (size_t k = 0; k < count; k++) {
        coded &= r[k]->rans->present > 1;
        alike &= r[k]->rans->precision == r[0]->rans->precision;
    }
    if (coded && alike && !is_fine(r[0]->rans) && lanes == 1 && count == RANS_SEVERAL)
        done = pull_single_lanes(r, l, in, n, byte);
    else if (coded && alike && lanes == RANS_LANES && count == RANS_RUNS)
        done = pull_rows(r, l, in, RANS_RUNS, n, byte);
    for (size_t k = 0; k < count; k++)
        good[k] = pull_stream(r[k], l[k], in[k], n - done, byte[k] + done);
}

bool rans_ended(const RansReader *r, const RansLanes *l, const Reader *in)
{
    bool good = reader_left(in) == 0;
    for (unsigned lane = 0; lane < l->lanes && r->rans->present > 1; lane++)
        good &= l->state[lane] == FIRST_STATE;
    return good;
}
