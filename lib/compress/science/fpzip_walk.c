/* fpzip_walk.c -- fpzip's entropy coder without its values (fpzip_walk.h).
 *
 * A float's symbol says how far it is from its prediction: at up to WIDE bits the difference itself, else the
 * number of the difference's bits, and its sign; the bits below the highest follow. A range coder codes
 * symbols by adaptive frequencies, whose sum is 2^16, and the other bits as equally likely (Martin 1979;
 * Lindstrom, Isenburg 2006). */
#include "compress/science/fpzip_walk.h"

enum { SUM_BITS = 16, SUM = 1 << SUM_BITS, PERIOD = 1024, WIDE = 8, SYMBOLS_MOST = (2 << WIDE) - 1 };

/* ---- frequencies of symbols: those of the last update are in `below`, those of the next grow in `next` ---- */

typedef struct {
    uint32_t count; /* symbols */
    uint32_t next[SYMBOLS_MOST],
        below[SYMBOLS_MOST + 1]; /* below[s]: sum of the frequencies of symbols 0 .. s-1 */
    /* An update takes effect for `period` symbols. A symbol adds `step` to its frequency in `next`; after
     * `left` more symbols, the last `more` symbols of the period add step + 1. */
    uint32_t left, more, step, period;
} Frequencies;

static void frequencies_update(Frequencies *f)
{
    if (f->more) {
        f->left = f->more;
        f->more = 0;
        f->step++;
        return;
    }
    f->period = f->period < PERIOD / 2 ? 2 * f->period : PERIOD;
    uint32_t sum = SUM, spare = SUM;
    for (uint32_t s = f->count; s--;) {
        sum -= f->next[s];
        f->below[s] = sum;
        f->next[s] = f->next[s] >> 1 | 1;
        spare -= f->next[s];
    }
    f->step = spare / f->period;
    f->more = spare % f->period;
    f->left = f->period - f->more;
}

static void frequencies_open(Frequencies *f, uint32_t count)
{
    *f = (Frequencies){.count = count, .period = count >> 4 | 2};
    for (uint32_t s = 0; s < count; s++)
        f->next[s] = SUM / count + (s < SUM % count);
    f->below[count] = SUM;
    frequencies_update(f);
}

/* Returns the symbol s with below[s] <= at < below[s + 1]. */
static uint32_t frequencies_find(Frequencies *f, uint32_t at)
{
    uint32_t low = 0, high = f->count;
    while (low + 1 < high) {
        const uint32_t middle = (low + high) / 2;
        if (at < f->below[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

static void frequencies_add(Frequencies *f, uint32_t symbol)
{
    if (!f->left)
        frequencies_update(f);
    f->left--;
    f->next[symbol] += f->step;
}

/* ---- the range decoder: the code lies in [low, low + range) ---- */

typedef struct {
    Reader bytes;
    uint32_t low, range, code;
    bool bad; /* the code lay in no interval */
} Range;

static void range_read(Range *r, int count)
{
    while (count--) {
        r->code = r->code << 8 | take_u8(&r->bytes);
        r->low <<= 8;
    }
}

/* Divides the range into 2^bits parts, and returns the part that the code is in. */
static uint32_t range_part(Range *r, unsigned bits)
{
    r->range >>= bits;
    const uint64_t part = r->range ? (r->code - r->low) / r->range : UINT64_MAX;
    r->bad = r->bad || part >> bits;
    return r->bad ? 0 : (uint32_t)part;
}

static void range_narrow(Range *r, uint32_t from, uint32_t width)
{
    r->low += r->range * from;
    r->range *= width;
    while (!((r->low ^ (r->low + r->range)) >> 24) && !r->bytes.bad) {
        range_read(r, 1);
        r->range <<= 8;
    }
    if (!(r->range >> 16)) {
        range_read(r, 2);
        r->range = -r->low;
    }
}

static void range_skip(Range *r, unsigned bits)
{
    const unsigned first = bits > 16 ? 16 : bits;
    range_narrow(r, range_part(r, first), 1);
    if (bits > first)
        range_narrow(r, range_part(r, bits - first), 1);
}

bool fpzip_walk(Bytes in, size_t n, unsigned precision)
{
    const bool wide = precision > WIDE;
    const uint32_t middle = precision;
    Range r = {.bytes = reader_open(in), .range = UINT32_MAX};
    Frequencies f;
    frequencies_open(&f, wide ? 2 * precision + 1 : (2u << precision) - 1);
    range_read(&r, 4);
    for (size_t i = 0; i < n && !r.bad && !r.bytes.bad; i++) {
        const uint32_t symbol = frequencies_find(&f, range_part(&r, SUM_BITS));
        range_narrow(&r, f.below[symbol], f.below[symbol + 1] - f.below[symbol]);
        frequencies_add(&f, symbol);
        if (wide && symbol != middle)
            range_skip(&r, symbol > middle ? symbol - middle - 1 : middle - 1 - symbol);
    }
    return !r.bad && reader_done(&r.bytes);
}
