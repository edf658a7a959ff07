/* waterfill_variance.c -- finds the water level with the smallest expected number of atoms for a given
 * variance, without sorting.
 *
 * At the water level t an entry of magnitude v <= t adds v (t - v) to the variance. So V(t) = t T1 - T2, where
 * T1 = sum v and T2 = sum v^2 over the entries up to t. V rises with t, and is linear between two neighbouring
 * entries.
 *
 * Positive floats have the same order as their bits read as integers. So a pass puts all entries with equal
 * leading bits into one bin, and sums T1 and T2 in each bin. A scan from the smallest bin up finds the bin in
 * which V reaches the wanted variance. The next pass splits this bin by the next bits. After three passes T1
 * and T2 are known, and t = (V + T2) / T1.
 *
 * For a large vector, a sample gives a range that probably contains the level. One pass sums the entries below
 * the range and collects those in the range, and only the collected entries are searched. If the level is not
 * in the range, the whole vector is searched. */
#include "compress/atoms/waterfill.h"

#include "base/bytes.h"
#include "math/vec/kernels.h"
#include "base/parallel.h"
#include "math/blockwise.h"

#include <float.h>
#include <math.h>

enum { DIGITS = 3, BINS = 1 << 11, PIECES = 64 };
/* widths of the digits of a float; 31 bits in all, which is a float without its sign */
static const int digit_width[DIGITS] = {11, 10, 10};

typedef struct {
    double sum[BINS], squares[BINS];
} Bins;

typedef struct {
    const float *x;
    size_t n, pieces;
    Bins *piece; /* one table of bins for each piece of the vector */
    /* The digit, `width` bits from bit `shift` on, selects an entry's bin. Only entries whose bits above the
     * digit equal `prefix` are counted. */
    uint32_t prefix;
    int shift, width;
} Count;

static void count_piece(void *data, size_t p)
{
    const Count *c = data;
    Bins *bins = &c->piece[p];
    const Stretch part = stretch_of(c->n, c->pieces, p);
    const uint32_t mask = (1u << c->width) - 1, prefix = c->prefix;
    const int shift = c->shift, above = c->shift + c->width;
    const float *const x = c->x;
    memset(bins, 0, sizeof *bins);
    for (size_t i = part.from; i < part.to; i++) {
        const uint32_t u = float_bits(x[i]) & 0x7fffffffu;
        if (u >> above == prefix) {
            const double v = (double)bits_float(u);
            bins->sum[u >> shift & mask] += v;
            bins->squares[u >> shift & mask] += v * v;
        }
    }
}

/* Adds the tables of all pieces, in order, to piece[0]. */
static void count_digit(Count *c, int threads)
{
    parallel_for(threads, c->pieces, count_piece, c);
    for (size_t p = 1; p < c->pieces; p++)
        for (size_t d = 0; d < BINS; d++) {
            c->piece[0].sum[d] += c->piece[p].sum[d];
            c->piece[0].squares[d] += c->piece[p].squares[d];
        }
}

/* Sums over the entries below the current bin. */
typedef struct {
    double sum, squares;
} Under;

/* Returns the first bin, from the smallest up, at whose upper edge (as the water level) the variance exceeds
 * `variance`. Returns the number of bins if there is none. Adds the sums of all bins before it to `under`. */
static uint32_t find_bin(const Count *c, double variance, Under *under)
{
    const Bins *bins = &c->piece[0];
    uint32_t d = 0;
    for (; d < 1u << c->width; d++) {
        const uint32_t next = ((c->prefix << c->width | d) + 1) << c->shift;
        const Under with = {under->sum + bins->sum[d], under->squares + bins->squares[d]};
        if (next > float_bits(FLT_MAX) || (double)bits_float(next) * with.sum - with.squares > variance)
            break;
        *under = with;
    }
    return d;
}

/* Returns the water level at which the entries of x, and the smaller entries summed in `under`, have the
 * variance `variance`. Returns NaN if memory runs out. */
static double search(const float *x, size_t n, Under under, double variance, int threads, Arena *scratch)
{
    const size_t blocks = blocks_of(n);
    Count c = {.x = x, .n = n, .pieces = blocks < PIECES ? blocks : PIECES, .shift = 31};
    uint32_t last = 0;
    const ArenaMark mark = arena_mark(scratch);
    c.piece = NEW(scratch, Bins, c.pieces + 1); /* + 1, so that piece[0] exists even if n = 0 */
    if (!c.piece)
        return NAN;
    memset(c.piece, 0, sizeof *c.piece);
    for (int digit = 0; digit < DIGITS; digit++) {
        c.width = digit_width[digit];
        c.shift -= c.width;
        count_digit(&c, threads);
        last = find_bin(&c, variance, &under);
        /* `+`, not `|`: if find_bin returns the number of bins, the sum must carry into the prefix */
        c.prefix = (c.prefix << c.width) + last;
    }
    if (last < 1u << c.width) { /* bin `last` holds the largest light entry (below the water level) */
        under.sum += c.piece[0].sum[last];
        under.squares += c.piece[0].squares[last];
    }
    arena_rewind(scratch, mark);
    return under.sum > 0 ? (variance + under.squares) / under.sum : 0;
}

