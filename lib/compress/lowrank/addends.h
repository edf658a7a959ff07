/* addends.h -- payloads that are floats of which workers' add up, element by element.
 *
 *     kind:8 = 1  { x:f32 } x count            merged: kind:8 = 2  workers:varint  { sum:f32 } x count
 *
 * Where floats travel raw, kind 0 takes the place of kind 1. */
#ifndef ATOMO_ADDENDS_H
#define ATOMO_ADDENDS_H

#include "codec/compressor.h"

/* Refuses other kinds and lengths, and what is not finite. */
Status addends_get(const Call *c, Bytes in, unsigned own_kind, size_t count, float *x);

/* The values of a payload, or where it `merges` of a sum of payloads, and how many workers' they are; NULL with the reason
 * recorded. `what` names a value. */
const uint8_t *addends_open(const Call *c, Bytes in, unsigned own_kind, bool merges, size_t count,
                            const char *what, uint64_t *workers);

/* Those of each of `workers` payloads that merge, and into `out` what their sum begins with. */
Status addends_open_all(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, size_t count,
                        const char *what, const uint8_t ***values, Buf *out);

/* ERR_NUMERIC when a sum is beyond `most`. */
Status addends_merge(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, size_t count,
                     double most, Buf *out);

/* out[i] = the sum of in[w][i] over `workers` payloads' float32 values. A value whose product with `factor` is beyond
 * float32 is ERR_CORRUPT, a sum beyond `most` ERR_NUMERIC; `what` names the values. */
Status addends_sum(const Call *c, const uint8_t *const *in, size_t workers, size_t count, double factor,
                   double most, const char *what, uint8_t *out);

#endif
