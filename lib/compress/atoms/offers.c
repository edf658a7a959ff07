/* offers.c -- see offers.h. */
#include "compress/atoms/offers.h"

#include <math.h>

enum { JUMPS_MOST = 16 };

/* Offers that save less than this share of the variance are ignored: their atoms are rounding errors. */
#define LEAST_SAVING 1e-9

/* ---- one tensor ---- */

static const CurvePoint *corner(const Offers *o, size_t k)
{
    return &o->item[o->corner[k]].at;
}

/* Variance saved per bit between two points. */
static double saving(const CurvePoint *from, const CurvePoint *to)
{
    return (from->variance - to->variance) / (to->bits - from->bits);
}

/* Variance saved per bit from corner k - 1 to corner k > 0; falls with k. */
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
    if (!o->item || !o->corner)
        return arena_fail(a, err);
    while (next[0] < count[0] || next[1] < count[1]) {
        const bool second =
            next[0] == count[0] || (next[1] < count[1] && curve[1][next[1]].bits < curve[0][next[0]].bits);
        o->item[o->count++] = (Offer){curve[second][next[second]], second};
        next[second]++;
    }
    find_corners(o);
    return OK;
}

/* The last corner that is reached while each bit saves mu or more. */
static size_t corner_of(const Offers *o, double mu)
{
    size_t low = 0, high = o->corners; /* corner `low` is reached, corner `high` is not */
    while (high - low > 1) {
        const size_t mid = (low + high) / 2;
        if (saving_at(o, mid) >= mu)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Interpolates between neighbours on a codec's curve, except towards level 0, the vector itself. */
static CurvePoint between(const CurvePoint *a, const CurvePoint *b, double bits)
{
    const double share = (bits - a->bits) / (b->bits - a->bits);
    if (b->level == 0 || !(share > 0))
        return *a;
    return (CurvePoint){a->level + share * (b->level - a->level), bits,
                        a->variance + share * (b->variance - a->variance)};
}

/* The offer of least variance for at most `bits`, which must pay for item 0. */
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

/* ---- all tensors ---- */

typedef struct {
    const Offers *o; /* (tensors) */
    size_t tensors;
    const bool *fixed; /* (tensors): the choice for this tensor is made */
} Market;

static double bits_of(const Market *m, double mu)
{
    double bits = 0;
    for (size_t j = 0; j < m->tensors; j++)
        if (!m->fixed[j])
            bits += corner(&m->o[j], corner_of(&m->o[j], mu))->bits;
    return bits;
}

/* The multiplier that spends `bits`, bracketed as closely as doubles allow: `high` spends no more than `bits`; `low`
 * spends more, unless all tensors together cannot. */
typedef struct {
    double high, low;
} Multiplier;

static Multiplier find_multiplier(const Market *m, double bits)
{
    double low = -1000, high = 1000; /* log2: variances from 2^-300 to 2^300, up to 2^70 bits */
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
    size_t cut;    /* the tensor whose next corner did not fit the budget; == tensors: none */
    size_t corner; /* the corner that it has */
} Spending;

/* Takes corners in order while they fit; the first tensor whose next corner does not fit spends the bits left. */
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

/* The total variance with tensor j at its corner k; the other tensors share the rest. Infinite if that is too little. */
static double variance_with(const Market *m, double bits, size_t j, size_t k, Offer *chosen)
{
    const CurvePoint *p = corner(&m->o[j], k);
    const Spending spent = spend(m, bits - p->bits, chosen);
    return spent.bits + p->bits <= bits * (1 + 1e-9) ? p->variance + spent.variance : INFINITY;
}

/* A hull may jump, from one codec to another or from atoms to floats. A tensor that the budget cuts within a jump may lie
 * far above its hull. It is then fixed at one end of the jump if that lowers the total variance, and the other tensors
 * share the rest of the budget; another tensor may be cut then, hence the rounds. */
Status offers_choose(const Offers *o, size_t tensors, double bits, Offer *chosen, Arena *a, Error *err)
{
    bool *fixed = NEW_ZERO(a, bool, tensors);
    const Market m = {o, tensors, fixed};
    if (!fixed)
        return arena_fail(a, err);
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
