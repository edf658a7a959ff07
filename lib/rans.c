/* rans.c -- frequencies from counts, their tables, and the ends of streams; the middle is in vec/rans.c. */
#include "rans.h"

#include "code_table.h"
#include "elias.h"
#include "kernels.h"

enum { FIRST_CLASS = 6, PRECISION_BITS = 4, LOG_BITS = 16, FINE_FROM = 1 << 15 };
enum { STATE_COST = 24 }; /* bits that a lane takes on average: its state, less what that carries */

/* ---- frequencies ---- */

/* log2 v in units of 2^-16, cut off: by squaring, in whole numbers, so that every machine decides alike. */
static uint32_t log2_fixed(uint32_t v)
{
    const unsigned whole = log2_floor(v);
    uint32_t log = whole << LOG_BITS;
    uint64_t m = (uint64_t)v << (31 - whole); /* in [1, 2), 31 bits behind the point */
    for (unsigned bit = LOG_BITS; bit-- > 0;) {
        m = m * m >> 31;
        if (m >> 32) {
            m >>= 1;
            log |= 1u << bit;
        }
    }
    return log;
}

/* The change of one frequency by `step` that costs least or gains most: the cost of a symbol at frequency f
 * falls by about count / (f + 1/2) when f grows by one. */
static uint32_t best_step(const Rans *r, const uint64_t *count, int step)
{
    uint32_t best = 0;
    bool found = false;
    for (uint32_t k = 0; k < r->present; k++) {
        if (step < 0 && r->frequency[k] == 1)
            continue;
        const uint64_t a = count[r->symbol[k]], b = count[r->symbol[best]];
        const uint64_t fa = (uint64_t)(2 * r->frequency[k] + step),
                       fb = (uint64_t)(2 * r->frequency[best] + step);
        if (!found || (step < 0 ? a * fb < b * fa : a * fb > b * fa))
            best = k;
        found = true;
    }
    return best;
}

/* Rounded shares of 2^precision, none 0; then those are moved by one that cost least, until the sum is
 * right. */
static void share_out(Rans *r, const uint64_t *count, uint64_t total, int precision)
{
    const int64_t want = INT64_C(1) << precision;
    int64_t sum = 0;
    r->precision = precision;
    for (uint32_t k = 0; k < r->present; k++) {
        const uint64_t share = ((count[r->symbol[k]] << precision) + total / 2) / total;
        r->frequency[k] = (uint16_t)(share ? share : 1);
        sum += r->frequency[k];
    }
    for (; sum > want; sum--)
        r->frequency[best_step(r, count, -1)]--;
    for (; sum < want; sum++)
        r->frequency[best_step(r, count, 1)]++;
}

uint64_t rans_bits(const Rans *r, const uint64_t *count, unsigned lanes)
{
    uint64_t whole = 0, part = 0;
    for (uint32_t k = 0; k < r->present && r->present > 1; k++) {
        const uint64_t each = ((uint64_t)r->precision << LOG_BITS) - log2_fixed(r->frequency[k]),
                       c = count[r->symbol[k]];
        whole += c * (each >> LOG_BITS);
        part += c * (each & ((1u << LOG_BITS) - 1));
    }
    return r->present > 1 ? whole + (part >> LOG_BITS) + STATE_COST * (uint64_t)lanes : 0;
}

bool rans_build(Rans *r, uint32_t alphabet, const uint64_t *count)
{
    assert(alphabet >= 1 && alphabet <= RANS_ALPHABET);
    uint64_t total = 0;
    *r = (Rans){.alphabet = alphabet, .precision = RANS_PRECISION};
    for (uint32_t s = 0; s < alphabet; s++) {
        if (!count[s])
            continue;
        if (r->present == RANS_BYTES)
            return false;
        r->symbol[r->present++] = (uint16_t)s;
        total += count[s];
    }
    if (r->present < 2)
        return true;
    uint64_t least = UINT64_MAX;
    Rans best = *r;
    for (int precision = total < FINE_FROM ? RANS_PRECISION_LEAST : RANS_PRECISION;
         precision <= RANS_PRECISION; precision++) {
        if (r->present > 1u << precision)
            continue;
        share_out(r, count, total, precision);
        const uint64_t bits = rans_table_bits(r) + rans_bits(r, count, 0);
        if (bits < least) {
            least = bits;
            best = *r;
        }
    }
    *r = best;
    return true;
}

/* ---- the table ---- */

/* Bits of the table, which is written where there is a writer. */
static uint64_t walk_table(const Rans *r, BitWriter *w)
{
    TableWalk t = {.w = w, .before = FIRST_CLASS};
    walk_bits(&t, (uint64_t)r->precision, PRECISION_BITS);
    walk_start(&t, r->present);
    for (uint32_t k = 0; k < r->present; k++) {
        walk_symbol(&t, r->symbol[k]);
        if (k + 1 == r->present)
            break;
        const unsigned below = log2_floor(r->frequency[k]);
        walk_step(&t, below);
        walk_bits(&t, r->frequency[k] & ((1u << below) - 1), below);
    }
    return t.bits;
}

uint64_t rans_table_bits(const Rans *r)
{
    return walk_table(r, NULL);
}

void rans_table_put(const Rans *r, BitWriter *w)
{
    walk_table(r, w);
}

