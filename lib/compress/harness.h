/* harness.h -- functions for comparisons and for bit budgets: the entropy of a codec's streams, its expected
 * error, plans over all tensors of a step, and curves of bits against variance. */
#ifndef ATOMO_HARNESS_H
#define ATOMO_HARNESS_H

#include "compress/codec.h"

/* Sums over the symbol streams in one payload. Comparisons compute the metrics entropy_bits, coding_efficiency
 * and raw_fallbacks from these sums. */
struct Streams {
    double entropy_bits; /* order-0 entropy of all symbols, in bits */
    /* encode's estimate of the bits by which this payload exceeds the mean payload over random draws; the mean
     * of `excess` is 0 */
    double excess;
    /* true: `excess` is exact, so that this payload without it has the expected size, as raw floats that no draw chooses */
    bool mean_known;
    bool reported; /* true: encode reported at least one stream */
    bool raw;      /* true: the payload is raw floats */
};

/* Returns E |decode(encode(x)) - x|^2 in closed form. NaN: no closed form is known, or none holds for this
 * x. */
double codec_variance(const Call *c, const float *x);

/* Which errors of one random draw are independent of each other. Comparisons choose their formula for
 * standard errors accordingly. ELEMENTWISE: the errors of different elements. ATOMWISE: the errors of
 * different atoms (the terms of the decomposition of a gradient from which the codec draws). DEPENDENT: none,
 * for example because one random offset decides all errors. ROTATED: the errors of different elements, but
 * only nearly, so that they do not give the variance of the error's inner product with the gradient. */
typedef enum { ELEMENTWISE, ATOMWISE, ROTATED, DEPENDENT } ErrorLaw;

/* Sums over atoms, where v is the variance of an atom's estimate and lambda the atom's magnitude. The error has
 * (sum v)^2 / sum v^2 degrees of freedom, and the gain <estimate, g> / |g|^2 has variance sum v lambda^2 /
 * |g|^4. */
typedef struct {
    double squares, weighted; /* sum v^2, sum v lambda^2 */
    /* sum of the fourth cumulants, v^2 (1 / (p (1 - p)) - 6) for an atom that is kept with probability p; 0: unknown */
    double fourths;
    double none;              /* probability that a draw keeps no atom, and decodes to zeros */
    bool elements;            /* the atoms are the elements */
} AtomMoments;

/* Returns which errors of the codec on x are independent. Fills `m` only if the result is ATOMWISE. */
ErrorLaw codec_moments(const Call *c, const float *x, AtomMoments *m);

/* Returns the l2 norm of the residual in c->state; NaN: the codec keeps no residual, or c->state is NULL. */
double codec_residual(const Call *c);

/* One worker's tensors of one step, for codecs that divide a budget between tensors. */
typedef struct {
    size_t count;     /* 1 or more */
    const Call *call; /* (count) the Calls that encode will get, except for the member `plan` */
    /* Returns the values of tensor j, or NULL and sets *err. The values are valid until the next call of
     * `load`: only one tensor need be in memory. */
    const float *(*load)(void *data, size_t j, Error *err);
    void *data;
} Step;

/* Returns the bytes of a tensor's plan record; 0: the codec plans nothing. */
size_t codec_plan_size(const Codec *codec);
/* Writes step->count records of codec_plan_size bytes to `plan`. Call.plan then points to the record of a
 * tensor. */
Status codec_plan(const Step *step, void *plan);

/* Expected size and error of a codec that keeps an atom of magnitude |a| with probability min(1, |a| / level).
 * With level 0 the whole tensor is sent, in the codec's shortest format. */
typedef struct {
    double level;
    double bits;     /* expected bits of the payload, kind byte included */
    double variance; /* E |decode(encode(x)) - x|^2 */
} CurvePoint;

/* upper bound on the points of a curve: 16 points per octave over float32's range, and a few more */
enum { CURVE_MOST = 4200 };

#endif
