/* offers.c -- divides a bit budget between tensors (offers.h). An offer is a point of a tensor's curve of
 * variance against bits. A tensor's hull is the lower convex hull of its offers; mu is the variance that one
 * more bit must save. */
#include "compress/atoms/offers.h"

#include <math.h>

enum { JUMPS_MOST = 16 };

/* Offers that save less than the share LEAST_SAVING of the variance are ignored: so small a saving may be
 * rounding error. */
#define LEAST_SAVING 1e-9

/* ---- the offers for one tensor ---- */

static const CurvePoint *corner(const Offers *o, size_t k)
{
    return &o->item[o->corner[k]].at;
}

static double saving(const CurvePoint *from, const CurvePoint *to)
{
    return (from->variance - to->variance) / (to->bits - from->bits);
}

/* Returns the variance saved per bit from corner k - 1 to corner k > 0 of the lower convex hull. The saving
 * falls as k grows. */
static double saving_at(const Offers *o, size_t k)
{
    return saving(corner(o, k - 1), corner(o, k));
}

static void find_corners(Offers *o)
{
    for (size_t i = 0; i < o->count; i++) {
        const CurvePoint *p = &o->item[i].at;
        while (o->corners && p->bits <= corner(o, o->corners - 1)->bits &&
               p->variance < corner(o, o->corners - 1)->variance)
            o->corners--;
        if (o->corners && p->variance >= corner(o, o->corners - 1)->variance * (1 - LEAST_SAVING))
            continue;
        while (o->corners > 1 && saving_at(o, o->corners - 1) <= saving(corner(o, o->corners - 1), p))
            o->corners--;
        o->corner[o->corners++] = i;
    }
}

Status offers_make(Offers *o, CurvePoint *const curve[OFFER_CODECS], const size_t count[OFFER_CODECS],
                   Arena *a, Error *err)
{
    size_t next[OFFER_CODECS] = {0};
    while (count[0] && next[1] < count[1] && curve[1][next[1]].bits < curve[0][0].bits &&
           curve[1][next[1]].variance > 0)
        next[1]++;
    *o = (Offers){.item = NEW(a, Offer, count[0] + count[1]), .corner = NEW(a, size_t, count[0] + count[1])};
    TRY(arena_check(o->item && o->corner, a, err));
    while (next[0] < count[0] || next[1] < count[1]) {
        const bool second =
            next[0] == count[0] || (next[1] < count[1] && curve[1][next[1]].bits < curve[0][next[0]].bits);
        o->item[o->count++] = (Offer){curve[second][next[second]], second};
        next[second]++;
    }
    find_corners(o);
    return OK;
}

