/* golomb.h -- Golomb codes for the gaps of an increasing sequence of indices (Golomb 1966; Rice's codes are
 * the ones with a power of two for m).
 *
 * READ ME FIRST: a unary quotient is zeros closed by a one, and the bits of the last byte behind the last
 * code are zero (bits.h). Nothing marks the end: the reader knows the number of indices.
 *
 *     gap = index - previous - 1 = q m + r           previous = -1 before the first
 *     { 0 x q  1  top(r)  low(r):shift } x count      m = ratio 2^shift
 *     top(r) = floor(r / 2^shift) < ratio in floor(log2 ratio) bits or one more (truncated binary)
 *
 * Steps of m of at most a fifth, instead of Rice's doubling, halve what the code wastes: under 1.2 % of the
 * entropy of a geometric gap with mean 4 or more. */
#ifndef ATOMO_GOLOMB_H
#define ATOMO_GOLOMB_H

#include "base/bytes.h"
#include "base/parallel.h"

/* An increasing sequence of indices, given in runs: it need not be in memory as one list. */
typedef struct Indices Indices;
struct Indices {
    size_t count, runs; /* indices in all */
    const void *data;
    const size_t *(*run)(const Indices *set, size_t run, size_t *count); /* good until the next call */
};

Indices indices_list(const size_t *index, size_t count); /* a list as a sequence of one run */

/* The code's name on the wire: m = 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... for 0, 1, 2, ... */
typedef uint8_t GolombCode;
enum { GOLOMB_CODES = 160 };

uint64_t golomb_m(GolombCode code);

/* Bits that the gaps take, exactly. */
uint64_t golomb_bits(GolombCode code, const Indices *set);

/* The code with the fewest bits among those near the gaps' mean, and how many bits. Not for the empty sequence. */
GolombCode golomb_best(const Indices *set, uint64_t *bits);

/* Mean bits of a gap, with the best code, where each index is in the set with probability density, 0 < density <= 1. */
double golomb_mean_bits(double density);

/* Writes the gaps; bits: the result of golomb_bits. */
void golomb_put(GolombCode code, const Indices *set, uint64_t bits, Buf *out);

/* Indices that were read: the position of each in its block, block after block. */
typedef struct {
    uint16_t *at;   /* (count) */
    size_t *before; /* (blocks + 1): number of indices before each block; last, of all */
    size_t count;
} Places;

/* Fills `set`, whose count is known, with indices under n; false when there are not so many, one is out of
 * range, or padding is not zero. */
bool golomb_get(Reader *in, GolombCode code, size_t n, Places *set);

#endif
