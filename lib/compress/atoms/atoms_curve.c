/* atoms_curve.c -- what draws cost and leave at every level, from one pass over the atoms.
 *
 * Magnitudes are counted and summed in bins of the float's leading 12 bits after the sign, 16 to the octave.
 * At a bin's lower edge v the heavy atoms, the expected light ones S1 / v and the variance v S1 - S2 are
 * exact, S1 and S2 being the sums of |x| and x^2 under v. Between two edges bits and variance are off the
 * straight line by 2e-4 of their value. */
#include "compress/atoms/atoms.h"

#include <float.h>
#include <math.h>

enum { SHIFT = 19, BINS = 1 << (31 - SHIFT), PIECES = 8 };

typedef struct {
    double sum, square;
    uint64_t count;
} Bin;

typedef struct {
    Bin bin[BINS];
    uint32_t largest; /* |x|, as bits */
} Profile;

typedef struct {
    const float *x;
    size_t n, pieces;
    Profile *piece; /* (pieces) */
} Count;

static void count_piece(void *data, size_t p)
{
    const Count *c = data;
    Profile *profile = &c->piece[p];
    const Stretch part = stretch_of(c->n, c->pieces, p);
    uint32_t largest = 0;
    memset(profile->bin, 0, sizeof profile->bin);
    for (size_t i = part.from; i < part.to; i++) {
        const uint32_t bits = float_bits(c->x[i]) & 0x7fffffffu;
        const double v = (double)bits_float(bits);
        Bin *bin = &profile->bin[bits >> SHIFT];
        bin->count += bits != 0;
        bin->sum += v;
        bin->square += v * v;
        largest = bits > largest ? bits : largest;
    }
    profile->largest = largest;
}

static void add_pieces(const Count *c)
{
    Profile *all = &c->piece[0];
    for (size_t p = 1; p < c->pieces; p++) {
        const Profile *one = &c->piece[p];
        for (int b = 0; b < BINS; b++) {
            all->bin[b].count += one->bin[b].count;
            all->bin[b].sum += one->bin[b].sum;
            all->bin[b].square += one->bin[b].square;
        }
        all->largest = one->largest > all->largest ? one->largest : all->largest;
    }
}

/* Turns bins into running totals: how many stand at or above each bin's edge, the sums of those under it. The
 * last bin is NaN's: what is left there are the totals. */
static void accumulate(Profile *profile)
{
    Bin under = {0};
    uint64_t above = 0;
    for (int b = BINS - 1; b >= 0; b--)
        profile->bin[b].count = above += profile->bin[b].count;
    for (int b = 0; b < BINS; b++) {
        const Bin own = profile->bin[b];
        profile->bin[b].sum = under.sum;
        profile->bin[b].square = under.square;
        under.sum += own.sum;
        under.square += own.square;
    }
}

typedef struct {
    size_t n;
    double most; /* bits of the vector itself */
    CurvePoint *point;
    size_t count;
} Curve;

/* False when the level costs no less than the vector itself. A level that costs no more than the one before
 * takes its place. */
static bool add_level(Curve *curve, double level, const Bin *at)
{
    const CurvePoint p = {level, atoms_bits(curve->n, (double)at->count, at->sum / level),
                          fmax(0, level * at->sum - at->square)};
    if (p.bits >= curve->most)
        return false;
    while (curve->count && curve->point[curve->count - 1].bits >= p.bits)
        curve->count--;
    curve->point[curve->count++] = p;
    return true;
}

/* From |x|_1, where one atom is spent, down; at max |x| nothing is heavy yet. */
static void add_levels(Curve *curve, const Profile *profile)
{
    const Bin all = {profile->bin[BINS - 1].sum, profile->bin[BINS - 1].square, 0};
    const double top = fmin(all.sum, (double)FLT_MAX), largest = (double)bits_float(profile->largest);
    bool beyond = false;
    if (all.sum == 0)
        return;
    add_level(curve, top, &all);
    for (int b = (int)(float_bits((float)top) >> SHIFT); b > 0; b--) {
        const double level = (double)bits_float((uint32_t)b << SHIFT);
        if (!beyond && level < largest) {
            beyond = true;
            if (largest < top)
                add_level(curve, largest, &all);
        }
        if (level < top && !add_level(curve, level, &profile->bin[b]))
            return;
    }
}

Status atoms_curve(const Call *c, const float *x, size_t n, CurvePoint *point, size_t *count)
{
    const size_t blocks = blocks_of(n);
    Count all = {.x = x, .n = n, .pieces = blocks < PIECES ? blocks : PIECES};
    Curve curve = {.n = n, .most = 8 * (double)raw_size(c), .point = point};
    uint64_t atoms = 0;
    if (n) {
        all.piece = NEW(c->scratch, Profile, all.pieces);
        if (!all.piece)
            return arena_fail(c->scratch, c->err);
        parallel_for(c->threads, all.pieces, count_piece, &all);
        add_pieces(&all);
        accumulate(&all.piece[0]);
        atoms = all.piece[0].bin[0].count;
    }
    curve.most = fmin(curve.most, atoms_bits(n, (double)atoms, 0));
    if (atoms)
        add_levels(&curve, &all.piece[0]);
    curve.point[curve.count++] = (CurvePoint){0, curve.most, 0};
    *count = curve.count;
    return OK;
}
