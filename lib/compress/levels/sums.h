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

/* The codes of one worker, or the sums of several workers' codes: bit planes of `width` bits with values of at
 * most `most`. In a payload of raw floats, `planes` points to the floats. */
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

/* Points *scale to the merged scales of round 0 in c->heard; fails if a scale is not finite or is negative. */
Status sums_heard(const Sums *s, const uint8_t **scale);

/* Opens a payload of the last round, of one worker or merged, and sets *t to its codes. Sets *scale to the
 * merged scales of round 0 if all workers share scales, else to the payload's scales. *scale is NULL if the
 * payload has raw floats. */
Status sums_open(const Sums *s, Bytes in, const uint8_t **scale, SumsTotal *t);

/* Reads the codes of the n elements from element `from` on. `from` must be a multiple of 64. n must be a
 * multiple of 64 too, unless the n elements are the last of the tensor. Returns false if a code is out of range
 * or padding bits are set. */
bool sums_get(const SumsTotal *t, size_t from, size_t n, uint32_t *sum);

Status sums_merge(const Sums *s, const Bytes *in, size_t count, Buf *out);

/* ---- for codecs whose payloads all have this format: a Compressor has `.family = &family, SUMS_HOOKS` ---- */

/* The parameters of such a codec: the bits of a code, and whether all workers share the scales. */
typedef struct {
    int64_t bits;
    bool share;
} SumsParams;

typedef struct {
    Sums (*open)(const Call *c);
} SumsFamily;

unsigned sums_traits(const Codec *codec);
int sums_rounds(const Codec *codec);
size_t sums_bound(const Call *c);
Status sums_merge_all(const Call *c, const Bytes *in, size_t count, Buf *out);
Numbers sums_numbers(const Call *c);

#define SUMS_HOOKS                                                                                           \
    .params_size = sizeof(SumsParams), .traits = sums_traits, .rounds = sums_rounds, .bound = sums_bound,    \
    .merge = sums_merge_all, .numbers = sums_numbers

#endif