/* Returns the index of the last corner k > 0 of the hull with saving_at(k) >= mu, or 0 if there is none. */
static size_t corner_of(const Offers *o, double mu)
{
    /* invariant: saving_at(low) >= mu or low = 0, and saving_at(high) < mu */
    size_t low = 0, high = o->corners;
    while (high - low > 1) {
        const size_t mid = (low + high) / 2;
        if (saving_at(o, mid) >= mu)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Interpolates the curve at `bits` between its neighbouring points a and b. Returns a if b has water level 0: b
 * is then raw floats or all atoms, with no levels in between. */
static CurvePoint between(const CurvePoint *a, const CurvePoint *b, double bits)
{
    const double share = (bits - a->bits) / (b->bits - a->bits);
    if (b->level == 0 || !(share > 0))
        return *a;
    return (CurvePoint){a->level + share * (b->level - a->level), bits,
                        a->variance + share * (b->variance - a->variance)};
}

/* Returns the offer with the least variance among the offers that take at most `bits`. The offer item[0]
 * must take at most `bits`. */
static Offer best_within(const Offers *o, double bits)
{
    Offer best = o->item[0];
    for (int codec = 0; codec < OFFER_CODECS; codec++) {
        const Offer *last = NULL, *next = NULL;
        for (size_t i = 0; i < o->count && !next; i++)
            if (o->item[i].codec == codec) {
                if (o->item[i].at.bits <= bits)
                    last = &o->item[i];
                else
                    next = &o->item[i];
            }
        if (!last)
            continue;
        const Offer offer = {next ? between(&last->at, &next->at, bits) : last->at, codec};
        best = offer.at.variance < best.at.variance ? offer : best;
    }
    return best;
}

/* ---- dividing the budget between all tensors ---- */

typedef struct {
    const Offers *o;
    size_t tensors;
    const bool *fixed; /* for each tensor: true if its offer is already chosen */
} Market;

static double bits_of(const Market *m, double mu)
{
    double bits = 0;
    for (size_t j = 0; j < m->tensors; j++)
        if (!m->fixed[j])
            bits += corner(&m->o[j], corner_of(&m->o[j], mu))->bits;
    return bits;
}

/* Bounds of the Lagrange multiplier mu at which all tensors without a fixed offer together take `bits`. The
 * bounds are as close as doubles allow. With mu = high the tensors take at most `bits`. With mu = low the
 * tensors take more, unless `bits` suffices for the last corner of every tensor. */
typedef struct {
    double high, low;
} Multiplier;

static Multiplier find_multiplier(const Market *m, double bits)
{
    /* bounds of log2 mu: enough for variances from 2^-300 to 2^300 and for up to 2^70 bits */
    double low = -1000, high = 1000;
    for (int i = 0; i < 100; i++) {
        const double mid = (low + high) / 2;
        if (bits_of(m, exp2(mid)) > bits)
            low = mid;
        else
            high = mid;
    }
    return (Multiplier){exp2(high), exp2(low)};
}

typedef struct {
    double bits, variance;
    /* Index of the first tensor whose next hull corner did not fit in the budget while bits were left; the number
     * of tensors if there is none. */
    size_t cut;
    size_t corner; /* last hull corner of tensor `cut` that fits in the budget */
} Spending;

/* Goes through the tensors without a fixed offer. Moves each tensor from its hull's corner for mu = high
 * towards its corner for mu = low, while the next corner fits in the budget. The first tensor whose next
 * corner does not fit gets the bits that are left, as far as one of its offers can use them. */
static Spending spend(const Market *m, double bits, Offer *chosen)
{
    const Multiplier mu = find_multiplier(m, bits);
    double left = bits - bits_of(m, mu.high);
    Spending spent = {.cut = m->tensors};
    for (size_t j = 0; j < m->tensors; j++) {
        const Offers *o = &m->o[j];
        if (m->fixed[j])
            continue;
        size_t k = corner_of(o, mu.high);
        const size_t end = corner_of(o, mu.low);
        while (k < end && corner(o, k + 1)->bits - corner(o, k)->bits <= left) {
            left -= corner(o, k + 1)->bits - corner(o, k)->bits;
            k++;
        }
        chosen[j] = o->item[o->corner[k]];
        if (k < end && left > 0 && spent.cut == m->tensors) {
            spent.cut = j;
            spent.corner = k;
            chosen[j] = best_within(o, corner(o, k)->bits + left);
            left -= chosen[j].at.bits - corner(o, k)->bits;
        }
        spent.bits += chosen[j].at.bits;
        spent.variance += chosen[j].at.variance;
    }
    return spent;
}

/* Returns the total variance if tensor j takes corner k of its hull and the other tensors share the remaining
 * budget; infinity if that budget is too small. */
static double variance_with(const Market *m, double bits, size_t j, size_t k, Offer *chosen)
{
    const CurvePoint *p = corner(&m->o[j], k);
    const Spending spent = spend(m, bits - p->bits, chosen);
    return spent.bits + p->bits <= bits * (1 + 1e-9) ? p->variance + spent.variance : INFINITY;
}

/* A hull may have a long edge without offers, for example from atoms to raw floats. If the budget ends within
 * the edge, the tensor's best offer may have much more variance than the edge. Then the tensor's offer is fixed
 * at one end of the edge, if that lowers the total variance. The search is repeated for the other tensors,
 * since the budget may then end within an edge of another tensor. */
Status offers_choose(const Offers *o, size_t tensors, double bits, Offer *chosen, Arena *a, Error *err)
{
    bool *fixed = NEW_ZERO(a, bool, tensors);
    const Market m = {o, tensors, fixed};
    TRY(arena_check(fixed, a, err));
    for (size_t rounds = 0;; rounds++) {
        const Spending spent = spend(&m, bits, chosen);
        const size_t j = spent.cut, k = spent.corner;
        if (j == tensors || rounds == JUMPS_MOST)
            return OK;
        fixed[j] = true;
        const double below = variance_with(&m, bits, j, k, chosen);
        const double above = variance_with(&m, bits, j, k + 1, chosen);
        if (spent.variance <= fmin(below, above)) {
            fixed[j] = false;
            spend(&m, bits, chosen);
            return OK;
        }
        chosen[j] = o[j].item[o[j].corner[below < above ? k : k + 1]];
        bits -= chosen[j].at.bits;
    }
}
