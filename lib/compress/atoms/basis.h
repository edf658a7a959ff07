/* basis.h -- ATOMO in an orthonormal basis: a codec of this family supplies the transform T, the rest is here.
 *
 *     coefficients = T x, the payload is a draw of them (atoms.h), x^ = T' (decoded coefficients)
 *
 * T preserves lengths, so the tensor's error is that of the coefficients and the closed form of atoms.h holds. A
 * transform is only given vectors of zeros, or with a largest magnitude from 2^-40 to 2^40: other vectors are scaled by
 * a power of two before it and back after it, so it cannot overflow float32. */
#ifndef ATOMO_BASIS_H
#define ATOMO_BASIS_H

#include "compress/atoms/atoms.h"

typedef struct Basis {
    AtomPlan (*plan)(const Call *c);                               /* its keys; a budget */
    Status (*forward)(const Call *c, const float *x, float *coef); /* n to n, apart from one another */
    Status (*inverse)(const Call *c, float *coef, float *x);       /* may leave anything in coef */
} Basis;

/* The keys of such a codec; T has `double ratio; int probs, empty, draw`. BASIS_PLAN is their AtomPlan, or what
 * the Call's plan makes of it. */
#define BASIS_PARAMS(T)                                                                                      \
    PARAM(T, ratio, "0.01", 0, 1, "expected atoms as a share of the elements", .above = true, .rate = true), \
        ATOM_PARAMS(T)
#define BASIS_PLAN(keys, c)                                                                                  \
    atoms_at_level(c, (AtomPlan){.budget = (keys)->ratio * (double)(c)->shape->n,                            \
                                 .probs = (keys)->probs,                                                     \
                                 .empty = (keys)->empty,                                                     \
                                 .draw = (keys)->draw})

/* The hooks of a Compressor whose `basis` says how. */
size_t basis_bound(const Call *c);
Status basis_encode(const Call *c, const float *x, Buf *out);
Status basis_decode(const Call *c, Bytes in, float *x);
double basis_variance(const Call *c, const float *x);
ErrorLaw basis_moments(const Call *c, const float *x, AtomMoments *m);
Status basis_curve(const Call *c, const float *x, CurvePoint *point, size_t *count);

/* ---- for transforms whose atoms travel in another form ---- */

/* The power of two that brings the largest magnitude to about 1; 1 where that is 0, or from 2^-40 to 2^40. */
double basis_lift(float largest);

/* to = from * lift, in place if to == from; false when a product is beyond float32. */
bool basis_scale(const float *from, size_t n, double lift, float *to);

/* True when no draw from x, with this largest magnitude, can decode to a value near the end of float32. */
bool basis_in_range(const AtomPlan *plan, size_t n, float largest);

#endif
