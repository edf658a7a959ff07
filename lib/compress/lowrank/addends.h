/* addends.h -- payloads that are lists of floats. A merged payload holds the element-wise sums over workers.
 *
 *     kind:8 = 1  { x:f32 } x count            merged: kind:8 = 2  workers:varint  { sum:f32 } x count
 *
 * Payloads of raw floats have kind 0 instead of 1. The functions' argument `own_kind` is the kind of an
 * unmerged payload. */
#ifndef ATOMO_ADDENDS_H
#define ATOMO_ADDENDS_H

#include "compress/compressor.h"

/* Returns a pointer to the `count` float32 values in a payload, and sets *workers to the number of merged
 * workers (1 if not merged). Returns NULL if the payload is refused; c->err has the reason. `merges`: true if
 * merged payloads are accepted. `what` is the word for a value in error messages. */
const uint8_t *addends_open(const Call *c, Bytes in, unsigned own_kind, bool merges, size_t count,
                            const char *what, uint64_t *workers);

/* Opens `workers` payloads in[w], and sets (*values)[w] to the values of in[w]. Writes the beginning of the
 * merged payload to `out`: kind and number of workers. */
Status addends_open_all(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, size_t count,
                        const char *what, const uint8_t ***values, Buf *out);

/* Reads the `count` values of one worker's payload or of a merged payload. Refuses payloads of another kind or
 * length, and values that are not finite. */
Status addends_get(const Call *c, Bytes in, unsigned own_kind, size_t count, float *x);

/* Merges the payloads of `workers` workers into `out`; m: addends_numbers of this round. Raw floats travel in the last round,
 * and the payloads of earlier rounds are then empty. */
Status addends_merge(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, const Numbers *m, Buf *out);

/* Sets out[i] to the sum of in[w][i] over workers w, all float32. ERR_CORRUPT: a value times `factor` is beyond
 * float32's range. ERR_NUMERIC: a sum has a magnitude above `most`. `what` is the word for a value in error
 * messages. */
Status addends_sum(const Call *c, const uint8_t *const *in, size_t workers, size_t count, double factor,
                   double most, const char *what, uint8_t *out);

/* Returns the Numbers of a payload with `count` float32 numbers, which addends_sum adds with `factor` and
 * `most`. */
Numbers addends_numbers(size_t count, double factor, double most);

/* Writes p_k = M q_k, where M is (rows, cols), p_k is row k of p (count, rows), and q_k is row k of q (count,
 * cols). A result that exceeds float32's range becomes an infinity. The same bytes on any machine. */
void thin_right(const float *m, size_t rows, size_t cols, const float *q, size_t count, int threads, float *p);

#endif
