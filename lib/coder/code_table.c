/* code_table.c -- writes and reads the parts of a table of code lengths or frequencies: the list of symbols,
 * and each number as the signed difference from the previous number. */
#include "coder/code_table.h"

#include "coder/elias.h"

void walk_gamma(TableWalk *t, uint64_t v)
{
    t->bits += gamma_bits(v);
    if (t->w)
        gamma_put(t->w, v);
}

void walk_bits(TableWalk *t, uint64_t v, unsigned count)
{
    t->bits += count;
    if (t->w)
        bits_put(t->w, v, count);
}

void walk_start(TableWalk *t, uint32_t listed)
{
    walk_gamma(t, UINT64_C(1) + listed);
}

void walk_symbol(TableWalk *t, uint32_t symbol)
{
    walk_gamma(t, UINT64_C(1) + symbol - t->next);
    t->next = symbol + 1;
}

static uint64_t step_of(unsigned number, unsigned before)
{
    return number >= before ? 1 + 2 * (uint64_t)(number - before) : 2 * (uint64_t)(before - number);
}

void walk_step(TableWalk *t, unsigned number)
{
    walk_gamma(t, step_of(number, t->before));
    t->before = number;
}

bool scan_start(TableScan *t, uint32_t most, uint32_t *listed)
{
    const uint64_t count = gamma_get(t->r) - 1;
    *listed = (uint32_t)count;
    return !t->r->bad && count <= most;
}

bool scan_symbol(TableScan *t, uint32_t *symbol)
{
    const uint64_t skipped = gamma_get(t->r);
    if (t->r->bad || skipped > t->alphabet - t->next)
        return false;
    *symbol = t->next + (uint32_t)skipped - 1;
    t->next = *symbol + 1;
    return true;
}

bool scan_step(TableScan *t, unsigned least, unsigned most, unsigned *number)
{
    const uint64_t step = gamma_get(t->r), off = step / 2;
    const bool up = step & 1;
    if (t->r->bad || off > most || (!up && off > t->before))
        return false;
    *number = up ? t->before + (unsigned)off : t->before - (unsigned)off;
    t->before = *number;
    return *number >= least && *number <= most;
}
