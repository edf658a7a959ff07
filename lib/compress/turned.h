/* turned.h -- the payload of quantisers that work on a randomly rotated vector, one block (rotation.h) after another.
 *
 *     kind:8  { scale:f32 codes } x blocks
 *     codes = planes of the first m coordinates' codes, w + 1 wide; planes of the others', w wide (planes.h)
 *
 * For b bits w is b cut off, and of a block's n coordinates m = floor((b - w) n + 1/2), but no fewer than LEAST_SENT
 * where w = 0: the others are then not sent and decode to 0. A code is the number of a level and above it the
 * sign. The estimate is the scale times the levels, turned back. */
#ifndef ATOMO_TURNED_H
#define ATOMO_TURNED_H

#include "../compressor.h"

enum { LEAST_SENT = 32 };

typedef struct {
    double bits;
    int rounds;
    bool signs;  /* one bit, and 1 in place of Lloyd and Max's level */
    bool shrink; /* the scale of least error in place of the unbiased one */
} Turned;

size_t turned_bound(const Call *c);
Status turned_encode(const Call *c, const Turned *t, const float *x, Buf *out);
Status turned_decode(const Call *c, const Turned *t, Bytes in, float *x);

#endif
