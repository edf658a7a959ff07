/* offers.h -- a sum of bits spent over many curves so that their variances add up to the least.
 *
 * min sum_j V_j  subject to  sum_j bits_j = B: every tensor goes down its curve until the next bit would save
 * less than mu of variance, the same mu for all. Atoms at level tau save T1 per step of tau (V = tau T1 - T2)
 * and cost c T1 / tau^2 bits of it, c being the bits of one more expected atom, so tau_j = sqrt(mu c_j): each
 * atom is kept with p = min(1, |lambda| / (sqrt(c_j) t)), t = sqrt(mu). c_j is the slope of bits over
 * expected atoms at that level, not the mean of all atoms, which has the heavy ones' floats in it.
 *
 * Curves need not be convex (floats instead of atoms, another codec's curve), so mu walks on their lower
 * convex hulls; what the hulls promise is a lower bound for every choice of levels. */
#ifndef ATOMO_OFFERS_H
#define ATOMO_OFFERS_H

#include "codec/compressor.h"

typedef struct {
    CurvePoint at;
    int codec; /* whose curve it is on */
} Offer;

/* What can be had for one tensor. */
typedef struct {
    Offer *item;    /* (count) by rising bits */
    size_t *corner; /* (corners) items of the lower convex hull: bits rise, variance falls */
    size_t count, corners;
} Offers;

enum { OFFER_CODECS = 2 };

/* Joins the curves of one tensor; a count of 0 says that there is none. What the second has for fewer bits than
 * the first's fewest is left out: that is less than one atom, and next to nothing would ever arrive. */
Status offers_make(Offers *o, CurvePoint *const curve[OFFER_CODECS], const size_t count[OFFER_CODECS],
                   Arena *a, Error *err);

/* Chooses for every tensor. The bits come to `bits` where that is possible, else to the nearest that is. */
Status offers_choose(const Offers *o, size_t tensors, double bits, Offer *chosen, Arena *a, Error *err);

#endif
