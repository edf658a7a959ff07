/* atoms_bits.c -- what a draw will cost on average, and the level that costs a given number of bits.
 *
 * The level is found on a profile: counts and sums of |x| in bins of the float's leading 15 bits after the
 * sign, so at a bin's edge v the heavy atoms and the expected light ones, (sum of |x| under v) / v, are exact. */
#include "compress/atoms/atoms.h"

#include "coder/indices.h"

#include <math.h>

double atoms_light_bits(size_t n, double light)
{
    const double some = -expm1(-light); /* chance that there is one at all, about */
    return indices_mean_bits((double)n, light) + some * (32 + 4) + light;
}

double atoms_bits(size_t n, double heavy, double light)
{
    return 8 + indices_mean_bits((double)n, heavy) + 32 * heavy + atoms_light_bits(n, light);
}

enum { BINS = 1 << 15, SHIFT = 16, PIECES = 8, LAST = 0x7f7f /* bin of the largest finite floats */ };

typedef struct {
    uint64_t count[BINS];
    double sum[BINS];
} Profile;

typedef struct {
    const float *x;
    size_t n, pieces;
    Profile *piece; /* (pieces) */
} Count;

static void count_piece(void *data, size_t p)
{
    const Count *c = data;
    Profile *bins = &c->piece[p];
    const Stretch part = stretch_of(c->n, c->pieces, p);
    memset(bins, 0, sizeof *bins);
    for (size_t i = part.from; i < part.to; i++) {
        const uint32_t bin = (float_bits(c->x[i]) & 0x7fffffffu) >> SHIFT;
        bins->count[bin] += c->x[i] != 0;
        bins->sum[bin] += fabs((double)c->x[i]);
    }
}

/* Turns bins into running totals: count of all entries at or above each bin's edge, sum of those under it. */
static void accumulate(Profile *bins)
{
    uint64_t above = 0;
    double under = 0;
    for (int b = BINS - 1; b >= 0; b--)
        bins->count[b] = above += bins->count[b];
    for (int b = 0; b < BINS; b++) {
        const double sum = bins->sum[b];
        bins->sum[b] = under;
        if (sum > 0) /* most bins are empty, and additions wait for each other */
            under += sum;
    }
}

static double edge(int bin)
{
    return (double)bits_float((uint32_t)bin << SHIFT);
}

static double cost_at(const Profile *bins, size_t n, int bin)
{
    return atoms_bits(n, (double)bins->count[bin], bins->sum[bin] / edge(bin));
}

/* Costs fall as the level rises: halves the range of edges, then goes in between in proportion. */
static double search(const Profile *bins, size_t n, double bits, double total)
{
    int low = 1, high = LAST; /* edge 0 is no level */
    if (bits >= atoms_bits(n, (double)bins->count[0], 0))
        return 0;
    while (high - low > 1) {
        const int mid = (low + high) / 2;
        if (cost_at(bins, n, mid) > bits)
            low = mid;
        else
            high = mid;
    }
    const double from = cost_at(bins, n, low), to = cost_at(bins, n, high);
    const double share = from > to ? fmin(1, fmax(0, (from - bits) / (from - to))) : 0;
    const double level = edge(low) + share * (edge(high) - edge(low));
    return fmin(level, total); /* at |x|_1 the budget is one atom */
}

double atoms_level_of_bits(const float *x, size_t n, double bits, int threads, Arena *scratch)
{
    const size_t blocks = blocks_of(n);
    Count c = {.x = x, .n = n, .pieces = blocks < PIECES ? blocks : PIECES};
    if (!n)
        return 0;
    const ArenaMark mark = arena_mark(scratch);
    c.piece = NEW(scratch, Profile, c.pieces);
    if (!c.piece)
        return NAN;
    parallel_for(threads, c.pieces, count_piece, &c);
    Profile *all = &c.piece[0];
    double total = 0;
    for (int b = 0; b < BINS; b++) {
        for (size_t p = 1; p < c.pieces; p++) {
            all->count[b] += c.piece[p].count[b];
            all->sum[b] += c.piece[p].sum[b];
        }
        if (all->sum[b] > 0)
            total += all->sum[b];
    }
    accumulate(all);
    const double level = search(all, n, bits, total);
    arena_rewind(scratch, mark);
    return level;
}
