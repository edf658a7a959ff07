/* waterfill.c -- a radix search for the water level.
 *
 * The bits of positive doubles, read as integers, have the order of the doubles. One pass counts and sums the
 * entries in bins by their leading 12 bits. A scan from the largest bin down finds the bin that contains the
 * water level. The next pass divides this bin by the next bits. Floats take three passes, doubles six, for any
 * data. Let K be the number of entries at or above a value v, and s the budget. All K are heavy (p = 1) if and
 * only if v (s - K) > sum of the entries below v. Sums start with the smallest entries, so the result is
 * accurate even if one entry is 1e30 times as large as all others. */
#include "compress/atoms/waterfill.h"

#include "base/bytes.h"
#include "base/parallel.h"

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
    const float *single; /* the entries: one of `single` and `twice` is NULL */
    const double *twice;
    size_t n;
    int low; /* index of the lowest bit that can be 1 in an entry, as a double of 64 bits: FLOAT_ZEROS or 0 */
} Entries;

typedef struct {
    uint64_t count[BINS];
    double sum[BINS];
} Bins;

static inline double magnitude(const Entries *e, size_t i)
{
    return e->single ? fabs((double)e->single[i]) : fabs(e->twice[i]);
}

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
    const Entries *entries;
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
    const Entries e = *c->entries;
    Bins *bins = &c->piece[p];
    const Stretch part = stretch_of(e.n, c->pieces, p);
    const uint64_t mask = (UINT64_C(1) << c->width) - 1, prefix = c->prefix;
    const int shift = c->shift, above = c->shift + c->width;
    memset(bins, 0, sizeof *bins);
    for (size_t i = part.from; i < part.to; i++) {
        const double v = magnitude(&e, i);
        const uint64_t u = double_bits(v), digit = u >> shift & mask;
        if (u >> above == prefix && u) {
            bins->count[digit]++;
            bins->sum[digit] += v;
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
        }
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

static bool search(const Entries *e, double budget, int threads, Arena *scratch, Level *out)
{
    const size_t blocks = blocks_of(e->n);
    Count c = {
        .entries = e, .pieces = blocks < PIECES ? blocks : PIECES, .shift = SIGNLESS - DIGIT, .width = DIGIT};
    Search f = {.s = budget};
    const ArenaMark mark = arena_mark(scratch);
    *out = (Level){0};
    if (!e->n)
        return true;
    c.piece = NEW(scratch, Bins, c.pieces);
    if (!c.piece)
        return false;
    for (bool first = true;; first = false) {
        count_digit(&c, threads);
        uint64_t nonzero = 0;
        for (int d = 0; first && d < BINS; d++)
            nonzero += c.piece[0].count[d];
        if (first && budget >= (double)nonzero) {
            out->heavy = nonzero;
            break;
        }
        const bool last = c.shift == e->low;
        const int bin = find_bin(&f, &c, last);
        if (bin < 0 || last) {
            *out = (Level){f.below / (budget - (double)f.above), f.above, f.below};
            break;
        }
        c.prefix = c.prefix << c.width | (uint64_t)bin;
        c.width = c.shift - e->low < DIGIT ? c.shift - e->low : DIGIT;
        c.shift -= c.width;
    }
    arena_rewind(scratch, mark);
    return true;
}

bool waterfill_floats(const float *x, size_t n, double budget, int threads, Arena *scratch, Level *out)
{
    const Entries e = {.single = x, .n = n, .low = FLOAT_ZEROS};
    assert(budget > 0);
    return search(&e, budget, threads, scratch, out);
}

/* ---- few entries: Algorithm 1 of the ATOMO paper, which finds one heavy entry (p = 1) after another ---- */

enum { FEW = 64 };

static double few_level(const double *lambda, size_t n, double budget)
{
    double light[FEW];
    size_t left = 0, heavy = 0;
    for (size_t i = 0; i < n; i++)
        if (lambda[i] != 0)
            light[left++] = fabs(lambda[i]);
    if (budget >= (double)left)
        return 0;
    for (;;) {
        size_t top = 0;
        double under = 0;
        for (size_t i = 1; i < left; i++)
            top = light[i] > light[top] ? i : top;
        for (size_t i = 0; i < left; i++)
            under += i == top ? 0 : light[i];
        const double tail = under + light[top], spare = budget - (double)heavy;
        if (!(light[top] * spare > tail * BALANCED))
            return tail / spare;
        light[top] = light[--left];
        heavy++;
    }
}

double waterfill_level(const double *lambda, size_t n, double budget, Arena *scratch)
{
    const Entries e = {.twice = lambda, .n = n, .low = 0};
    Level level;
    assert(budget > 0);
    if (n <= FEW)
        return few_level(lambda, n, budget);
    return search(&e, budget, 1, scratch, &level) ? level.tau : NAN;
}
