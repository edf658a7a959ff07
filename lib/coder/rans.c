/* rans.c -- frequencies from counts, and what they cost. */
#include "coder/rans.h"

enum { FINE_FROM = 1 << 15, FINE_GAIN = 256, COARSE_FROM = 160, WORD_BITS = 16 };
enum { STATE_COST = 24 }; /* bits that a lane takes on average: its state, less what that carries */

/* The change of one frequency by `step` that costs least or gains most: the cost of a symbol at frequency f
 * falls by about weight / (f + 1/2) when f grows by one. */
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

uint64_t rans_bits(const Rans *r, const uint64_t *count, unsigned lanes)
{
    uint64_t whole = 0, part = 0;
    for (uint32_t k = 0; k < r->present && r->present > 1; k++) {
        const uint64_t each = ((uint64_t)r->precision << RANS_LOG_BITS) - rans_log2(r->frequency[k]),
                       c = count[r->symbol[k]];
        whole += c * (each >> RANS_LOG_BITS);
        part += c * (each & ((1u << RANS_LOG_BITS) - 1));
    }
    return r->present > 1 ? whole + (part >> RANS_LOG_BITS) + STATE_COST * (uint64_t)lanes : 0;
}

static uint64_t all_bits(const Rans *r, const uint64_t *count)
{
    return rans_table_bits(r) + rans_bits(r, count, 0);
}

/* The precision at which table and symbols are shortest: all of them for few symbols; the finer ones, which are
 * slower to read, as long as each gains a part in FINE_GAIN. */
static void choose_precision(Rans *r, const uint64_t *count, const uint64_t *weight, uint64_t total)
{
    uint64_t least = UINT64_MAX;
    Rans best = *r;
    for (r->precision = total < FINE_FROM ? RANS_PRECISION_LEAST : RANS_PRECISION;
         r->precision <= RANS_PRECISION_MOST; r->precision++) {
        if (r->present > 1u << r->precision)
            continue;
        rans_share(r, weight);
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

/* The coarse table of a precision where all are shorter with it than `least` bits; false: they are not. */
static bool try_coarse(Rans *r, int precision, unsigned coarse, const uint64_t *count, const uint64_t *weight,
                       uint64_t *least)
{
    Rans c = *r;
    c.precision = precision;
    c.coarse = coarse;
    rans_coarsen(&c, weight);
    const uint64_t bits = all_bits(&c, count);
    if (bits >= *least)
        return false;
    *least = bits;
    *r = c;
    return true;
}

/* A coarse table where that is shorter by more than the word that streams are rounded to, with more details as long as
 * they gain; tried where the table is a part of all worth the time. */
static void choose_coarse(Rans *r, const uint64_t *count, const uint64_t *weight)
{
    uint64_t least = all_bits(r, count);
    const int precision = r->precision;
    if (rans_table_bits(r) * COARSE_FROM < least || least < WORD_BITS)
        return;
    least -= WORD_BITS;
    for (unsigned coarse = 1; coarse <= RANS_COARSE; coarse++)
        if (!try_coarse(r, precision, coarse, count, weight, &least) && coarse > 1)
            break;
    if (r->coarse && precision < RANS_PRECISION_MOST)
        try_coarse(r, precision + 1, r->coarse, count, weight, &least);
}

bool rans_build(Rans *r, uint32_t alphabet, const uint64_t *count)
{
    assert(alphabet >= 1 && alphabet <= RANS_ALPHABET);
    uint64_t total = 0, weight[RANS_BYTES];
    *r = (Rans){.alphabet = alphabet, .precision = RANS_PRECISION};
    for (uint32_t s = 0; s < alphabet; s++) {
        if (!count[s])
            continue;
        if (r->present == RANS_BYTES)
            return false;
        total += weight[r->present] = count[s];
        r->symbol[r->present++] = (uint16_t)s;
    }
    if (r->present < 2)
        return true;
    choose_precision(r, count, weight, total);
    choose_coarse(r, count, weight);
    return true;
}
