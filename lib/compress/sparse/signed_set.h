/* signed_set.h -- some elements of a vector, each as plus or minus a magnitude that its side shares; the others
 * are zero. What stc, adaq and strom send.
 *
 *     kind:8  set  [ { magnitude:f32 } x (1 or 2)  signs ]        the bracket only when the set is not empty
 *
 * The set is indices.h's; sign k, that of the set's k-th element, is a bit as in signs.h. With two magnitudes the
 * first is that of the positive side, the second that of the negative one, and 0 for a side without elements.
 * Zeros are never part of the set. Where this would not be smaller than the tensor, that travels as floats. */
#ifndef ATOMO_SIGNED_SET_H
#define ATOMO_SIGNED_SET_H

#include "codec/compressor.h"
#include "num/select.h"

enum { PLUS, MINUS, SIDES };

typedef struct {
    const Call *c;
    Picks picks;
    size_t count[SIDES]; /* of those in the set */
    double sum[SIDES];   /* of their magnitudes */
} SignedSet;

/* The bound hook. */
size_t signed_set_bound(const Call *c);

/* An empty set; what is selected in its picks becomes the set, whose counts and sums are then told. */
Status signed_set_open(SignedSet *s, const Call *c, const float *x);
Status signed_set_count(SignedSet *s);

/* `magnitudes` is 1 or 2. */
Status signed_set_put(const SignedSet *s, const float *magnitude, size_t magnitudes, Buf *out);

/* Refuses sets of more than `most` elements too. `magnitude` gets what was read, zeros for an empty set. */
Status signed_set_get(const Call *c, Bytes in, size_t magnitudes, size_t most, float *x,
                      float magnitude[SIDES]);

#endif
