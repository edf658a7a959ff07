/* atoms_cost.c -- expected bits and variance of a draw of atoms: at one water level tau (p = min(1, |x| /
 * tau)), at the level that meets a number of bits, and at many levels (the curve).
 *
 * Levels are searched on a profile of the magnitudes |x|: a histogram over the leading bits of the float, with
 * counts and sums for each bin. If the water level is a bin's lower edge v, three numbers are exact: the number
 * of heavy atoms (p = 1), the expected number of kept light atoms (p < 1) S1 / v, and the variance v S1 - S2.
 * S1 and S2 are the sums of |x| and x^2 over |x| < v. */
#include "compress/atoms/atoms.h"

#include "math/phase.h"

#include <float.h>
#include <math.h>

/* ---- bits and variance at one water level ---- */

/* Returns the expected bits of a list of light atoms (p < 1), if `light` of n atoms are expected in the list.
 * Each listed atom takes an index and `each` more bits; a list that is not empty also takes the float tau
 * and, on average, 4 bits of padding. */
static double light_bits(size_t n, double light, double each)
{
    const double any = -expm1(-light); /* about the probability that the list is not empty */
    return indices_mean_bits((double)n, light) + any * (32 + 4) + each * light;
}

double atoms_light_bits(size_t n, double light)
{
    return light_bits(n, light, 1);
}

double atoms_bits(size_t n, double heavy, double light)
{
    return 8 + indices_mean_bits((double)n, heavy) + 32 * heavy + atoms_light_bits(n, light);
}

double atoms_phase_bits(size_t n, double heavy, double light)
{
    return 8 + indices_mean_bits((double)n, heavy) + 64 * heavy + light_bits(n, light, PHASE_BITS);
}

typedef struct {
    double variance;
    AtomMoments moments;
} BlockSpread;

typedef struct {
    const float *x;
    size_t n;
    double tau;
    BlockSpread *block; /* for each block: the sums over its elements */
} SpreadJob;

static void spread_block(void *data, size_t block)
{
    const SpreadJob *job = data;
    const float *x = job->x + block * BLOCK;
    BlockSpread sum = {.moments.none = 1};
    for (size_t i = 0; i < block_size(job->n, block); i++) {
        const double lambda = fabs((double)x[i]), v = lambda <= job->tau ? lambda * (job->tau - lambda) : 0;
        sum.variance += v;
        sum.moments.squares += v * v;
        sum.moments.fourths += v * job->tau * job->tau - 6 * v * v;
        sum.moments.weighted += v * lambda * lambda;
        sum.moments.none *= lambda < job->tau ? 1 - lambda / job->tau : lambda == 0;
    }
    job->block[block] = sum;
}

double atoms_spread(const Call *c, float tau, const float *x, size_t n, AtomMoments *m)
{
    SpreadJob job = {x, n, (double)tau, NEW(c->scratch, BlockSpread, blocks_of(n))};
    double sum = 0;
    *m = (AtomMoments){.none = 1};
    if (!job.block)
        return NAN;
    parallel_for(c->threads, blocks_of(n), spread_block, &job);
    for (size_t b = 0; b < blocks_of(n); b++) {
        sum += job.block[b].variance;
        m->squares += job.block[b].moments.squares;
        m->fourths += job.block[b].moments.fourths;
        m->weighted += job.block[b].moments.weighted;
        m->none *= job.block[b].moments.none;
    }
    return sum;
}

/* ---- the profile: a histogram of magnitudes, with sums ---- */

typedef struct {
    double sum, square;
    uint64_t count;
} Bin;

typedef struct {
    int shift; /* the bin of a magnitude is (bits of the float) >> shift */
    int bins;
    uint32_t largest; /* the bits of the largest |x| as a float */
    Bin *bin;         /* the counts and sums of each bin */
} Profile;

enum { PIECES_MOST = 8 };

typedef struct {
    const float *x;
    size_t n, pieces;
    Profile piece[PIECES_MOST];
} ProfileJob;

static void profile_piece(void *data, size_t p)
{
    ProfileJob *job = data;
    const float *const x = job->x;
    Bin *const bins = job->piece[p].bin;
    const int shift = job->piece[p].shift;
    const Stretch part = stretch_of(job->n, job->pieces, p);
    uint32_t largest = 0;
    memset(bins, 0, (size_t)job->piece[p].bins * sizeof *bins);
    for (size_t i = part.from; i < part.to; i++) {
        const uint32_t bits = float_bits(x[i]) & 0x7fffffffu;
        const double v = (double)bits_float(bits);
        Bin *bin = &bins[bits >> shift];
        bin->count += bits != 0;
        bin->sum += v;
        bin->square += v * v;
        largest = bits > largest ? bits : largest;
    }
    job->piece[p].largest = largest;
}

static void add_pieces(Profile *all, const Profile *piece, size_t pieces)
{
    *all = piece[0];
    for (size_t p = 1; p < pieces; p++) {
        for (int b = 0; b < all->bins; b++) {
            all->bin[b].count += piece[p].bin[b].count;
            all->bin[b].sum += piece[p].bin[b].sum;
            all->bin[b].square += piece[p].bin[b].square;
        }
        all->largest = piece[p].largest > all->largest ? piece[p].largest : all->largest;
    }
}

/* Turns the bins' counts and sums into cumulative ones: the number of magnitudes at or above each bin's lower
 * edge, and the sums of the magnitudes below that edge. The last bin is for NaN, so it is empty, and its sums
 * become the sums over all magnitudes. */
