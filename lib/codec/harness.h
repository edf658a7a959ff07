/* harness.h -- what comparisons and budgets ask of a codec: the entropy of its streams, the error it expects, plans
 * over all tensors of a step, and curves of bits against variance. */
#ifndef ATOMO_HARNESS_H
#define ATOMO_HARNESS_H

#include "codec/codec.h"

/* Sums over the streams that encode sent, for entropy_bits, coding_efficiency and raw_fallbacks. */
struct Streams {
    double entropy_bits; /* order-0 entropy of all symbols */
    bool reported;       /* encode reported at least one stream */
    bool raw;            /* the payload is raw floats */
};

/* E |decode(encode(x)) - x|^2 in closed form. NaN: none is known, or x is outside the range in which it holds. */
double codec_variance(const Call *c, const float *x);

/* Which parts of the error of one draw are independent: elements, atoms other than elements, or none (one random
 * offset decides all). The standard error behind a comparison's bias z depends on it. */
typedef enum { ELEMENTWISE, ATOMWISE, DEPENDENT } ErrorLaw;

/* Sums over atoms, each with variance v and magnitude lambda. They give the degrees of freedom of the error,
 * (sum v)^2 / sum v^2, and the variance of its gain, sum v lambda^2 / |g|^4. */
typedef struct {
    double squares, weighted; /* sum v^2, sum v lambda^2 */
} AtomMoments;

ErrorLaw codec_moments(const Call *c, const float *x, AtomMoments *m); /* fills m if ATOMWISE */

double codec_residual(const Call *c); /* l2 norm of the residual in c->state; NaN: the codec keeps none */

/* The tensors of one step and worker, for codecs that weigh tensors against each other. */
typedef struct {
    size_t count;     /* 1 or more */
    const Call *call; /* (count) as encode will get them, except for `plan` */
    /* The values of tensor j, valid until the next load, so that a large model needs room for one tensor only.
     * NULL: failed, err says why. */
    const float *(*load)(void *data, size_t j, Error *err);
    void *data;
} Step;

/* codec_plan fills one record of codec_plan_size bytes for each tensor, (count x codec_plan_size); Call.plan
 * points to a tensor's record. Size 0: the codec plans nothing. */
size_t codec_plan_size(const Codec *codec);
Status codec_plan(const Step *step, void *plan);

/* Expected cost and error at a water level: atom a is kept with probability p = min(1, |a| / level).
 * Level 0 is the tensor itself, in the codec's shortest form. */
typedef struct {
    double level;
    double bits;     /* of the payload, kind byte included */
    double variance; /* E |decode(encode(x)) - x|^2 */
} CurvePoint;

enum { CURVE_MOST = 4200 }; /* most points of a curve: 16 per octave over float32's range, and a few */

/* point (CURVE_MOST) -> *count points of falling level and variance and rising bits; the last has level 0.
 * Requires a curve hook. */
Status codec_curve(const Call *c, const float *x, CurvePoint *point, size_t *count);

#endif
