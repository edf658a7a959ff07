/* signed_set.h -- the payload of the codecs stc, adaq and strom. The payload has the indices and the signs of a
 * set of elements, and one magnitude for all elements or one for each sign. Elements outside the set decode to
 * 0.
 *
 *     kind:8  set  [ { magnitude:f32 } x (1 or 2)  signs ]        the bracket only if the set is not empty
 *
 * indices.h describes the code of `set`, and signs.h the code of `signs`; sign k is the sign of the k-th
 * element of the set. If there are two magnitudes, the first is for positive elements and the second for
 * negative elements. A sign without elements has magnitude 0. Zeros are never in the set. The tensor is sent as
 * raw floats if raw floats are not longer. */
#ifndef ATOMO_SIGNED_SET_H
#define ATOMO_SIGNED_SET_H

#include "compress/compressor.h"
#include "math/select.h"

enum { PLUS, MINUS, SIDES };

typedef struct {
    const Call *c;
    Picks picks;
    size_t count[SIDES]; /* number of selected elements of each sign */
    double sum[SIDES];   /* sum of the magnitudes of the selected elements of each sign */
} SignedSet;

/* The hook `bound` of a Compressor. */
size_t signed_set_bound(const Call *c);

/* Opens an empty set of elements of x (shape->n), which must outlive the set. To fill it, select elements in
 * s->picks (math/select.h), then call signed_set_count, which computes counts and sums. */
Status signed_set_open(SignedSet *s, const Call *c, const float *x);
Status signed_set_count(SignedSet *s);

/* Writes the payload; `magnitudes` is 1 or 2. */
Status signed_set_put(const SignedSet *s, const float *magnitude, size_t magnitudes, Buf *out);

/* Decodes a payload into x (shape->n). Refuses a set of more than `most` elements. Sets magnitude[] to the two
 * magnitudes, or to zeros if the set is empty. */
Status signed_set_get(const Call *c, Bytes in, size_t magnitudes, size_t most, float *x,
                      float magnitude[SIDES]);

#endif
