/* signed_set.h -- the payload of stc, adaq and strom: the indices and signs of some elements, and one magnitude
 * for all elements or one for each sign. All elements outside the set decode to 0.
 *
 *     kind:8  set  [ { magnitude:f32 } x (1 or 2)  signs ]        the bracket only if the set is not empty
 *
 * `set` is coded as in indices.h; sign k belongs to the k-th element of the set (signs.h). Of two magnitudes the
 * first is for positive elements, the second for negative elements; the magnitude of a sign without elements is 0.
 * Zeros are never in the set. The tensor is sent as raw floats if they are not longer. */
#ifndef ATOMO_SIGNED_SET_H
#define ATOMO_SIGNED_SET_H

#include "codec/compressor.h"
#include "num/select.h"

enum { PLUS, MINUS, SIDES };

typedef struct {
    const Call *c;
    Picks picks;
    size_t count[SIDES]; /* number of selected elements of each sign */
    double sum[SIDES];   /* sum of the magnitudes of the selected elements of each sign */
} SignedSet;

/* Compressor.bound: returns an upper bound on the bytes of a payload. */
size_t signed_set_bound(const Call *c);

/* Opens an empty set of elements of x (shape->n), and x must outlive the set. The caller then selects elements in
 * s->picks (num/select.h), and calls signed_set_count, which computes counts and sums. */
Status signed_set_open(SignedSet *s, const Call *c, const float *x);
Status signed_set_count(SignedSet *s);

/* Writes the payload; `magnitudes` is 1 or 2. */
Status signed_set_put(const SignedSet *s, const float *magnitude, size_t magnitudes, Buf *out);

/* Decodes a payload into x (shape->n). Refuses sets of more than `most` elements. Sets `magnitude` to the two
 * magnitudes, or to zeros for an empty set. */
Status signed_set_get(const Call *c, Bytes in, size_t magnitudes, size_t most, float *x,
                      float magnitude[SIDES]);

#endif
