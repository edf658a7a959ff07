/* elias.h -- Elias' gamma and omega codes of integers from 1 on. Both codes are prefix codes.
 *
 *     gamma   floor(log2 v) zeros, then v in binary                              4 -> 00100
 *     omega   groups of bits, then a zero. The last group is v in binary. Each earlier group
 *             is the length of the next group minus 1                        4 -> 10 100 0
 *
 * A code's length depends only on floor(log2 v). So a histogram of floor(log2 v) gives the exact total length
 * of many codes. */
#ifndef ATOMO_ELIAS_H
#define ATOMO_ELIAS_H

#include "base/bits.h"

/* Returns floor(log2 v); v >= 1. */
static inline unsigned log2_floor(uint64_t v)
{
    return 63 - (unsigned)__builtin_clzll(v);
}

/* Return the code length of v in bits; v >= 1. */
unsigned gamma_bits(uint64_t v);
unsigned omega_bits(uint64_t v);

void gamma_put(BitWriter *w, uint64_t v);

/* Return the decoded number. If the bits are not the code of a 64-bit number, they return 0 and set r->bad. */
uint64_t gamma_get(BitReader *r);
uint64_t omega_get(BitReader *r);

/* A code word: the low `length` bits of `bits`. omega_word returns the code word of v in the omega code, 1 <= v
 * < 2^32. */
typedef struct {
    uint64_t bits;
    unsigned length;
} CodeWord;
CodeWord omega_word(uint32_t v);

/* A code word in one number, for tables: its bits above the low WORD_SHIFT bits, which hold their number. */
enum { WORD_SHIFT = 6, WORD_LENGTH = (1 << WORD_SHIFT) - 1 };
static inline uint64_t word_make(uint64_t bits, unsigned length)
{
    return bits << WORD_SHIFT | length;
}
/* Returns a followed by b; both together may have BITS_MAX bits. */
static inline uint64_t words_join(uint64_t a, uint64_t b)
{
    const unsigned length = b & WORD_LENGTH;
    return word_make((a >> WORD_SHIFT) << length | b >> WORD_SHIFT, (a & WORD_LENGTH) + length);
}
static inline void word_put(BitWriter *w, uint64_t word)
{
    bits_put(w, word >> WORD_SHIFT, word & WORD_LENGTH);
}

/* ---- tables: functions that write and read tables of Huffman code lengths or of rANS frequencies. A table
 * lists the symbols that occur. A number of the table, such as a code length, is sent as its difference d
 * from the previous number. Symbols and differences are in Elias' gamma code:
 *
 *     gamma(1 + symbols listed)  { gamma(1 + symbols skipped before this symbol) ... } x symbols listed
 *     difference: gamma(1 + 2 d) for a number d >= 0 above the previous number, gamma(2 d) for d > 0 below ---- */

/* Writes a table to `w`. If `w` is NULL, it only counts the table's bits. */
typedef struct {
    BitWriter *w;
    uint64_t bits;
    uint32_t next;   /* the least symbol that may be listed next: 1 more than the last listed symbol */
    unsigned before; /* the previous number of the table, from which the next difference is counted */
} TableWalk;

void walk_gamma(TableWalk *t, uint64_t v);
void walk_step(TableWalk *t, unsigned number);

/* Reads a table. scan_step returns false for a number outside `least` .. `most`. */
typedef struct {
    BitReader *r;
    uint32_t alphabet, next;
    unsigned before;
} TableScan;

bool scan_step(TableScan *t, unsigned least, unsigned most, unsigned *number);

#endif
