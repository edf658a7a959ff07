/* basis.h -- ATOMO in an orthonormal basis: a codec in basis.c supplies the transform T; the rest is common.
 *
 *     coefficients = T x         the payload is a random draw of the coefficients (atoms.h)
 *     x^ = T' (decoded coefficients)
 *
 * T preserves lengths, so the squared error of the tensor equals that of the coefficients, and the closed
 * form of the variance in atoms.h holds.
 *
 * A vector whose largest magnitude is neither 0 nor from 2^-40 to 2^40 is multiplied by a power of two
 * before the transform and divided by it afterwards. So no value inside the transform leaves float32's range.
 * Without a transform the elements themselves are the atoms. */
#ifndef ATOMO_BASIS_H
#define ATOMO_BASIS_H

#include "compress/atoms/atoms.h"

/* The parameters of the codecs in an orthonormal basis, except gspar and lq; a codec's struct of parameters
 * begins with them. */
typedef struct {
    double ratio;
    int probs, empty, draw;
} BasisKeys;

#define BASIS_KEYS                                                                                           \
    PARAM(BasisKeys, ratio, "0.01", 0, 1, "expected atoms as a share of the elements", .above = true,        \
          .rate = true),                                                                                     \
        ATOM_PARAMS(BasisKeys)

/* Returns the plan for a random draw of atoms. If the Call has a CurvePoint, the plan has the CurvePoint's
 * water level. Otherwise the plan has a budget: ratio * n expected atoms. */
AtomPlan basis_plan(const Call *c);

/* Returns the trait that depends on the parameters: UNBIASED, unless empty=resample. */
unsigned basis_traits(const Codec *codec);

/* ---- functions for codecs that use a basis but write another payload ---- */

/* Returns the power of two by which a vector is multiplied so that its largest magnitude, `largest`, becomes
 * about 1. Returns 1 if `largest` is 0 or from 2^-40 to 2^40. */
double basis_lift(float largest);

/* Multiplies the n floats `from` by `lift` into `to`, which may be `from`. Returns false, and leaves `to` as it was, if a
 * product is beyond float32's range. */
bool basis_scale(const float *from, size_t n, double lift, float *to);

/* Fails if an estimate of x (shape->n), for some draw of atoms, might be beyond float32's range. */
Status basis_in_range(const Call *c, const AtomPlan *plan, const float *x);

#endif
