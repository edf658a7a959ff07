/* basis.h -- ATOMO in an orthonormal basis: a codec supplies the transform T; basis.c does the rest.
 *
 *     coefficients = T x; the payload is a random draw of the coefficients (atoms.h); x^ = T' (decoded coefficients)
 *
 * T preserves lengths, so the squared error of the tensor equals that of the coefficients, and the closed form of
 * the variance in atoms.h holds. Transforms get only zero vectors and vectors whose largest magnitude is from
 * 2^-40 to 2^40: other vectors are multiplied by a power of two before the transform and divided by it afterwards,
 * so that no value leaves float32's range. Without a transform the elements themselves are the atoms. */
#ifndef ATOMO_BASIS_H
#define ATOMO_BASIS_H

#include "compress/atoms/atoms.h"

/* An orthonormal basis; the Compressor.family of a codec that uses the hooks below. */
typedef struct {
    /* Makes the AtomPlan (how tau is chosen) for x; NULL: basis_plan makes the plan. */
    Status (*plan)(const Call *c, const float *x, AtomPlan *plan);
    /* Transforms x (n) to coef (n), not in place; NULL: the elements are the atoms. */
    Status (*forward)(const Call *c, const float *x, float *coef);
    Status (*inverse)(const Call *c, float *coef, float *x); /* may overwrite coef */
    bool light; /* true: payloads list light atoms (p < 1) only */
} Basis;

/* The parameters that all codecs in an orthonormal basis share; a codec's struct of parameters begins with them. */
typedef struct {
    double ratio;
    int probs, empty, draw;
} BasisKeys;

#define BASIS_KEYS                                                                                           \
    PARAM(BasisKeys, ratio, "0.01", 0, 1, "expected atoms as a share of the elements", .above = true,        \
          .rate = true),                                                                                     \
        ATOM_PARAMS(BasisKeys)

/* Returns the plan for a draw: the water level of the Call's CurvePoint if the Call has one, else a budget of
 * ratio * n expected atoms. */
AtomPlan basis_plan(const Call *c);

/* Returns the trait that depends on the parameters: UNBIASED, unless empty=resample. */
unsigned basis_traits(const Codec *codec);

/* The other hooks of a Compressor whose `family` is a Basis. */
size_t basis_bound(const Call *c);
Status basis_encode(const Call *c, const float *x, Buf *out);
Status basis_decode(const Call *c, Bytes in, float *x);
double basis_variance(const Call *c, const float *x);
ErrorLaw basis_moments(const Call *c, const float *x, AtomMoments *m);
Status basis_curve(const Call *c, const float *x, CurvePoint *point, size_t *count);

#define BASIS_HOOKS                                                                                          \
    .bound = basis_bound, .encode = basis_encode, .decode = basis_decode, .variance = basis_variance
#define BASIS_CURVE .moments = basis_moments, .curve = basis_curve /* hooks for codecs with BASIS_KEYS */

/* ---- functions for codecs that use a basis but write another payload ---- */

/* Returns the power of two that scales `largest`, the largest magnitude, to about 1; returns 1 if `largest` is 0
 * or from 2^-40 to 2^40. */
double basis_lift(float largest);

/* Sets `to` to from * lift (in place if to == from); false: a product is beyond float32's range. */
bool basis_scale(const float *from, size_t n, double lift, float *to);

/* True if no draw from an x with this largest magnitude can decode to a value beyond float32's range. */
bool basis_in_range(const AtomPlan *plan, size_t n, float largest);

/* Decodes `payload` with the codec's decode hook; returns ERR_NUMERIC if a decoded value is beyond float32's
 * range. */
Status basis_check_range(const Call *c, Bytes payload);

#endif
