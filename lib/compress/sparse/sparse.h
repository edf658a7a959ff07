/* sparse.h -- the payload of sparsifiers that send the values of some elements unchanged:
 *
 *     kind:8  set  { x:f32 } x count         set: the indices (indices.h)
 *
 * All other elements decode to zero; zeros are never sent. The tensor is sent raw where that is no longer. */
#ifndef ATOMO_SPARSE_H
#define ATOMO_SPARSE_H

#include "codec/compressor.h"
#include "num/select.h"

/* min(n, max(1, floor(ratio n + 1/2))): how many of n elements a share `ratio` is. */
size_t picks_wanted(size_t n, double ratio);

/* An empty selection (num/select.h) of x (shape->n), in scratch; x is kept. */
Status picks_open(const Call *c, const float *x, Picks *s);

/* Writes the payload of a selection; picks_put_set writes the set of indices only. */
Status picks_put(const Call *c, Picks *s, Buf *out);
Status picks_put_set(const Call *c, const Picks *s, Buf *out);

/* The same, with the elements of largest magnitude if the selection is empty. */
Status picks_put_some(const Call *c, Picks *s, Buf *out);

/* Payload -> x (shape->n). Refuses values that are 0 or not finite. `read` is for codecs whose payloads obey further
 * rules. */
typedef struct {
    size_t count;
    float least, largest; /* magnitudes of the values; infinity and 0 if there are none */
} PicksRead;
Status picks_get(const Call *c, Bytes in, float *x, PicksRead *read);

/* Hooks; picks_decode is for codecs without further rules. */
size_t picks_bound(const Call *c);
Status picks_decode(const Call *c, Bytes in, float *x);

#endif
