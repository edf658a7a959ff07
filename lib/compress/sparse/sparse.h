/* sparse.h -- the payload of sparsifiers that send the values of some elements unchanged:
 *
 *     kind:8  set  { x:f32 } x count         set: the indices (indices.h)
 *
 * All elements outside the set decode to zero; zeros are never sent. If raw floats are not longer than this
 * payload, raw floats are sent instead. */
#ifndef ATOMO_SPARSE_H
#define ATOMO_SPARSE_H

#include "compress/compressor.h"
#include "math/select.h"

/* Returns the number of elements to send: min(n, max(1, floor(ratio n + 1/2))). */
size_t picks_wanted(size_t n, double ratio);

/* Opens an empty selection (math/select.h) of elements of x. Memory comes from scratch; x must outlive the
 * selection. */
Status picks_open(const Call *c, const float *x, Picks *s);

/* Writes the payload of a selection: the kind, the set of indices and the values. */
Status picks_put(const Call *c, Picks *s, Buf *out);

/* Writes the payload of a selection. If the selection is empty, first selects the elements of largest
 * magnitude. */
Status picks_put_some(const Call *c, Picks *s, Buf *out);

/* Decodes a payload into x. Refuses values that are 0 or not finite. Codecs check further rules of their
 * payloads with *read. */
typedef struct {
    size_t count;
    float least, largest; /* magnitudes; infinity and 0 without values */
} PicksRead;
Status picks_get(const Call *c, Bytes in, float *x, PicksRead *read);

/* Implementations of the hooks `bound` and `decode`. picks_decode is for codecs without further rules on their
 * payloads. */
size_t picks_bound(const Call *c);
Status picks_decode(const Call *c, Bytes in, float *x);

/* ---- the payload of the codecs stc, adaq and strom ----
 *
 * The payload has the indices and the signs of a
 * set of elements, and one magnitude for all elements or one for each sign. Elements outside the set decode to
 * 0.
 *
 *     kind:8  set  [ { magnitude:f32 } x (1 or 2)  signs ]        the bracket only if the set is not empty
 *
 * indices.h describes the code of `set`, and signs.h the code of `signs`; sign k is the sign of the k-th
 * element of the set. If there are two magnitudes, the first is for positive elements and the second for
 * negative elements. A sign without elements has magnitude 0. Zeros are never in the set. The tensor is sent as
 * raw floats if raw floats are not longer. */

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
