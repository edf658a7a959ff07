/* rans.c -- estimates the bits of a stream, and chooses the frequency table for which the table and the
 * stream together are shortest. */
#include "coder/rans.h"

#include "coder/elias.h"

enum {
    LOG_BITS = 16,
    /* Frequencies of fewer than RANS_PRECISION bits are tried only for streams of fewer symbols than this. */
    ALL_PRECISIONS_UNDER = 1 << 15,
    /* Weights rounded to few bits are tried only if the table takes at least 1/160 of the bits of table and
     * stream. */
    DETAIL_FROM = 160,
    /* Frequencies of more than RANS_PRECISION bits are slower to read. They are used only if they save at
     * least 1/256 of the bits. */
    FINE_GAIN = 256,
    RARE = 3, /* a symbol that occurs fewer than RARE times is rare */
    /* a stream is a whole number of 16-bit words, so an estimated gain below 16 bits may vanish in the
     * rounding */
    WORD_BITS = 16,
    /* Mean overhead in bits of one lane (one of the interleaved coder states). The final state is sent in 32
     * bits, and part of these bits carries information about symbols. */
    STATE_COST = 24,
};

/* Returns log2 v in units of 2^-LOG_BITS, rounded down, by repeated squaring of integers, so that every machine
 * makes the same decisions. */
static uint32_t log2_fixed(uint32_t v)
{
    const unsigned whole = log2_floor(v);
    uint32_t log = whole << LOG_BITS;
    /* m = v / 2^whole, a number in [1, 2), with 31 fractional bits */
    uint64_t m = (uint64_t)v << (31 - whole);
    for (unsigned bit = LOG_BITS; bit-- > 0;) {
        m = m * m >> 31;
        if (m >> 32) {
            m >>= 1;
            log |= 1u << bit;
        }
    }
    return log;
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

static uint64_t all_bits(const Rans *r, const uint64_t *count)
{
    return rans_table_bits(r) + rans_bits(r, count, 0);
}

/* Returns v rounded to a number with at most `detail` significant bits after its highest bit. */
static uint16_t rounded(uint16_t v, unsigned detail)
{
    const unsigned class = log2_floor(v), cut = class > detail ? class - detail : 0;
    return (uint16_t)((v + (1u << cut >> 1)) >> cut << cut);
}

/* Computes weights and frequencies from the symbols' counts. Weights are rounded to `detail` bits after the
 * highest bit; frequencies are computed at r->precision. If weights are rounded, a rare symbol whose own weight
 * is within a factor of 2 of the previous symbol's weight gets the previous symbol's weight. The own weight
 * would cost more bits in the table than it saves in the stream. */
static void weigh(Rans *r, const uint64_t *count, unsigned detail)
{
    uint64_t weight[RANS_BYTES];
    r->detail = detail;
    rans_share(r, count);
    for (uint32_t k = 0; k < r->present; k++) {
        const uint64_t own = rounded(r->frequency[k], detail), before = k ? weight[k - 1] : 0;
        const bool same = detail < RANS_EXACT && count[k] < RARE && before <= 2 * own && own <= 2 * before;
        weight[k] = r->weight[k] = (uint16_t)(same ? before : own);
    }
    if (detail < RANS_EXACT)
        rans_share(r, weight);
}

/* Chooses the precision (bits of the frequencies) for which the table and the stream together are shortest;
 * weights are not rounded here. Tries precisions below RANS_PRECISION only for short streams. Tries higher
 * precisions as long as each further bit saves 1/FINE_GAIN of the size. */
static void choose_precision(Rans *r, const uint64_t *count, const uint64_t *by_rank, uint64_t total)
{
    uint64_t least = UINT64_MAX;
    Rans best = *r;
    for (r->precision = total < ALL_PRECISIONS_UNDER ? RANS_PRECISION_LEAST : RANS_PRECISION;
         r->precision <= RANS_PRECISION_MOST; r->precision++) {
        if (r->present > 1u << r->precision)
            continue;
        weigh(r, by_rank, RANS_EXACT);
        const uint64_t bits = all_bits(r, count);
        if (r->precision > RANS_PRECISION && bits + least / FINE_GAIN > least)
            break;
        if (bits < least) {
            least = bits;
            best = *r;
        }
    }
    *r = best;
}

/* Rounds the weights to the number of bits below their highest bit (0 .. RANS_DETAIL) for which table and
 * stream together are shortest. Leaves the weights exact if rounding saves at most WORD_BITS bits in all. */
static void choose_detail(Rans *r, const uint64_t *count, const uint64_t *by_rank)
{
    uint64_t least = all_bits(r, count);
    if (rans_table_bits(r) * DETAIL_FROM < least || least < WORD_BITS)
        return;
    least -= WORD_BITS;
    Rans trial = *r;
    for (unsigned detail = 0; detail <= RANS_DETAIL; detail++) {
        weigh(&trial, by_rank, detail);
        const uint64_t bits = all_bits(&trial, count);
        if (bits < least) {
            least = bits;
            *r = trial;
        }
    }
}

bool rans_build(Rans *r, uint32_t alphabet, const uint64_t *count)
{
    assert(alphabet >= 1 && alphabet <= RANS_ALPHABET);
    uint64_t total = 0, by_rank[RANS_BYTES];
    *r = (Rans){.alphabet = alphabet, .precision = RANS_PRECISION};
    for (uint32_t s = 0; s < alphabet; s++) {
        if (!count[s])
            continue;
        if (r->present == RANS_BYTES)
            return false;
        total += by_rank[r->present] = count[s];
        r->symbol[r->present++] = (uint16_t)s;
    }
    if (r->present < 2)
        return true;
    choose_precision(r, count, by_rank, total);
    choose_detail(r, count, by_rank);
    return true;
}
