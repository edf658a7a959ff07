/* sparse.h -- the payload of sparsifiers that send the values of some elements unchanged:
 *
 *     kind:8  set  { x:f32 } x count         set: the indices (indices.h)
 *
 * All elements outside the set decode to zero; zeros are never sent. If raw floats are not longer than this
 * payload, raw floats are sent instead. */
#ifndef ATOMO_SPARSE_H
#define ATOMO_SPARSE_H

#include "compress/compressor.h"
#include "coder/indices.h"
#include "math/select.h"

/* Returns the number of elements to send: min(n, max(1, floor(ratio n + 1/2))). */
size_t picks_wanted(size_t n, double ratio);

/* Opens an empty selection (math/select.h) of elements of x. Memory comes from scratch; x must outlive the
 * selection. */
Status picks_open(const Call *c, const float *x, Picks *s);

/* Returns the indices of a selection, which must outlive the result. */
Indices picks_indices(const Picks *s);

/* Writes the payload of a selection: the kind, the set of indices and the values. */
Status picks_put(const Call *c, Picks *s, Buf *out);

/* Decodes a payload into x. Refuses values that are 0 or not finite. Codecs check further rules of their
 * payloads with *read. */
typedef struct {
    size_t count;
    float least, largest; /* magnitudes; infinity and 0 without values */
} PicksRead;
Status picks_get(const Call *c, Bytes in, float *x, PicksRead *read);

/* The hook `bound` of a Compressor. */
size_t picks_bound(const Call *c);

#endif
