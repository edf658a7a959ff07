/* bench_solve.h -- the size of a codec's payloads, and the rate at which they have a given size. */
#ifndef ATOMO_BENCH_SOLVE_H
#define ATOMO_BENCH_SOLVE_H

#include "measure/compare.h"

/* Computes the expected bits per element over all vectors: bits_per_element_expected of a comparison with the same number
 * of repeats. Vectors on which the codec fails are left out; NaN: the codec fails on all. Ignores c->codec and
 * c->record. */
Status compare_bits(const Comparison *c, const Codec *codec, size_t repeats, double *bits, Error *err);

/* Searches for the value of the codec's rate parameter (rate.h) at which `compare_bits` gives `bits`, within the
 * relative error SIZE_TOLERANCE. If no value comes that near, takes the value whose size is nearest to `bits`.
 * Sets `*out` to the codec with this value, or to `codec` itself if it has no rate parameter. Sets `*tries` to
 * the number of calls of `compare_bits`.
 *
 * For random codecs, searches first with repeat 0 only, then with all repeats, from the rate that the first
 * search found. */
Status compare_solve(const Comparison *c, const Codec **out, const Codec *codec, double bits, unsigned *tries, Arena *a, Error *err);

#endif