static void accumulate(Profile *p)
{
    Bin under = {0};
    uint64_t above = 0;
    for (int b = p->bins - 1; b >= 0; b--) {
        const uint64_t count = p->bin[b].count;
        p->bin[b].count = above += count;
    }
    for (int b = 0; b < p->bins; b++) {
        const Bin own = p->bin[b];
        p->bin[b].sum = under.sum;
        p->bin[b].square = under.square;
        /* skips the empty bins, which are most bins, because every addition to a cumulative sum must wait for
         * the previous one */
        if (own.sum > 0) {
            under.sum += own.sum;
            under.square += own.square;
        }
    }
}

/* Sets *profile to the cumulative profile of x, n > 0, in scratch; false: out of memory. */
static bool make_profile(const float *x, size_t n, int shift, int threads, Arena *scratch, Profile *profile)
{
    const size_t blocks = blocks_of(n);
    const int bins = 1 << (31 - shift);
    ProfileJob job = {.x = x, .n = n, .pieces = blocks < PIECES_MOST ? blocks : PIECES_MOST};
    for (size_t p = 0; p < job.pieces; p++) {
        job.piece[p] = (Profile){shift, bins, 0, NEW(scratch, Bin, (size_t)bins)};
        if (!job.piece[p].bin)
            return false;
    }
    parallel_for(threads, job.pieces, profile_piece, &job);
    add_pieces(profile, job.piece, job.pieces);
    accumulate(profile);
    return true;
}

static double edge(const Profile *p, int bin)
{
    return (double)bits_float((uint32_t)bin << p->shift);
}

/* ---- the water level that meets a number of bits ---- */

enum { LEVEL_SHIFT = 16, LAST_EDGE = 0x7f7f /* the bin of the largest finite floats */ };

static double cost_at(const Profile *p, size_t n, int bin)
{
    return atoms_bits(n, (double)p->bin[bin].count, p->bin[bin].sum / edge(p, bin));
}

/* Returns the water level at which the payload is expected to take `bits`. As the expected bits fall when the
 * level rises, bisects the lower edges of the bins, then interpolates between two edges. */
static double search(const Profile *p, size_t n, double bits)
{
    int low = 1, high = LAST_EDGE; /* edge 0 is the magnitude 0, which is not a water level */
    if (bits >= atoms_bits(n, (double)p->bin[0].count, 0))
        return 0;
    while (high - low > 1) {
        const int mid = (low + high) / 2;
        if (cost_at(p, n, mid) > bits)
            low = mid;
        else
            high = mid;
    }
    const double from = cost_at(p, n, low), to = cost_at(p, n, high);
    const double share = from > to ? fmin(1, fmax(0, (from - bits) / (from - to))) : 0;
    const double level = edge(p, low) + share * (edge(p, high) - edge(p, low));
    /* at the water level |x|_1, the largest that is used, the probabilities sum to 1 */
    return fmin(level, p->bin[p->bins - 1].sum);
}

double atoms_level_of_bits(const float *x, size_t n, double bits, int threads, Arena *scratch)
{
    const ArenaMark mark = arena_mark(scratch);
    Profile profile;
    if (!n)
        return 0;
    if (!make_profile(x, n, LEVEL_SHIFT, threads, scratch, &profile))
        return NAN;
    const double level = search(&profile, n, bits);
    arena_rewind(scratch, mark);
    return level;
}

/* ---- the curve of bits and variance over all water levels ---- */

/* CURVE_SHIFT gives 16 bins per octave (factor 2): between two edges, bits and variance differ from a straight
 * line by less than 2e-4 of their values. */
enum { CURVE_SHIFT = 19 };

typedef struct {
    size_t n;
    double most; /* bits of the shortest payload that keeps every atom */
    CurvePoint *point;
    size_t count;
} AtomCurve;

/* Appends the point of a water level to the curve, after removing previous points that need at least as many
 * bits. Returns false if the level needs at least as many bits as a payload that keeps every atom. */
static bool add_level(AtomCurve *curve, double level, const Bin *at)
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

/* Appends points at falling water levels, from |x|_1, at which one kept atom is expected. At levels of max |x|
 * or more no atom is heavy (p = 1). */
static void add_levels(AtomCurve *curve, const Profile *p)
{
    const Bin all = {p->bin[p->bins - 1].sum, p->bin[p->bins - 1].square, 0};
    const double top = fmin(all.sum, (double)FLT_MAX), largest = (double)bits_float(p->largest);
    bool beyond = false;
    if (all.sum == 0)
        return;
    add_level(curve, top, &all);
    for (int b = (int)(float_bits((float)top) >> p->shift); b > 0; b--) {
        const double level = edge(p, b);
        if (!beyond && level < largest) {
            beyond = true;
            if (largest < top)
                add_level(curve, largest, &all);
        }
        if (level < top && !add_level(curve, level, &p->bin[b]))
            return;
    }
}

Status atoms_curve(const Call *c, const float *x, size_t n, CurvePoint *point, size_t *count)
{
    AtomCurve curve = {.n = n, .most = 8 * (double)raw_size(c), .point = point};
    Profile profile;
    if (n && !make_profile(x, n, CURVE_SHIFT, c->threads, c->scratch, &profile))
        return arena_fail(c->scratch, c->err);
    const uint64_t atoms = n ? profile.bin[0].count : 0;
    curve.most = fmin(curve.most, atoms_bits(n, (double)atoms, 0));
    if (atoms)
        add_levels(&curve, &profile);
    curve.point[curve.count++] = (CurvePoint){0, curve.most, 0};
    *count = curve.count;
    return OK;
}
