/* golomb.h -- Golomb codes for the gaps of an increasing sequence of indices (Golomb 1966; Rice's codes are
 * the ones with a power of two for m).
 *
 * READ ME FIRST: a unary quotient is zeros closed by a one, and the bits of the last byte behind the last
 * code are zero (bits.h). Nothing marks the end: the reader knows how many.
 *
 *     gap = index - previous - 1 = q m + r           previous = -1 before the first
 *     { 0 x q  1  top(r)  low(r):shift } x count      m = ratio 2^shift
 *     top(r) = floor(r / 2^shift) < ratio in floor(log2 ratio) bits or one more (truncated binary)
 *
 * Steps of m of at most a fifth, instead of Rice's doubling, halve what the code wastes: under 1.2 % of the
 * entropy of a geometric gap with mean 4 or more. */
#ifndef ATOMO_GOLOMB_H
#define ATOMO_GOLOMB_H

#include "bytes.h"

/* The code's name on the wire: m = 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... for 0, 1, 2, ... */
typedef uint8_t GolombCode;
enum { GOLOMB_CODES = 160 };

uint64_t golomb_m(GolombCode code);

/* Bits that the gaps of index[0 .. count) take, exactly. */
uint64_t golomb_bits(GolombCode code, const size_t *index, size_t count);

/* The code with the fewest bits among those near the gaps' mean, and how many bits. count > 0. */
GolombCode golomb_best(const size_t *index, size_t count, uint64_t *bits);

/* Mean bits of a gap where each place is taken with probability density, 0 < density <= 1, with the best
 * code. */
double golomb_mean_bits(double density);

/* Writes the gaps; `bits` as golomb_bits says. */
void golomb_put(GolombCode code, const size_t *index, size_t count, uint64_t bits, Buf *out);

/* Reads `count` indices under n; false when there are not so many, one is out of range, or padding is not
 * zero. */
bool golomb_get(Reader *in, GolombCode code, size_t n, size_t *index, size_t count);

#endif
