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

/* Encodes a symbol into a lane's state. If the state would become too large, first writes the state's low 16
 * bits in front of `at`. Returns the address of the first byte written so far. */
static inline uint8_t *push(const RansStep *s, uint32_t *state, uint8_t *at)
{
    uint32_t x = *state;
    if (x >= s->limit) {
        at -= 2;
        store_u16(at, (uint16_t)x);
        x >>= 16;
    }
    /* With q = x / f, the new state is q 2^precision + (x - q f) + start. */
    const uint32_t q = (uint32_t)((unsigned __int128)x * s->inverse >> 64);
    *state = x + s->start + q * s->complement;
    return at;
}

size_t rans_put(const RansWriter *w, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *end)
{
    uint32_t state[RANS_LANES];
    uint8_t *at = end;
    if (w->rans->present < 2)
        return 0;
    for (unsigned lane = 0; lane < lanes; lane++)
        state[lane] = FIRST_STATE;
    const unsigned mask = lanes - 1;
    const size_t rows = lanes == RANS_LANES ? n / RANS_LANES : 0;
    for (size_t i = n; i > rows * RANS_LANES; i--)
        at = push(&w->step[byte[i - 1]], &state[(i - 1) & mask], at);
    if (rows)
        at = kernels()->rans_put(w->slice, w->rans->precision, byte, rows, state, at);
    at -= 4 * lanes;
    for (unsigned lane = 0; lane < lanes; lane++)
        store_u32(at + 4 * lane, state[lane]);
    return (size_t)(end - at);
}

void rans_put_several(const RansWriter *const w[RANS_SEVERAL], const uint8_t *const byte[RANS_SEVERAL],
                      size_t n, uint8_t *const end[RANS_SEVERAL], size_t size[RANS_SEVERAL])
{
    uint32_t state[RANS_SEVERAL];
    uint8_t *at[RANS_SEVERAL];
    const RansStep *step[RANS_SEVERAL];
    bool all = true;
    for (int k = 0; k < RANS_SEVERAL; k++) {
        state[k] = FIRST_STATE;
        at[k] = end[k];
        step[k] = w[k]->step;
        all &= w[k]->rans->present > 1;
    }
    for (size_t i = n; i-- > 0 && all;)
        for (int k = 0; k < RANS_SEVERAL; k++)
            at[k] = push(&step[k][byte[k][i]], &state[k], at[k]);
    for (int k = 0; k < RANS_SEVERAL; k++) {
        if (!all) {
            size[k] = rans_put(w[k], 1, byte[k], n, end[k]);
            continue;
        }
        store_u32(at[k] - 4, state[k]);
        size[k] = (size_t)(end[k] - at[k]) + 4;
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

static inline bool pull_coarse(const uint32_t *slot, int precision, uint32_t *state, Reader *in,
                               uint8_t *byte)
{
    const uint32_t entry = slot[*state & ((1u << precision) - 1)];
    *byte = (uint8_t)(entry >> 24);
    return refill((entry >> 12 & 0xfff) * (*state >> precision) + (entry & 0xfff), state, in);
}

/* Reads the next symbol of a lane (coder state). Returns false if the lane needs another word but none is
 * left. */
static bool pull(const RansReader *r, uint32_t *state, Reader *in, uint8_t *byte)
{
    const int precision = r->rans->precision;
    if (!is_fine(r->rans))
        return pull_coarse(r->slot, precision, state, in, byte);
    const uint32_t slot = *state & ((1u << precision) - 1);
    *byte = r->fine[slot];
    const uint32_t slice = r->slice[*byte];
    return refill((slice >> 16) * (*state >> precision) + slot - (slice & 0xffff), state, in);
}

/* Reads groups ("rows") of sixteen symbols, one from each lane. A row takes at most 16 words, so reading stops
 * when fewer than 16 words are left. Returns the number of rows read. */
static size_t pull_rows(const RansReader *r, RansLanes *l, Reader *in, size_t rows, uint8_t *byte)
{
    const int precision = r->rans->precision;
    return is_fine(r->rans) ? kernels()->rans_get_fine(r->fine, r->slice, precision, byte, rows, l->state,
                                                       &in->at, in->end)
                            : kernels()->rans_get(r->slot, precision, byte, rows, l->state, &in->at, in->end);
}

bool rans_pull(const RansReader *r, RansLanes *l, Reader *in, size_t n, uint8_t *byte)
{
    if (r->rans->present < 2) {
        if (n && r->rans->present)
            memset(byte, (int)rans_byte(r->rans, 0), n);
        return n == 0 || r->rans->present;
    }
    const unsigned mask = l->lanes - 1;
    size_t i = 0;
    if (l->lanes == RANS_LANES)
        i = RANS_LANES * pull_rows(r, l, in, n / RANS_LANES, byte);
    for (; i < n; i++)
        if (!pull(r, &l->state[i & mask], in, &byte[i]))
            return false;
    return true;
}

void rans_pull_several(const RansReader *const r[RANS_SEVERAL], RansLanes *const l[RANS_SEVERAL],
                       Reader *const in[RANS_SEVERAL], size_t n, uint8_t *const byte[RANS_SEVERAL],
                       bool good[RANS_SEVERAL])
{
    uint32_t state[RANS_SEVERAL];
    Reader words[RANS_SEVERAL];
    const uint32_t *slot[RANS_SEVERAL];
    int precision[RANS_SEVERAL];
    bool ok = true;
    for (int k = 0; k < RANS_SEVERAL; k++) {
        state[k] = l[k]->state[0];
        words[k] = *in[k];
        slot[k] = r[k]->slot;
        precision[k] = r[k]->rans->precision;
        ok &= r[k]->rans->present > 1 && !is_fine(r[k]->rans);
    }
    for (size_t i = 0; i < n && ok; i++)
        for (int k = 0; k < RANS_SEVERAL; k++)
            ok &= pull_coarse(slot[k], precision[k], &state[k], &words[k], &byte[k][i]);
    /* If a stream is damaged, or if its table is fine or has one symbol, all streams are read one by one. */
    for (int k = 0; k < RANS_SEVERAL; k++) {
        good[k] = ok || rans_pull(r[k], l[k], in[k], n, byte[k]);
        if (!ok)
            continue;
        l[k]->state[0] = state[k];
        *in[k] = words[k];
    }
}

bool rans_ended(const RansReader *r, const RansLanes *l, const Reader *in)
{
    bool good = reader_left(in) == 0;
    for (unsigned lane = 0; lane < l->lanes && r->rans->present > 1; lane++)
        good &= l->state[lane] == FIRST_STATE;
    return good;
}