bool rans_table_get(Rans *r, uint32_t alphabet, BitReader *in)
{
    TableScan t = {.r = in, .alphabet = alphabet, .before = FIRST_CLASS};
    *r = (Rans){.alphabet = alphabet, .precision = (int)bits_get(in, PRECISION_BITS)};
    uint32_t present, symbol, left = 1u << r->precision;
    if (r->precision < RANS_PRECISION_LEAST || r->precision > RANS_PRECISION ||
        !scan_start(&t, left < RANS_BYTES ? left : RANS_BYTES, &present) ||
        (present < 2 && r->precision != RANS_PRECISION))
        return false;
    r->present = present;
    for (uint32_t k = 0; k < present; k++) {
        unsigned below;
        uint32_t frequency = left;
        if (!scan_symbol(&t, &symbol))
            return false;
        if (k + 1 < present) {
            if (!scan_step(&t, 0, RANS_PRECISION - 1, &below))
                return false;
            frequency = 1u << below | (uint32_t)bits_get(in, below);
            if (in->bad || frequency >= left)
                return false;
        }
        left -= frequency;
        r->symbol[k] = (uint16_t)symbol;
        r->frequency[k] = (uint16_t)(present > 1 ? frequency : 0);
    }
    return true;
}

/* ---- streams ---- */

void rans_writer(RansWriter *w, const Rans *r)
{
    w->rans = r;
    memset(w->slice, 0, sizeof w->slice);
    uint32_t start = 0;
    for (uint32_t k = 0; k < r->present; k++) {
        w->slice[rans_byte(r, k)] = (uint32_t)r->frequency[k] << 16 | start;
        start += r->frequency[k];
    }
}

void rans_reader(RansReader *reader, const Rans *r)
{
    reader->rans = r;
    uint32_t slot = 0;
    for (uint32_t k = 0; k < r->present && r->present > 1; k++)
        for (uint32_t i = 0; i < r->frequency[k]; i++)
            reader->slot[slot++] = rans_byte(r, k) << 24 | (uint32_t)r->frequency[k] << 12 | i;
}

/* One symbol into a lane's state; returns where the words begin now. */
static uint8_t *push(const RansWriter *w, uint8_t byte, uint32_t *state, uint8_t *at)
{
    const uint32_t f = w->slice[byte] >> 16, start = w->slice[byte] & 0xffff;
    const int precision = w->rans->precision;
    uint32_t x = *state;
    if (x >= f << (32 - precision)) {
        at -= 2;
        store_u16(at, (uint16_t)x);
        x >>= 16;
    }
    *state = (x / f << precision) + x % f + start;
    return at;
}

size_t rans_put(const RansWriter *w, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *room)
{
    uint8_t *end = room + rans_most(n, lanes), *at = end;
    if (w->rans->present < 2)
        return 0;
    uint32_t state[RANS_LANES];
    for (unsigned lane = 0; lane < lanes; lane++)
        state[lane] = 1u << 16;
    size_t i = n;
    if (lanes == RANS_LANES) {
        for (; i % RANS_LANES; i--)
            at = push(w, byte[i - 1], &state[(i - 1) % RANS_LANES], at);
        at = kernels()->rans_put(w->slice, w->rans->precision, byte, i / RANS_LANES, state, at);
    } else {
        const unsigned mask = lanes - 1;
        for (; i > 0; i--)
            at = push(w, byte[i - 1], &state[(i - 1) & mask], at);
    }
    at -= 4 * lanes;
    for (unsigned lane = 0; lane < lanes; lane++)
        store_u32(at + 4 * lane, state[lane]);
    return (size_t)(end - at);
}

/* The next symbol of a lane; false when a word is wanted and none is left. */
static bool pull(const RansReader *r, uint32_t *state, Reader *in, uint8_t *byte)
{
    const int precision = r->rans->precision;
    const uint32_t entry = r->slot[*state & ((1u << precision) - 1)];
    uint32_t x = (entry >> 12 & 0xfff) * (*state >> precision) + (entry & 0xfff);
    *byte = (uint8_t)(entry >> 24);
    if (x < 1u << 16) {
        if (in->end - in->at < 2)
            return false;
        x = x << 16 | load_u16(in->at);
        in->at += 2;
    }
    *state = x;
    return true;
}

bool rans_get(const RansReader *r, unsigned lanes, Bytes bytes, size_t n, uint8_t *byte)
{
    if (r->rans->present < 2) {
        if (n && r->rans->present)
            memset(byte, (int)rans_byte(r->rans, 0), n);
        return bytes.size == 0 && (n == 0 || r->rans->present);
    }
    Reader in = reader_open(bytes);
    uint32_t state[RANS_LANES];
    bool good = true;
    for (unsigned lane = 0; lane < lanes; lane++) {
        state[lane] = take_u32(&in);
        good &= state[lane] >= 1u << 16;
    }
    if (in.bad || !good)
        return false;
    size_t i = 0;
    if (lanes == RANS_LANES)
        i = RANS_LANES *
            kernels()->rans_get(r->slot, r->rans->precision, byte, n / RANS_LANES, state, &in.at, in.end);
    const unsigned mask = lanes - 1;
    for (; i < n; i++)
        if (!pull(r, &state[i & mask], &in, &byte[i]))
            return false;
    for (unsigned lane = 0; lane < lanes; lane++)
        good &= state[lane] == 1u << 16;
    return good && reader_done(&in);
}
