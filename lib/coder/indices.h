/* indices.h -- codes a set of k out of n indices; most payloads that list indices use it.
 *
 *     count:varint  [ form:8  body ]              no form or body when count is 0 or n
 *
 * form < 160: the body holds the gaps in Golomb code number `form` (golomb.h). form = 255: the body is a
 * bitmap; index i is bit i % 8, from the low end, of byte i / 8. The writer computes both bodies' sizes and
 * takes the shorter body. Both bodies are padded with zero bits to a whole byte. */
#ifndef ATOMO_INDICES_H
#define ATOMO_INDICES_H

#include "base/arena.h"
#include "coder/golomb.h"

/* Returns an upper bound on the bytes that indices_put writes for any set of indices under n. */
size_t indices_bound(size_t n);

/* Writes a set out of n indices to `out`; every index must be less than n. A long set is written on up to
 * `threads` threads if `scratch` has memory for its bytes; the result is the same. NULL is fine for one thread. */
void indices_put(const Indices *set, size_t n, int threads, Arena *scratch, Buf *out);

/* Reads a set out of n indices into memory from `scratch`. If the bytes are not what indices_put writes,
 * sets in->bad and returns false. If `scratch` is out of memory, returns false without setting in->bad. */
bool indices_get(Reader *in, size_t n, Arena *scratch, Places *set);

/* Returns the expected bits of a coded random set. The set contains each of n indices independently with
 * probability count / n. */
double indices_mean_bits(double n, double count);

#endif
