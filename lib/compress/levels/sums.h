/* sums.h -- payloads of integers that merge without being decoded, because all workers use the same scales.
 *
 *     round 0   kind:8=1 { scale:f32 } x scales
 *               merged by maximum: kind:8=2 workers:varint { scale:f32 } x scales
 *     round 1   kind:8=1 codes                     planes of n codes 0 ... top, `bits` wide (planes.h)
 *               merged: kind:8=2 workers:varint sums of codes     planes, bits + ceil(log2 workers) wide
 *     raw       round 0 is empty                   merged: kind:8=2 workers:varint { sum:f32 } x n
 *
 * Tensors whose shape makes raw floats shorter have the payloads of the line `raw`. If the scales are not
 * shared, there is only one round, with the payload kind:8=1 { scale:f32 } x scales codes, and payloads do not
 * merge. */
#ifndef ATOMO_SUMS_H
#define ATOMO_SUMS_H

#include "compress/compressor.h"
#include "coder/planes.h"

typedef struct {
    const Call *c;
    size_t scales;
    int bits;
    uint32_t top;
    bool shared, raw;
} Sums;

static inline bool sums_scale_round(const Sums *s)
{
    return s->shared && s->c->round == 0;
}

/* Points *scale to the merged scales of round 0 in c->heard; fails if a scale is not finite or is negative. */
Status sums_heard(const Sums *s, const uint8_t **scale);

/* Merges the payloads of a round. */
Status sums_merge(const Sums *s, const Bytes *in, size_t count, Buf *out);

#endif
