/* turned.h -- what drive and eden make of a rotated block (blocks.h):
 *
 *     scale:f32  planes of the first m coordinates' codes, w + 1 wide  planes of the others', w wide (planes.h)
 *
 * For b bits w is b cut off, and of a block's n coordinates m = floor((b - w) n + 1/2), but no fewer than LEAST_SENT
 * where w = 0: the others are then not sent and decode to 0. A code is the number of a level and above it the
 * sign. The estimate is the scale times the levels, turned back. */
#ifndef ATOMO_TURNED_H
#define ATOMO_TURNED_H

#include "compress/rotated/blocks.h"

enum { LEAST_SENT = 32 };

typedef struct {
    double bits;
    bool signs;  /* one bit, and 1 in place of Lloyd and Max's level */
    bool shrink; /* the scale of least error in place of the unbiased one */
} Turned;

RotatedBlocks turned_blocks(const Call *c, const Turned *t, int64_t rounds);

#endif
