/* golomb.h -- Golomb codes for the gaps of an increasing sequence of indices (Golomb 1966).
 *
 * Format: a unary quotient is zeros followed by a 1, and the last byte is padded with zero bits (bits.h). There
 * is no end mark: the reader knows the number of indices.
 *
 *     gap = index - previous - 1 = q m + r           previous = -1 for the first index
 *     { 0 x q  1  top(r)  low(r):shift } x count      m = ratio 2^shift
 *     top(r) = floor(r / 2^shift) < ratio in floor(log2 ratio) bits or 1 bit more (truncated binary)
 *
 * Here m is 1, 2, 3, or 4, 5, 6 or 7 times a power of two. Rice codes allow only powers of two. The larger
 * choice halves the redundancy, to less than 1.3 % of the entropy of gaps with a geometric distribution of
 * mean 4 or more. */
#ifndef ATOMO_GOLOMB_H
#define ATOMO_GOLOMB_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/parallel.h"

/* An increasing sequence of indices, cut into runs of at most INDEX_RUN indices, so that the whole sequence need not
 * be in memory at once. */
enum { INDEX_RUN = 1024 };
typedef struct Indices Indices;
struct Indices {
    size_t count, runs; /* count: number of indices in all runs together; runs: number of runs */
    const void *data;
    /* Returns the array of indices with number `run`, which may lie in `room`, and sets *count to its length.
     * Several threads may call it at once. */
    const size_t *(*run)(const Indices *set, size_t run, size_t room[INDEX_RUN], size_t *count);
};

Indices indices_list(const size_t *index, size_t count);

/* The indices i < n with bit i % 64 of bits[i / 64] set. `count` is their number. The bits from n on, to a multiple of
 * INDEX_RUN bits, are there and not set. */
Indices indices_bits(const uint64_t *bits, size_t n, size_t count);

/* The code number of a Golomb code in payloads. The numbers 0, 1, 2, ... mean m = 1, 2, 3, 4, 5, 6, 7, 8, 10,
 * 12, 14, 16, 20, ... */
typedef uint8_t GolombCode;
enum { GOLOMB_CODES = 160 };

uint64_t golomb_m(GolombCode code);

/* Returns the exact number of bits of all gaps of `set` in this code. */
uint64_t golomb_bits(GolombCode code, const Indices *set);

/* Returns a code in which the gaps of `set` take few bits, and sets *bits to their number. The search starts
 * at a good code for geometrically distributed gaps with the same mean. It goes to smaller and to larger m
 * until the bits stop falling, so gaps of another distribution may have a better code. `set` must not be
 * empty. */
GolombCode golomb_best(const Indices *set, int threads, uint64_t *bits);

/* Suppose that each index is in the set with probability `density` (0 < density <= 1), independently. Returns
 * the expected number of bits per gap in the best code. */
double golomb_mean_bits(double density);

/* Writes the gaps of `set`. `bits` must be golomb_bits(code, set). Up to `threads` threads write a long set if
 * `scratch` (may be NULL) has memory for its bytes; otherwise the caller's thread writes it. */
void golomb_put(GolombCode code, const Indices *set, uint64_t bits, int threads, Arena *scratch, Buf *out);

/* A decoded set of indices, in rising order. Each index is stored as its position in its block of 2^16
 * indices. */
typedef struct {
    uint16_t *at;   /* (count) */
    size_t *before; /* (blocks + 1) number of indices before each block; the last entry is `count` */
    size_t count;
} Places;

/* Reads set->count indices, each below n, into `set`. Returns false if the bytes end too soon, if an index is
 * not below n, or if a padding bit is not zero. */
bool golomb_get(Reader *in, GolombCode code, size_t n, Places *set);

#endif
