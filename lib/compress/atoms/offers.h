/* offers.h -- divides one bit budget between many tensors so that the total variance is least, given each
 * tensor's curve of variance against bits.
 *
 * Minimises sum_j V_j subject to sum_j bits_j = B (V_j: variance of tensor j, B: budget). Each tensor gets bits
 * until one more bit would lower its variance by less than mu; mu is the same for all tensors. At water level
 * tau the variance is V = tau T1 - T2. T1 and T2 are the sums of |lambda| and lambda^2 over the light atoms (p
 * < 1), where lambda is an atom's coefficient. So dV / dtau = T1, and dbits / dtau = -c T1 / tau^2, where c is
 * the bits of one more expected atom. Hence tau_j = sqrt(mu c_j), and an atom is kept with p = min(1, |lambda|
 * / (sqrt(c_j) t)), t = sqrt(mu).
 *
 * Curves need not be convex: raw floats may become shorter than atoms, or the curves of two codecs may cross.
 * So mu is searched on their lower convex hulls. */
#ifndef ATOMO_OFFERS_H
#define ATOMO_OFFERS_H

#include "compress/compressor.h"

typedef struct {
    CurvePoint at;
    int codec; /* index (0 or 1) of the codec whose curve the point is on */
} Offer;

/* All offers for one tensor: points of one or two curves. */
typedef struct {
    Offer *item; /* `count` offers, by rising bits */
    /* `corners` indices in `item`: the corners of the lower convex hull, with rising bits and falling
     * variance */
    size_t *corner;
    size_t count, corners;
} Offers;

enum { OFFER_CODECS = 2 };

/* Joins the curves of one tensor into offers, in memory of `a`. A curve with count 0 is absent. Leaves out
 * points of the second curve that have fewer bits than every point of the first curve. At such points less than
 * one atom is expected, so most draws would be empty. */
Status offers_make(Offers *o, CurvePoint *const curve[OFFER_CODECS], const size_t count[OFFER_CODECS],
                   Arena *a, Error *err);

/* Chooses an offer for every tensor and writes them to `chosen`. The bits of the chosen offers add up to
 * `bits`, as nearly as the offers allow. */
Status offers_choose(const Offers *o, size_t tensors, double bits, Offer *chosen, Arena *a, Error *err);

#endif
