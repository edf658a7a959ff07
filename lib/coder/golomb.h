/* golomb.h -- Golomb codes for the gaps of an increasing sequence of indices (Golomb 1966; Rice codes are the
 * Golomb codes whose m is a power of two).
 *
 * Format: a unary quotient is zeros followed by a 1, and the last byte is padded with zero bits (bits.h). There is
 * no end mark: the reader knows the number of indices.
 *
 *     gap = index - previous - 1 = q m + r           previous = -1 for the first index
 *     { 0 x q  1  top(r)  low(r):shift } x count      m = ratio 2^shift
 *     top(r) = floor(r / 2^shift) < ratio in floor(log2 ratio) bits or 1 bit more (truncated binary)
 *
 * For m >= 4 the next larger m is at most a quarter larger, while Rice codes permit only powers of two. The finer
 * choice halves the redundancy, to less than 1.2 % of the entropy of a geometrically distributed gap with mean 4
 * or more. */
#ifndef ATOMO_GOLOMB_H
#define ATOMO_GOLOMB_H

#include "base/bytes.h"
#include "base/parallel.h"

/* An increasing sequence of indices, delivered in runs (parts), so that the whole list need not be in memory. */
typedef struct Indices Indices;
struct Indices {
    size_t count, runs; /* count: number of indices in all runs together; runs: number of runs */
    const void *data;
    /* Returns the indices of run number `run` and sets *count to their number; the indices are valid until the
     * next call. */
    const size_t *(*run)(const Indices *set, size_t run, size_t *count);
};

Indices indices_list(const size_t *index, size_t count); /* Returns a list as a sequence of one run. */

/* The number that stands for a Golomb code in payloads: codes 0, 1, 2, ... have m = 1, 2, 3, 4, 5, 6, 7, 8, 10,
 * 12, 14, 16, 20, ... */
typedef uint8_t GolombCode;
enum { GOLOMB_CODES = 160 };

uint64_t golomb_m(GolombCode code);

/* Returns the exact number of bits of all gaps of the set in this code. */
uint64_t golomb_bits(GolombCode code, const Indices *set);

/* Finds the code with the fewest bits for the set's gaps by local search, starting from the best code for
 * geometric gaps of the same mean. Returns the code and sets *bits to its bits. The sequence must not be empty. */
GolombCode golomb_best(const Indices *set, uint64_t *bits);

/* Returns the mean bits per gap with the best code when each index is in the set independently with probability
 * `density`, 0 < density <= 1. */
double golomb_mean_bits(double density);

/* Writes the set's gaps; `bits` is the result of golomb_bits for the same code and set. */
void golomb_put(GolombCode code, const Indices *set, uint64_t bits, Buf *out);

/* A decoded set of indices: the position of each index within its block of 2^16, in rising order. */
typedef struct {
    uint16_t *at;   /* (count) */
    size_t *before; /* (blocks + 1) number of indices before each block; the last entry is `count` */
    size_t count;
} Places;

/* Reads set->count indices, each below n, into `set`. Returns false when the bytes end too soon, an index is n or
 * more, or padding is not zero. */
bool golomb_get(Reader *in, GolombCode code, size_t n, Places *set);

#endif
