/* rans_table.c -- computes frequencies from weights, and writes and reads the table. */
#include "coder/elias.h"
#include "coder/rans.h"

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

static void walk_weight(TableWalk *t, uint32_t w, unsigned detail)
{
    const unsigned class = log2_floor(w), sent = class < detail ? class : detail;
    walk_step(t, class);
    walk_bits(t, (w & ((1u << class) - 1)) >> (class - sent), sent);
}

/* Returns the size of the table in bits, and writes the table unless w is NULL. */
static uint64_t walk_table(const Rans *r, BitWriter *w)
{
    TableWalk t = {.w = w, .before = FIRST_CLASS};
    walk_bits(&t, (uint64_t)r->precision, PRECISION_BITS);
    walk_bits(&t, r->detail, DETAIL_BITS);
    walk_runs(r, &t);
    for (uint32_t k = 0; k < r->present && r->present > 1; k++)
        walk_weight(&t, r->weight[k], r->detail);
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
