/* waterfill.c -- radix searches for the water level that meets a budget, or a variance.
 *
 * The bits of positive doubles, read as integers, have the order of the doubles. One pass counts and sums the
 * entries in bins by their leading 12 bits. A scan from the largest bin down finds the bin that contains the
 * water level. The next pass divides this bin by the next bits. Floats take three passes, for any data. Let K
 * be the number of entries at or above a value v, and s the budget. All K are heavy (p = 1) if and only if v
 * (s - K) > sum of the entries below v. Sums start with the smallest entries, so the result is accurate even
 * if one entry is 1e30 times as large as all others. */
#include "compress/atoms/waterfill.h"
#include "base/bytes.h"
#include "base/parallel.h"
#include "math/vec/kernels.h"
#include "math/blockwise.h"
#include "math/stats.h"

#include <float.h>
#include <math.h>

enum {
    DIGIT = 12,
    BINS = 1 << DIGIT,
    SIGNLESS = 63,   /* bits of a double without its sign */
    FLOAT_ZEROS = 29 /* trailing mantissa bits that are 0 in a float converted to double */
};

#define BALANCED (1 + 4 * DBL_EPSILON)

typedef struct {
    uint64_t count[BINS];
    double sum[BINS], squares[BINS];
} Bins;

static inline uint64_t double_bits(double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

static inline double bits_double(uint64_t u)
{
    double v;
    memcpy(&v, &u, sizeof v);
    return v;
}

/* ---- counting entries in bins. The vector has at most PIECES pieces, for any number of threads ---- */

enum { PIECES = 64 };

typedef struct {
    const float *x; /* (n) the entries */
    size_t n;
    Bins *piece; /* one table of bins for each piece of the vector */
    size_t pieces;
    /* The digit, `width` bits from bit `shift` on, selects an entry's bin. Only entries whose bits above the
     * digit equal `prefix` are counted. */
    uint64_t prefix;
    int shift, width;
} Count;

static void count_piece(void *data, size_t p)
{
    const Count *c = data;
    const float *const x = c->x;
    Bins *bins = &c->piece[p];
    const Stretch part = stretch_of(c->n, c->pieces, p);
    const uint64_t mask = (UINT64_C(1) << c->width) - 1, prefix = c->prefix;
    const int shift = c->shift, above = c->shift + c->width;
    memset(bins, 0, sizeof *bins);
    for (size_t i = part.from; i < part.to; i++) {
        const double v = fabs((double)x[i]);
        const uint64_t u = double_bits(v), digit = u >> shift & mask;
        if (u >> above == prefix && u) {
            bins->count[digit]++;
            bins->sum[digit] += v;
            bins->squares[digit] += v * v;
        }
    }
}

/* Adds the tables of all pieces, in order, to piece[0]. */
static void count_digit(Count *c, int threads)
{
    parallel_for(threads, c->pieces, count_piece, c);
    for (size_t p = 1; p < c->pieces; p++)
        for (size_t d = 0; d < BINS; d++) {
            c->piece[0].count[d] += c->piece[p].count[d];
            c->piece[0].sum[d] += c->piece[p].sum[d];
            c->piece[0].squares[d] += c->piece[p].squares[d];
        }
}

/* Opens the count of the leading digit, with memory from `scratch`. False: out of memory. */
static bool count_open(Count *c, const float *x, size_t n, Arena *scratch)
{
    const size_t blocks = blocks_of(n);
    *c = (Count){.x = x, .n = n, .pieces = blocks < PIECES ? blocks : PIECES, .shift = SIGNLESS - DIGIT, .width = DIGIT};
    c->piece = NEW(scratch, Bins, c->pieces);
    return c->piece;
}

/* Goes on to the next digit of the entries in bin `bin`. `+`, not `|`: the number of bins, where no bin was found, must carry
 * into the prefix. */
static void next_digit(Count *c, uint64_t bin)
{
    c->prefix = (c->prefix << c->width) + bin;
    c->width = c->shift - FLOAT_ZEROS < DIGIT ? c->shift - FLOAT_ZEROS : DIGIT;
    c->shift -= c->width;
}

/* ---- searching ---- */

typedef struct {
    double s;
    size_t above; /* number of entries found so far to be above the water level (p = 1) */
    double below; /* sum of the entries found so far to be below the water level (p < 1) */
} Search;

/* Goes through the bins from the largest down. Returns the first bin that contains a light entry (below the
 * water level), or -1 if all entries are heavy (above it). */
static int find_bin(Search *f, const Count *c, bool last)
{
    const Bins *bins = &c->piece[0];
    double under[BINS];
    /* used[0 .. many - 1]: the bins that are not empty. For a short vector, a scan of all bins would take most
     * of the time. */
    int used[BINS], many = 0;
    double sum = f->below;
    for (int d = 0; d < BINS; d++) {
        used[many] = d;
        many += bins->count[d] != 0;
    }
    for (int i = 0; i < many; i++) {
        under[used[i]] = sum;
        sum += bins->sum[used[i]];
    }
    while (many-- > 0) {
        const int d = used[many];
        const double edge = bits_double((c->prefix << c->width | (uint64_t)d) << c->shift);
        const double left = f->s - (double)f->above;
        const bool heavy = last ? edge * left > (under[d] + bins->sum[d]) * BALANCED
                                : edge * (left - (double)bins->count[d]) > under[d] * BALANCED;
        if (!heavy) {
            f->below = last ? under[d] + bins->sum[d] : under[d];
            return d;
        }
        f->above += bins->count[d];
    }
    return -1;
}

/* Finds the level of one budget, from the count of the leading digit. */
static Level search(Count *c, double budget, uint64_t nonzero, int threads)
{
    Search f = {.s = budget};
    if (budget >= (double)nonzero)
        return (Level){.heavy = nonzero};
    for (;;) {
        const bool last = c->shift == FLOAT_ZEROS;
        const int bin = find_bin(&f, c, last);
        if (bin < 0 || last)
            return (Level){f.below / (budget - (double)f.above), f.above, f.below};
        next_digit(c, (uint64_t)bin);
        count_digit(c, threads);
    }
}

/* The leading digit is counted once for all budgets. */
bool waterfill_budgets(const float *x, size_t n, const double *budget, size_t count, int threads, Arena *scratch, Level *out)
{
    Count first;
    const ArenaMark mark = arena_mark(scratch);
    for (size_t i = 0; i < count; i++)
        out[i] = (Level){0};
    if (!n)
        return true;
    Bins *leading = NEW(scratch, Bins, 1);
    if (!leading || !count_open(&first, x, n, scratch))
        return false;
    count_digit(&first, threads);
    uint64_t nonzero = 0;
    for (int d = 0; d < BINS; d++)
        nonzero += first.piece[0].count[d];
    *leading = first.piece[0];
    for (size_t i = 0; i < count; i++) {
        Count c = first;
        c.piece[0] = *leading;
        assert(budget[i] > 0);
        out[i] = search(&c, budget[i], nonzero, threads);
    }
    arena_rewind(scratch, mark);
    return true;
}

bool waterfill_floats(const float *x, size_t n, double budget, int threads, Arena *scratch, Level *out)
{
    return waterfill_budgets(x, n, &budget, 1, threads, scratch, out);
}

/* ---- few entries: Algorithm 1 of the ATOMO paper finds one heavy entry (p = 1) after another, the largest first ---- */

double waterfill_level(const double *lambda, size_t n, double budget, Arena *scratch)
{
    const ArenaMark mark = arena_mark(scratch);
    double *rising = NEW(scratch, double, n), *sum = NEW(scratch, double, n + 1);
    size_t all = 0;
    assert(budget > 0);
    if (!rising || !sum)
        return NAN;
    for (size_t i = 0; i < n; i++)
        if (lambda[i] != 0)
            rising[all++] = fabs(lambda[i]);
    stats_sort(rising, all);
    sum[0] = 0;
    for (size_t i = 0; i < all; i++)
        sum[i + 1] = sum[i] + rising[i];
    size_t light = all;
    while (light && rising[light - 1] * (budget - (double)(all - light)) > sum[light] * BALANCED)
        light--;
    const double level = budget >= (double)all ? 0 : sum[light] / (budget - (double)(all - light));
    arena_rewind(scratch, mark);
    return level;
}

/* ---- the level with the fewest expected atoms for a given variance.
 *
 * At the water level t an entry of magnitude v <= t adds v (t - v) to the variance. So V(t) = t T1 - T2, where T1 = sum v and
 * T2 = sum v^2 over the entries up to t. V rises with t, and is linear between two neighbouring entries. A scan from the
 * smallest bin up finds the bin in which V reaches the wanted variance. After the last digit T1 and T2 are known, and
 * t = (V + T2) / T1.
 *
 * For a large vector, a sample gives a range that probably contains the level. One pass sums the entries below the range and
 * collects those in the range, and only the collected entries are searched. If the level is not in the range, the whole
 * vector is searched. ---- */

/* Sums over the entries below the current bin. */
typedef struct {
    double sum, squares;
} Under;

/* Returns the first bin, from the smallest up, at whose upper edge (as the water level) the variance exceeds `variance`.
 * Returns the number of bins if there is none. Adds the sums of all bins before it to `under`. */
static uint64_t find_rise(const Count *c, double variance, Under *under)
{
    const Bins *bins = &c->piece[0];
    uint64_t d = 0;
    for (; d < UINT64_C(1) << c->width; d++) {
        const double next = bits_double(((c->prefix << c->width | d) + 1) << c->shift);
        const Under with = {under->sum + bins->sum[d], under->squares + bins->squares[d]};
        if (next > (double)FLT_MAX || next * with.sum - with.squares > variance)
            break;
        *under = with;
    }
    return d;
}

/* Returns the water level at which the entries of x, and the smaller entries summed in `under`, have the variance
 * `variance`. Returns NaN if memory runs out. */
static double search_rise(const float *x, size_t n, Under under, double variance, int threads, Arena *scratch)
{
    const ArenaMark mark = arena_mark(scratch);
    Count c;
    if (n && !count_open(&c, x, n, scratch))
        return NAN;
    for (bool last = !n; !last;) {
        count_digit(&c, threads);
        const uint64_t bin = find_rise(&c, variance, &under);
        last = c.shift == FLOAT_ZEROS;
        if (!last) {
            next_digit(&c, bin);
        } else if (bin < UINT64_C(1) << c.width) { /* it holds the largest light entry (below the water level) */
            under.sum += c.piece[0].sum[bin];
            under.squares += c.piece[0].squares[bin];
        }
    }
    arena_rewind(scratch, mark);
    return under.sum > 0 ? (variance + under.squares) / under.sum : 0;
}

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
        sample ? search_rise(sample, SAMPLE, (Under){0}, eps * blockwise_squares(sample, SAMPLE, 1), 1, scratch) : NAN;
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
            level = search_rise(r.between, r.count, r.under, eps * r.squares, threads, scratch);
            arena_rewind(scratch, mark);
            return level;
        }
        arena_rewind(scratch, mark);
    }
    return search_rise(x, n, (Under){0}, eps * blockwise_squares(x, n, threads), threads, scratch);
}
