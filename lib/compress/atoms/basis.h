/* basis.h -- ATOMO in an orthonormal basis: a codec of this family supplies the transform T, the rest is here.
 *
 *     coefficients = T x, the payload is a draw of them (atoms.h), x^ = T' (decoded coefficients)
 *
 * T preserves lengths, so the tensor's error is that of the coefficients and the closed form of atoms.h holds. A
 * transform is only given vectors of zeros, or with a largest magnitude from 2^-40 to 2^40: other vectors are scaled by
 * a power of two before it and back after it, so it cannot overflow float32. Without a transform the elements themselves
 * are the atoms. */
#ifndef ATOMO_BASIS_H
#define ATOMO_BASIS_H

#include "compress/atoms/atoms.h"

/* A Compressor's `family` for the hooks below. */
typedef struct {
    /* The plan for x; NULL: basis_plan. */
    Status (*plan)(const Call *c, const float *x, AtomPlan *plan);
    /* x (n) to coef (n), not in place; NULL: the elements are the atoms. */
    Status (*forward)(const Call *c, const float *x, float *coef);
    Status (*inverse)(const Call *c, float *coef, float *x); /* may overwrite coef */
    bool light;                                              /* payloads are light lists alone */
} Basis;

/* The keys of the family, the first member of a codec's parameters. */
typedef struct {
    double ratio;
    int probs, empty, draw;
} BasisKeys;

#define BASIS_KEYS                                                                                           \
    PARAM(BasisKeys, ratio, "0.01", 0, 1, "expected atoms as a share of the elements", .above = true,        \
          .rate = true),                                                                                     \
        ATOM_PARAMS(BasisKeys)

/* The plan of the keys: a budget of ratio n, or the level of the Call's CurvePoint where it has one. */
AtomPlan basis_plan(const Call *c);

/* The promise that depends on the keys: UNBIASED unless empty draws are drawn again. */
unsigned basis_traits(const Codec *codec);

/* The other hooks of a Compressor with such a family. */
size_t basis_bound(const Call *c);
Status basis_encode(const Call *c, const float *x, Buf *out);
Status basis_decode(const Call *c, Bytes in, float *x);
double basis_variance(const Call *c, const float *x);
ErrorLaw basis_moments(const Call *c, const float *x, AtomMoments *m);
Status basis_curve(const Call *c, const float *x, CurvePoint *point, size_t *count);

#define BASIS_HOOKS                                                                                          \
    .bound = basis_bound, .encode = basis_encode, .decode = basis_decode, .variance = basis_variance
#define BASIS_CURVE                                                                                          \
    .moments = basis_moments, .curve = basis_curve /* for codecs with the keys of the family */

/* ---- for atoms with another payload ---- */

/* The power of two that brings the largest magnitude to about 1; 1 where that is 0, or from 2^-40 to 2^40. */
double basis_lift(float largest);

/* to = from * lift, in place if to == from; false when a product is beyond float32. */
bool basis_scale(const float *from, size_t n, double lift, float *to);

/* True when no draw from x, with this largest magnitude, can decode to a value near the end of float32. */
bool basis_in_range(const AtomPlan *plan, size_t n, float largest);

/* Decodes `payload` with the codec's own hook, to see whether its values are in range: ERR_NUMERIC if not. */
Status basis_check_range(const Call *c, Bytes payload);

#endif
