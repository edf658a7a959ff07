/* huffman.h -- canonical Huffman codes for symbols 0 .. alphabet - 1, with the table of code lengths that a
 * decoder needs.
 *
 * Format: codes are canonical: shorter codes come first, and codes of one length rise with their symbols, so that
 * the lengths alone determine the codes. A symbol that never occurs has no code. When only one symbol occurs, its
 * code has 0 bits. The table, in Elias' gamma code (elias.h):
 *
 *     gamma(1 + symbols with a code)  { gamma(1 + symbols skipped before this symbol)  gamma(step) } x symbols
 *
 * where step = 1 + 2 d for a code length d >= 0 above the previous symbol's code length, and step = 2 d for a code
 * length d > 0 below; for the first symbol d is the difference from 8. A table of one symbol has no step. A stream
 * has no end mark: the reader knows the table and the number of symbols.
 *
 * The code is optimal for the counts unless a code word would be longer than HUFFMAN_LONGEST bits, which needs
 * more than 9 million symbols: all counts are then halved until no code word is longer. */
#ifndef ATOMO_HUFFMAN_H
#define ATOMO_HUFFMAN_H

#include "base/arena.h"
#include "base/bits.h"

enum { HUFFMAN_ALPHABET = 1 << 16, HUFFMAN_LONGEST = 32, HUFFMAN_LOOK = 11 };

typedef struct {
    uint32_t alphabet; /* 1 .. HUFFMAN_ALPHABET */
    uint32_t present;  /* number of symbols that have a code */
    uint8_t *length;   /* (alphabet) code length in bits; 0: the symbol has no code, or is the only symbol */
    uint32_t *code;    /* (alphabet) code words */
    uint16_t *order;   /* (present) the symbols, sorted by their codes */
    /* For each code length: the first code word, the index in `order` of the first code word's symbol, and the
     * number of code words. */
    uint32_t first[HUFFMAN_LONGEST + 1], place[HUFFMAN_LONGEST + 1], count[HUFFMAN_LONGEST + 1];
    /* (2^HUFFMAN_LOOK) up to three symbols for each value of the next HUFFMAN_LOOK bits; filled by
     * huffman_ready */
    uint64_t *look;
    Arena *room; /* memory for building codes, freed after each build */
} Huffman;

/* Allocates memory for codes of this alphabet; false: out of memory, see arena_fail. huffman_build may then be
 * called any number of times. */
bool huffman_open(Huffman *h, uint32_t alphabet, Arena *a);

/* Builds the optimal code for count[0 .. alphabet - 1], the symbols' counts, each below 2^47. False: out of
 * memory, see arena_fail. */
bool huffman_build(Huffman *h, const uint64_t *count);

/* huffman_table_bits returns the exact bits of the table. huffman_bits returns the exact bits of a stream in which
 * symbol s occurs count[s] times; every s that occurs must have a code. */
uint64_t huffman_table_bits(const Huffman *h);
uint64_t huffman_bits(const Huffman *h, const uint64_t *count);

unsigned huffman_longest(const Huffman *h); /* Returns the length of the longest code in bits. */

void huffman_table_put(const Huffman *h, BitWriter *w);
/* Reads a table of code lengths; false for symbols beyond the alphabet and for code lengths that form no complete
 * prefix code. */
bool huffman_table_get(Huffman *h, BitReader *r);

/* Makes the table `look`, which speeds up huffman_get when some thousands of symbols or more are read. False: out of
 * memory. */
bool huffman_ready(Huffman *h);

/* Write and read n symbols, each of which has a code. huffman_get needs room for HUFFMAN_SLACK more symbols behind
 * the n symbols. huffman_get returns false when the bits end too soon, or when n > 0 and the table is empty. */
enum { HUFFMAN_SLACK = 4 };
void huffman_put(const Huffman *h, const uint16_t *symbol, size_t n, BitWriter *w);
bool huffman_get(const Huffman *h, BitReader *r, size_t n, uint16_t *symbol);

#endif
