/* indices.h -- which k of n: the coder of increasing index sets, shared by all sparse payloads.
 *
 *     count:varint  [ form:8  body ]              no form and body when count is 0 or n
 *     form < 160: Golomb-coded gaps with that code (golomb.h); 255: a bitmap, bit i of byte i / 8 from the
 * low end
 *
 * Whichever body is shorter is taken, by exact arithmetic; both end in zero bits up to a whole byte. */
#ifndef ATOMO_INDICES_H
#define ATOMO_INDICES_H

#include "base/arena.h"
#include "coder/golomb.h"

/* Most bytes that any set out of n takes. */
size_t indices_bound(size_t n);

/* All stay under n. */
void indices_put(const Indices *set, size_t n, Buf *out);

/* Takes a set out of n into scratch. False with in->bad set on what indices_put does not write; false without
 * it when scratch has no memory. */
bool indices_get(Reader *in, size_t n, Arena *scratch, Places *set);

/* Mean bits of a set of which each of n indices is part with the same chance, `count` on average. */
double indices_mean_bits(double n, double count);

#endif
