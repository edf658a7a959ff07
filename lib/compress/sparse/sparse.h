/* sparse.h -- the payload that all sparsifiers share: which elements, and their floats as they are.
 *
 *     kind:8  set  { x:f32 } x count         set: indices.h
 *
 * Elements that are not there decode to zero, so zeros never travel. Where this would not be smaller than the
 * tensor, the tensor travels as floats. */
#ifndef ATOMO_SPARSE_H
#define ATOMO_SPARSE_H

#include "codec/compressor.h"
#include "num/select.h"

/* The bound hook. */
size_t picks_bound(const Call *c);

/* max(1, floor(ratio n + 1/2)), n at most */
size_t picks_wanted(const Call *c, double ratio);

Status picks_open(const Call *c, const float *x, Picks *s);
/* Which elements are selected, as indices.h has it. */
Status picks_put_set(const Call *c, const Picks *s, Buf *out);
/* Makes a list of the selection if it has none and is small. */
Status picks_put(const Call *c, Picks *s, Buf *out);

/* What was read, for a codec that knows more of its own payloads than that values are finite and not zero. */
typedef struct {
    size_t count;
    float least, largest; /* magnitudes; least is infinite for none */
} PicksRead;
Status picks_get(const Call *c, Bytes in, float *x, PicksRead *read);

#endif
