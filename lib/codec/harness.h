/* harness.h -- functions for comparisons and for bit budgets: the entropy of a codec's streams, its expected error,
 * plans over all tensors of a step, and curves of bits against variance. */
#ifndef ATOMO_HARNESS_H
#define ATOMO_HARNESS_H

#include "codec/codec.h"

/* Sums over the streams that encode wrote. Comparisons compute entropy_bits, coding_efficiency and raw_fallbacks
 * from these sums. */
struct Streams {
    double entropy_bits; /* order-0 entropy of all symbols, in bits */
    /* bits by which this draw's payload exceeds the mean over draws, as far as encode knows; the mean of `excess`
     * is 0 */
    double excess;
    bool reported; /* true: encode reported at least one stream */
    bool raw;      /* true: the payload is raw floats */
};

/* Returns E |decode(encode(x)) - x|^2 in closed form. NaN: no closed form is known, or none holds for this x. */
double codec_variance(const Call *c, const float *x);

/* Which parts of one draw's error are independent: elements; atoms that are not elements; no parts, as one random
 * offset decides all (DEPENDENT). With ROTATED, elements are nearly independent, but the error's inner product
 * with the gradient g has a variance of its own. The standard errors of a comparison's bias z and gain z depend on
 * this law. */
typedef enum { ELEMENTWISE, ATOMWISE, ROTATED, DEPENDENT } ErrorLaw;

/* Sums over atoms, where v is the variance of an atom's estimate and lambda the atom's magnitude. The error has
 * (sum v)^2 / sum v^2 degrees of freedom, and the gain <estimate, g> / |g|^2 has variance sum v lambda^2 / |g|^4. */
typedef struct {
    double squares, weighted; /* sum v^2, sum v lambda^2 */
    double none;              /* probability that a draw keeps no atom, and decodes to zeros */
} AtomMoments;

/* Returns which parts of one draw's error are independent; fills m only if these parts are atoms (ATOMWISE). */
ErrorLaw codec_moments(const Call *c, const float *x, AtomMoments *m);

/* Returns the l2 norm of the residual in c->state; NaN: the codec keeps no residual. */
double codec_residual(const Call *c);

/* One worker's tensors of one step, for codecs that divide a budget between tensors. */
typedef struct {
    size_t count;     /* 1 or more */
    const Call *call; /* `count` Calls as encode will get them, except for `plan` */
    /* Returns the values of tensor j, which are valid until the next load, so that a large model needs memory for one
     * tensor only. NULL: failed, and *err is set. */
    const float *(*load)(void *data, size_t j, Error *err);
    void *data;
} Step;

/* Returns the bytes of a tensor's plan record; 0: the codec plans nothing. */
size_t codec_plan_size(const Codec *codec);
/* Writes step->count records of codec_plan_size bytes to `plan`. Call.plan then points to the record of a tensor. */
Status codec_plan(const Step *step, void *plan);

/* Expected size and error at a water level: atom a is kept with probability p = min(1, |a| / level). With level 0
 * the whole tensor is sent, in the codec's shortest format. */
typedef struct {
    double level;
    double bits;     /* expected bits of the payload, kind byte included */
    double variance; /* E |decode(encode(x)) - x|^2 */
} CurvePoint;

/* upper bound on the points of a curve: 16 points per octave over float32's range, and a few more */
enum { CURVE_MOST = 4200 };

/* Fills point (CURVE_MOST) with *count points of falling level, falling variance and rising bits; the last point
 * has level 0. Requires a curve hook. */
Status codec_curve(const Call *c, const float *x, CurvePoint *point, size_t *count);

#endif
