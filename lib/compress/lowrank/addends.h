/* addends.h -- payloads of floats that add over workers, element by element.
 *
 *     kind:8 = 1  { x:f32 } x count            merged: kind:8 = 2  workers:varint  { sum:f32 } x count
 *
 * In raw payloads kind 0 takes the place of kind 1: `own_kind` is the kind of an unmerged payload. */
#ifndef ATOMO_ADDENDS_H
#define ATOMO_ADDENDS_H

#include "codec/compressor.h"

/* The values (count) of a payload of one worker or merged. Refuses other kinds and lengths, and values that are
 * not finite. */
Status addends_get(const Call *c, Bytes in, unsigned own_kind, size_t count, float *x);

/* The values (count float32) inside a payload and the number of workers they add up. `merges`: merged payloads
 * are allowed. NULL: refused, c->err says why. `what` names a value in messages. */
const uint8_t *addends_open(const Call *c, Bytes in, unsigned own_kind, bool merges, size_t count,
                            const char *what, uint64_t *workers);

/* Opens `workers` payloads and writes the head of their merged payload to `out`. */
Status addends_open_all(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, size_t count,
                        const char *what, const uint8_t ***values, Buf *out);

/* Merges payloads. ERR_NUMERIC: the magnitude of a sum is beyond `most`. */
Status addends_merge(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, size_t count,
                     double most, Buf *out);

/* out[i] = sum over w of in[w][i], all float32. ERR_CORRUPT: a value times `factor` is beyond float32.
 * ERR_NUMERIC: a sum is beyond `most`. `what` names a value in messages. */
Status addends_sum(const Call *c, const uint8_t *const *in, size_t workers, size_t count, double factor,
                   double most, const char *what, uint8_t *out);

#endif
