/* rans_table.c -- tables of frequencies, and coarse ones of the weights that frequencies follow from. */
#include "coder/code_table.h"
#include "coder/elias.h"
#include "coder/rans.h"

enum { PRECISION_BITS = 4, DETAIL_BITS = 2, COARSE = 0 };

/* ---- writing ---- */

/* The symbols as runs of those left out and those listed, in turn. */
static void walk_runs(const Rans *r, TableWalk *t)
{
    uint32_t runs = 1, next = 0;
    for (uint32_t k = 1; k < r->present; k++)
        runs += r->symbol[k] != r->symbol[k - 1] + 1;
    walk_gamma(t, runs);
    for (uint32_t k = 0, end; k < r->present; k = end) {
        for (end = k + 1; end < r->present && r->symbol[end] == r->symbol[end - 1] + 1;)
            end++;
        walk_gamma(t, r->symbol[k] - next + (k == 0));
        walk_gamma(t, end - k);
        next = r->symbol[end - 1] + UINT32_C(1);
    }
}

static void walk_number(TableWalk *t, uint32_t v, unsigned detail)
{
    const unsigned class = log2_floor(v), sent = class < detail ? class : detail;
    walk_step(t, class);
    walk_bits(t, (v & ((1u << class) - 1)) >> (class - sent), sent);
}

static void walk_coarse(const Rans *r, TableWalk *t)
{
    walk_bits(t, COARSE, PRECISION_BITS);
    walk_bits(t, (uint64_t)r->precision, PRECISION_BITS);
    walk_bits(t, r->coarse - 1, DETAIL_BITS);
    walk_runs(r, t);
    for (uint32_t k = 0; k < r->present; k++)
        walk_number(t, r->weight[k], r->coarse - 1);
}

static void walk_plain(const Rans *r, TableWalk *t)
{
    walk_bits(t, (uint64_t)r->precision, PRECISION_BITS);
    walk_start(t, r->present);
    for (uint32_t k = 0; k < r->present; k++) {
        walk_symbol(t, r->symbol[k]);
        if (k + 1 < r->present)
            walk_number(t, r->frequency[k], RANS_PRECISION_MOST);
    }
}

/* Bits of the table, which is written where there is a writer. */
static uint64_t walk_table(const Rans *r, BitWriter *w)
{
    TableWalk t = {.w = w, .before = RANS_FIRST_CLASS};
    (r->coarse ? walk_coarse : walk_plain)(r, &t);
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

/* The most symbols that a table can list. */
static uint32_t most_listed(const Rans *r)
{
    return r->precision < 8 ? 1u << r->precision : RANS_BYTES;
}

static bool precision_get(Rans *r, BitReader *in)
{
    r->precision = (int)bits_get(in, PRECISION_BITS);
    return r->precision >= RANS_PRECISION_LEAST && !in->bad;
}

static bool scan_runs(Rans *r, TableScan *t)
{
    const uint64_t runs = gamma_get(t->r);
    for (uint64_t run = 0; run < runs; run++) {
        const uint64_t skipped = gamma_get(t->r) - (run == 0), listed = gamma_get(t->r);
        if (t->r->bad || listed > most_listed(r) - r->present || skipped > t->alphabet - t->next ||
            listed > t->alphabet - t->next - skipped)
            return false;
        t->next += (uint32_t)skipped;
        for (uint64_t i = 0; i < listed; i++)
            r->symbol[r->present++] = (uint16_t)t->next++;
    }
    return !t->r->bad && r->present > 1;
}

static bool scan_number(TableScan *t, unsigned most, unsigned detail, uint32_t *v)
{
    unsigned class;
    if (!scan_step(t, 0, most, &class))
        return false;
    const unsigned sent = class < detail ? class : detail;
    *v = (1u << sent | (uint32_t)bits_get(t->r, sent)) << (class - sent);
    return !t->r->bad;
}

static bool scan_coarse(Rans *r, TableScan *t)
{
    uint64_t weight[RANS_BYTES];
    if (!precision_get(r, t->r))
        return false;
    r->coarse = 1 + (unsigned)bits_get(t->r, DETAIL_BITS);
    if (!scan_runs(r, t))
        return false;
    for (uint32_t k = 0; k < r->present; k++) {
        uint32_t v;
        if (!scan_number(t, RANS_PRECISION_MOST, r->coarse - 1, &v))
            return false;
        weight[k] = r->weight[k] = (uint16_t)v;
    }
    rans_share(r, weight);
    return true;
}

static bool scan_plain(Rans *r, TableScan *t)
{
    uint32_t symbol, left = 1u << r->precision;
    if (!scan_start(t, most_listed(r), &r->present) || (r->present < 2 && r->precision != RANS_PRECISION))
        return false;
    for (uint32_t k = 0; k < r->present; k++) {
        uint32_t frequency = left;
        if (!scan_symbol(t, &symbol))
            return false;
        if (k + 1 < r->present &&
            (!scan_number(t, RANS_PRECISION_MOST - 1, RANS_PRECISION_MOST, &frequency) || frequency >= left))
            return false;
        left -= frequency;
        r->symbol[k] = (uint16_t)symbol;
        r->frequency[k] = (uint16_t)(r->present > 1 ? frequency : 0);
    }
    return true;
}

bool rans_table_get(Rans *r, uint32_t alphabet, BitReader *in)
{
    TableScan t = {.r = in, .alphabet = alphabet, .before = RANS_FIRST_CLASS};
    *r = (Rans){.alphabet = alphabet};
    if (precision_get(r, in))
        return scan_plain(r, &t);
    return !in->bad && r->precision == COARSE && scan_coarse(r, &t);
}
