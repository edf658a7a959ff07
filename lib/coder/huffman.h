/* huffman.h -- canonical Huffman codes for symbols 0 .. alphabet - 1, with the table of code lengths that a
 * decoder needs.
 *
 * Codes are canonical: shorter codes come first, and among codes of one length a greater symbol has a greater
 * code. So the code lengths alone determine the codes. A symbol that never occurs has no code. When only one
 * symbol occurs, its code has 0 bits. The table, in Elias' gamma code (elias.h):
 *
 *     gamma(1 + symbols with a code)  { gamma(1 + symbols skipped before this symbol)  gamma(step) } x symbols
 *
 * Let L be the symbol's code length, and L' that of the previous symbol that has a code (8 for the first).
 * If L >= L', step = 1 + 2 (L - L'). If L < L', step = 2 (L' - L). A table of one symbol has no step. A stream
 * has no end mark: the reader knows the table and the number of symbols.
 *
 * The code is optimal for the counts if no code word is longer than HUFFMAN_LONGEST bits. Longer code words
 * need more than 9 million symbols; then all counts are halved until all code words are short enough. */
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
    /* For each code length: the first code word of this length, the index in `order` of its symbol, and the
     * number of code words of this length. */
    uint32_t first[HUFFMAN_LONGEST + 1], place[HUFFMAN_LONGEST + 1], count[HUFFMAN_LONGEST + 1];
    /* (2^HUFFMAN_LOOK) up to three symbols for each value of the next HUFFMAN_LOOK bits of a stream;
     * filled by huffman_ready */
    uint64_t *look;
    /* memory for the arrays above; huffman_build also takes memory from it, and gives that memory back */
    Arena *room;
} Huffman;

/* Allocates memory for codes of this alphabet; returns false when there is not enough memory. Then
 * huffman_build may be called any number of times. */
bool huffman_open(Huffman *h, uint32_t alphabet, Arena *a);

/* Builds the optimal code for symbols with the counts count[0 .. alphabet - 1], each below 2^47. Returns false
 * when there is not enough memory. */
bool huffman_build(Huffman *h, const uint64_t *count);

/* huffman_table_bits returns the exact size in bits of the table. huffman_bits returns the exact size of a
 * stream in which symbol s occurs count[s] times; every s that occurs must have a code. */
uint64_t huffman_table_bits(const Huffman *h);
uint64_t huffman_bits(const Huffman *h, const uint64_t *count);

void huffman_table_put(const Huffman *h, BitWriter *w);
/* Reads a table of code lengths. Returns false if a symbol is beyond the alphabet, or if the code lengths form
 * no complete prefix code. */
bool huffman_table_get(Huffman *h, BitReader *r);

/* Fills the table `look`, which speeds up huffman_get for streams of some thousands of symbols or more. Returns
 * false when there is not enough memory. */
bool huffman_ready(Huffman *h);

/* Reads n symbols, written as their code words one after the other. May write up to HUFFMAN_SLACK symbols behind
 * the n symbols, so `symbol` needs room for them. Returns false when the stream ends too soon, or when n > 0
 * and no symbol has a code. */
enum { HUFFMAN_SLACK = 4 };
bool huffman_get(const Huffman *h, BitReader *r, size_t n, uint16_t *symbol);

#endif
