/* basis.h -- ATOMO in an orthonormal basis: a codec of the family is its transform, and this is the rest.
 *
 *     coefficients = T x, a draw of them (atoms.h) travels, x^ = T' of what was drawn
 *
 * T preserves lengths, so the error of the coefficients is the error of the tensor and atoms.h's closed form
 * stands. A transform sees numbers whose largest magnitude is between 2^-40 and 2^40, or zeros alone: others are
 * scaled by a power of two on the way in and back on the way out, so it need not think of float32's ends. */
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

/* A power of two that brings the largest magnitude to about 1; 1 where that is between 2^-40 and 2^40, or 0. */
double basis_lift(float largest);

/* from * lift -> to, which may be the same; false when one of the products is beyond float32. */
bool basis_scale(const float *from, size_t n, double lift, float *to);

/* True when no draw from x can decode to a value near float32's end, whatever the coins say. */
bool basis_in_range(const AtomPlan *plan, size_t n, float largest);

#endif
