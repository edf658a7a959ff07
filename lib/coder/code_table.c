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

static uint64_t step_of(unsigned number, unsigned before)
{
    return number >= before ? 1 + 2 * (uint64_t)(number - before) : 2 * (uint64_t)(before - number);
}

void walk_step(TableWalk *t, unsigned number)
{
    walk_gamma(t, step_of(number, t->before));
    t->before = number;
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
