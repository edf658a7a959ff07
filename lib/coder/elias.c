/* elias.c -- implements elias.h. The decoders refuse codes of numbers that need more than 64 bits, so their
 * loops are bounded. */
#include "coder/elias.h"

unsigned gamma_bits(uint64_t v)
{
    return 2 * log2_floor(v) + 1;
}

unsigned omega_bits(uint64_t v)
{
    unsigned bits = 1;
    for (; v > 1; v = log2_floor(v))
        bits += log2_floor(v) + 1;
    return bits;
}

/* Writes the low `count` bits of v, the highest bit first; count may be up to 64, more than the BITS_MAX of
 * bits_put. */
static void put_long(BitWriter *w, uint64_t v, unsigned count)
{
    if (count > 32) {
        bits_put(w, v >> 32 & ((UINT64_C(1) << (count - 32)) - 1), count - 32);
        count = 32;
    }
    bits_put(w, v & ((UINT64_C(1) << count) - 1), count);
}

static uint64_t get_long(BitReader *r, unsigned count)
{
    const uint64_t high = count > 32 ? bits_get(r, count - 32) << 32 : 0;
    return high | bits_get(r, count > 32 ? 32 : count);
}

void gamma_put(BitWriter *w, uint64_t v)
{
    put_long(w, 0, log2_floor(v));
    put_long(w, v, log2_floor(v) + 1);
}

static uint64_t refuse(BitReader *r)
{
    r->bad = true;
    return 0;
}

uint64_t gamma_get(BitReader *r)
{
    unsigned zeros = 0;
    while (!r->bad && bits_get(r, 1) == 0)
        if (++zeros > 63)
            return refuse(r);
    const uint64_t v = UINT64_C(1) << zeros | get_long(r, zeros);
    return r->bad ? 0 : v;
}

uint64_t omega_get(BitReader *r)
{
    uint64_t v = 1;
    while (bits_get(r, 1)) {
        if (v > 63)
            return refuse(r);
        v = UINT64_C(1) << v | get_long(r, (unsigned)v);
    }
    return r->bad ? 0 : v;
}

CodeWord omega_word(uint32_t v)
{
    CodeWord word = {0, 1};
    for (; v > 1; v = log2_floor(v)) {
        word.bits |= (uint64_t)v << word.length;
        word.length += log2_floor(v) + 1;
    }
    return word;
}

/* ---- the parts of a table: the list of symbols, and each number as the signed difference from the previous one ---- */

void walk_gamma(TableWalk *t, uint64_t v)
{
    t->bits += gamma_bits(v);
    if (t->w)
        gamma_put(t->w, v);
}

void walk_step(TableWalk *t, unsigned number)
{
    walk_gamma(t, number >= t->before ? 1 + 2 * (uint64_t)(number - t->before) : 2 * (uint64_t)(t->before - number));
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
