/* elias.h -- Elias' self-delimiting codes for whole numbers from 1 on.
 *
 *     gamma   floor(log2 v) zeros, then v in binary                              4 -> 00100
 *     omega   groups, the last of them v: each says how long the next one is,
 *             then a zero                                                        4 -> 10 100 0
 *
 * The length of each code depends on the length of v alone, so exact sizes follow from counts of lengths. */
#ifndef ATOMO_ELIAS_H
#define ATOMO_ELIAS_H

#include "base/bits.h"

/* floor(log2 v), v >= 1 */
static inline unsigned log2_floor(uint64_t v)
{
    return 63 - (unsigned)__builtin_clzll(v);
}

/* Lengths in bits; v >= 1. */
unsigned gamma_bits(uint64_t v);
unsigned omega_bits(uint64_t v);

void gamma_put(BitWriter *w, uint64_t v);
void omega_put(BitWriter *w, uint64_t v);

/* The value, or 0 and a bad reader where no 64-bit number's code stands. */
uint64_t gamma_get(BitReader *r);
uint64_t omega_get(BitReader *r);

/* A code as a word: the low `length` bits of `bits`. For 1 <= v < 2^32. */
typedef struct {
    uint64_t bits;
    unsigned length;
} CodeWord;
CodeWord omega_word(uint32_t v);

#endif
