/* indices.h -- codes a set of k out of n indices; most payloads that list indices use it.
 *
 *     count:varint  [ form:8  body ]              no form or body when count is 0 or n
 *
 * form < 160: the body holds the gaps in Golomb code number `form` (Golomb 1966). form = 255: the body is a
 * bitmap; index i is bit i % 8, from the low end, of byte i / 8. The writer computes both bodies' sizes and
 * takes the shorter body. Both bodies are padded with zero bits to a whole byte.
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
#ifndef ATOMO_INDICES_H
#define ATOMO_INDICES_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/parallel.h"

/* An increasing sequence of indices, cut into runs, so that the whole sequence need not be in memory at once: a run is in
 * memory, or has at most INDEX_RUN indices. */
enum { INDEX_RUN = 1024 };
typedef struct Indices Indices;
struct Indices {
    size_t count, runs; /* count: number of indices in all runs together; runs: number of runs */
    const void *data;
    /* Returns the array of indices with number `run`, which may lie in `room`, and sets *count to its length. */
    const size_t *(*run)(const Indices *set, size_t run, size_t room[INDEX_RUN], size_t *count);
};

Indices indices_list(const size_t *index, size_t count);

/* The indices i < n with bit i % 64 of bits[i / 64] set. `count` is their number. The bits from n on, to a multiple of
 * INDEX_RUN bits, are there and not set. */
Indices indices_bits(const uint64_t *bits, size_t n, size_t count);

/* A decoded set of indices, in rising order. Each index is stored as its position in its block of 2^16
 * indices. */
typedef struct {
    uint16_t *at;   /* (count) */
    size_t *before; /* (blocks + 1) number of indices before each block; the last entry is `count` */
    size_t count;
} Places;

/* Returns an upper bound on the bytes that indices_put writes for any set of indices under n. */
size_t indices_bound(size_t n);

/* Writes a set out of n indices to `out`; every index must be less than n. */
void indices_put(const Indices *set, size_t n, Buf *out);

/* Reads a set out of n indices into memory from `scratch`. If the bytes are not what indices_put writes,
 * sets in->bad and returns false. If `scratch` is out of memory, returns false without setting in->bad. */
bool indices_get(Reader *in, size_t n, Arena *scratch, Places *set);

/* Returns the expected bits of a coded random set. The set contains each of n indices independently with
 * probability count / n. */
double indices_mean_bits(double n, double count);

#endif