/* ---- large vectors: a sample gives a range that probably contains the water level ---- */

enum {
    SAMPLE = 1 << 14,
    SAMPLED_FROM = 8 * SAMPLE,
    WAVE = 16, /* number of blocks that are filtered at a time */
    SLACK = 16 /* the kernel sums_around may write this many floats behind the last entry */
};

typedef struct {
    const float *x;
    size_t n, wave; /* wave: index of the block that slot[0] holds */
    float low, high;
    float *slot[WAVE];
    size_t found[WAVE];
    double sum[WAVE][3];
    float *between; /* the collected entries from `low` to `high` */
    size_t count, room;
    Under under;
    double squares; /* sum of the squares of all entries */
} Range;

static void fill_slot(void *data, size_t slot)
{
    Range *r = data;
    const size_t block = r->wave + slot;
    r->found[slot] = kernels()->sums_around(r->x + block * BLOCK, block_size(r->n, block), r->low, r->high,
                                            r->slot[slot], r->sum[slot]);
}

static void settle_slot(Range *r, size_t slot)
{
    const size_t left = r->room - r->count, taken = r->found[slot] < left ? r->found[slot] : left;
    memcpy(r->between + r->count, r->slot[slot], taken * sizeof *r->between);
    r->count += taken;
    r->under.sum += r->sum[slot][0];
    r->under.squares += r->sum[slot][1];
    r->squares += r->sum[slot][2];
}

/* Adds up all entries below r->low, and collects the entries from r->low to r->high. Returns false if memory
 * runs out. */
static bool gather(Range *r, int threads, Arena *scratch)
{
    const size_t blocks = blocks_of(r->n);
    r->room = r->n / 8;
    r->between = NEW(scratch, float, r->room);
    for (size_t slot = 0; slot < WAVE && slot < blocks; slot++)
        if (!(r->slot[slot] = NEW(scratch, float, BLOCK + SLACK)))
            return false;
    if (!r->between)
        return false;
    for (r->wave = 0; r->wave < blocks; r->wave += WAVE) {
        const size_t left = blocks - r->wave, slots = left < WAVE ? left : WAVE;
        parallel_for(threads, slots, fill_slot, r);
        for (size_t slot = 0; slot < slots; slot++)
            settle_slot(r, slot);
    }
    return true;
}

/* True if the water level lies between r->low and r->high, and all entries in this range were collected. */
static bool holds_level(const Range *r, double variance)
{
    Under u = r->under;
    const bool from_low = (double)r->low * u.sum - u.squares <= variance;
    for (size_t i = 0; i < r->count; i++) {
        u.sum += (double)r->between[i];
        u.squares += (double)r->between[i] * (double)r->between[i];
    }
    return r->count < r->room && from_low && (double)r->high * u.sum - u.squares > variance;
}

/* Returns the water level of a sample of SAMPLE entries, or NaN if memory runs out. */
static double guess(const float *x, size_t n, double eps, Arena *scratch)
{
    const ArenaMark mark = arena_mark(scratch);
    const size_t stride = n / SAMPLE;
    float *sample = NEW(scratch, float, SAMPLE);
    for (uint32_t i = 0; sample && i < SAMPLE; i++)
        sample[i] = x[i * stride + rng_mix(i, RNG_STRIDE) % stride];
    const double level =
        sample ? search(sample, SAMPLE, (Under){0}, eps * blockwise_squares(sample, SAMPLE, 1), 1, scratch) : NAN;
    arena_rewind(scratch, mark);
    return level;
}

double waterfill_of_variance(const float *x, size_t n, double eps, int threads, Arena *scratch)
{
    const ArenaMark mark = arena_mark(scratch);
    Range r = {.x = x, .n = n};
    double level;
    assert(eps > 0);
    if (n >= SAMPLED_FROM) {
        level = guess(x, n, eps, scratch);
        r.low = (float)(0.85 * level);
        r.high = (float)(1.15 * level);
        if (isnan(level) || (r.low > 0 && isfinite(r.high) && !gather(&r, threads, scratch)))
            return NAN;
        if (r.squares > 0 && holds_level(&r, eps * r.squares)) {
            level = search(r.between, r.count, r.under, eps * r.squares, threads, scratch);
            arena_rewind(scratch, mark);
            return level;
        }
        arena_rewind(scratch, mark);
    }
    return search(x, n, (Under){0}, eps * blockwise_squares(x, n, threads), threads, scratch);
}
