/* sums.h -- payloads of integers that add up undecoded, because all workers round at the same scales.
 *
 *     round 0   kind:8=1  { scale:f32 } x scales    merged by maximum: kind:8=2  workers:varint  { scale:f32 } x scales
 *     round 1   kind:8=1  codes                     planes of n codes 0 ... top, `bits` wide (planes.h)
 *               merged: kind:8=2  workers:varint  sums of codes        planes, bits + ceil(log2 workers) wide
 *
 * Where the shape sends floats, round 0 is empty, and floats merge to  kind:8=2  workers:varint  { sum:f32 } x n.
 * Without sharing there is one round, kind:8=1 { scale:f32 } x scales codes, and nothing merges. */
#ifndef ATOMO_SUMS_H
#define ATOMO_SUMS_H

#include "codec/compressor.h"
#include "coder/planes.h"

typedef struct {
    const Call *c;
    size_t scales;
    int bits;
    uint32_t top;
    bool shared, raw;
} Sums;

/* The codes of one worker or the sums of several. */
typedef struct {
    uint64_t workers;
    int width;
    uint32_t most;
    const uint8_t *planes;
} SumsTotal;

enum { SUMS_WIDEST = PLANES_MAX };

static inline bool sums_scale_round(const Sums *s)
{
    return s->shared && s->c->round == 0;
}

size_t sums_codes_size(const Sums *s); /* bytes of one worker's codes */
size_t sums_bound(const Sums *s);      /* of the round that the Call is in */

/* The scales heard in round 0, finite and not below zero. */
Status sums_heard(const Sums *s, const uint8_t **scale);

/* The last round's payload, of kind 1 or 2: its codes and, where they are not shared, its scales, else those that
 * were heard. `scale` becomes NULL where floats are what is merged. */
Status sums_open(const Sums *s, Bytes in, const uint8_t **scale, SumsTotal *t);

/* Codes of n elements from `from` on, a multiple of 64; n is one, too, or ends the tensor. False when one is
 * larger than it can be, or padding is set. */
bool sums_get(const SumsTotal *t, size_t from, size_t n, uint32_t *sum);

/* What a merged payload of floats holds, which sums_open has found. */
Status sums_floats(const Sums *s, const SumsTotal *t, float *x);

Status sums_merge(const Sums *s, const Bytes *in, size_t count, Buf *out);

#endif
