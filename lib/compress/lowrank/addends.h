/* addends.h -- payloads of floats, whose merge is the element-by-element sum over workers.
 *
 *     kind:8 = 1  { x:f32 } x count            merged: kind:8 = 2  workers:varint  { sum:f32 } x count
 *
 * Payloads of raw floats have kind 0 in place of kind 1; the argument `own_kind` of the functions is this kind. */
#ifndef ATOMO_ADDENDS_H
#define ATOMO_ADDENDS_H

#include "codec/compressor.h"

/* Reads the `count` values of a payload, of one worker or merged. Refuses other kinds and lengths, and values that
 * are not finite. */
Status addends_get(const Call *c, Bytes in, unsigned own_kind, size_t count, float *x);

/* Returns a pointer to the values (count float32) inside a payload, and sets *workers to the number of workers in
 * the merge (1 if not merged). NULL: refused, and c->err says why. `merges`: merged payloads are allowed. `what`
 * is the word for a value in messages. */
const uint8_t *addends_open(const Call *c, Bytes in, unsigned own_kind, bool merges, size_t count,
                            const char *what, uint64_t *workers);

/* Opens the payloads of `workers` workers, and writes the kind and the number of workers of their merged payload to
 * `out`. */
Status addends_open_all(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, size_t count,
                        const char *what, const uint8_t ***values, Buf *out);

/* Merges the payloads of `workers` workers. ERR_NUMERIC: the magnitude of a sum is above `most`. */
Status addends_merge(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, size_t count,
                     double most, Buf *out);

/* Sets out[i] to the sum over w of in[w][i], all float32. ERR_CORRUPT: a value times `factor` is beyond float32.
 * ERR_NUMERIC: the magnitude of a sum is above `most`. `what` is the word for a value in messages. */
Status addends_sum(const Call *c, const uint8_t *const *in, size_t workers, size_t count, double factor,
                   double most, const char *what, uint8_t *out);

#endif
