/* rans.c -- frequency tables: computes frequencies from weights, writes and reads tables, and chooses the table for which
 * the table and the stream together are shortest. */
#include "coder/rans.h"

#include "coder/elias.h"

/* The class of a weight w is floor(log2 w). The first weight's class is sent as its difference from
 * FIRST_CLASS. */
enum { PRECISION_BITS = 4, DETAIL_BITS = 4, FIRST_CLASS = 6 };

/* ---- frequencies ---- */

/* Chooses the symbol whose frequency f should change by `step` (1 or -1). The change must shorten the stream
 * most, or lengthen it least. If f grows by one, all occurrences of the symbol together take about
 * log2(e) weight / (f + 1/2) fewer bits. */
static uint32_t best_step(const Rans *r, const uint64_t *weight, int step)
{
    uint32_t best = 0;
    bool found = false;
    for (uint32_t k = 0; k < r->present; k++) {
        if (step < 0 && r->frequency[k] == 1)
            continue;
        const uint64_t a = weight[k], b = weight[best];
        const uint64_t fa = (uint64_t)(2 * r->frequency[k] + step),
                       fb = (uint64_t)(2 * r->frequency[best] + step);
        if (!found || (step < 0 ? a * fb < b * fa : a * fb > b * fa))
            best = k;
        found = true;
    }
    return best;
}

void rans_share(Rans *r, const uint64_t *weight)
{
    const int64_t want = INT64_C(1) << r->precision;
    uint64_t total = 0;
    int64_t sum = 0;
    for (uint32_t k = 0; k < r->present; k++)
        total += weight[k];
    for (uint32_t k = 0; k < r->present; k++) {
        const uint64_t share = ((weight[k] << r->precision) + total / 2) / total;
        r->frequency[k] = (uint16_t)(share ? share : 1);
        sum += r->frequency[k];
    }
    for (; sum > want; sum--)
        r->frequency[best_step(r, weight, -1)]--;
    for (; sum < want; sum++)
        r->frequency[best_step(r, weight, 1)]++;
}

/* ---- writing ---- */

static void walk_runs(const Rans *r, TableWalk *t)
{
    uint32_t runs = r->present > 0, next = 0;
    for (uint32_t k = 1; k < r->present; k++)
        runs += r->symbol[k] != r->symbol[k - 1] + 1;
    walk_gamma(t, 1 + runs);
    for (uint32_t k = 0, end; k < r->present; k = end) {
        for (end = k + 1; end < r->present && r->symbol[end] == r->symbol[end - 1] + 1;)
            end++;
        walk_gamma(t, r->symbol[k] - next + (k == 0));
        walk_gamma(t, end - k);
        next = r->symbol[end - 1] + UINT32_C(1);
    }
}

static void walk_bits(TableWalk *t, uint64_t v, unsigned count)
{
    t->bits += count;
    if (t->w)
        bits_put(t->w, v, count);
}

static void walk_weight(TableWalk *t, uint32_t w, unsigned detail)
{
    const unsigned class = log2_floor(w), sent = class < detail ? class : detail;
    walk_step(t, class);
    walk_bits(t, (w & ((1u << class) - 1)) >> (class - sent), sent);
}

uint64_t rans_table_put(const Rans *r, BitWriter *w)
{
    TableWalk t = {.w = w, .before = FIRST_CLASS};
    walk_bits(&t, (uint64_t)r->precision, PRECISION_BITS);
    walk_bits(&t, r->detail, DETAIL_BITS);
    walk_runs(r, &t);
    for (uint32_t k = 0; k < r->present && r->present > 1; k++)
        walk_weight(&t, r->weight[k], r->detail);
    return t.bits;
}

/* ---- reading ---- */

static bool scan_runs(Rans *r, TableScan *t)
{
    const uint64_t runs = gamma_get(t->r) - 1;
    const uint32_t most = r->precision < 8 ? 1u << r->precision : RANS_BYTES;
    for (uint64_t run = 0; run < runs; run++) {
        const uint64_t skipped = gamma_get(t->r) - (run == 0), listed = gamma_get(t->r);
        if (t->r->bad || listed > most - r->present || skipped > t->alphabet - t->next ||
            listed > t->alphabet - t->next - skipped)
            return false;
        t->next += (uint32_t)skipped;
        for (uint64_t i = 0; i < listed; i++)
            r->symbol[r->present++] = (uint16_t)t->next++;
    }
    return !t->r->bad;
}

static bool scan_weight(TableScan *t, unsigned detail, uint16_t *w)
{
    unsigned class;
    if (!scan_step(t, 0, RANS_PRECISION_MOST, &class))
        return false;
    const unsigned sent = class < detail ? class : detail;
    *w = (uint16_t)((1u << sent | (uint32_t)bits_get(t->r, sent)) << (class - sent));
    return !t->r->bad;
}

bool rans_table_get(Rans *r, uint32_t alphabet, BitReader *in)
{
    TableScan t = {.r = in, .alphabet = alphabet, .before = FIRST_CLASS};
    uint64_t weight[RANS_BYTES];
    *r = (Rans){.alphabet = alphabet, .precision = (int)bits_get(in, PRECISION_BITS)};
    r->detail = (unsigned)bits_get(in, DETAIL_BITS);
    if (r->precision < RANS_PRECISION_LEAST || (r->detail > RANS_DETAIL && r->detail != RANS_EXACT) ||
        !scan_runs(r, &t))
        return false;
    if (r->present < 2)
        return r->precision == RANS_PRECISION && r->detail == 0;
    for (uint32_t k = 0; k < r->present; k++) {
        if (!scan_weight(&t, r->detail, &r->weight[k]))
            return false;
        weight[k] = r->weight[k];
    }
    rans_share(r, weight);
    return true;
}

/* ---- choosing a table ---- */

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
    return rans_table_put(r, NULL) + rans_bits(r, count, 0);
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
    if (rans_table_put(r, NULL) * DETAIL_FROM < least || least < WORD_BITS)
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
