/* huffman.h -- canonical Huffman codes for symbols 0 .. alphabet - 1, with the table of
 * code lengths that a decoder needs.
 *
 * READ ME FIRST: codes are canonical: shorter ones are smaller, and codes of one length rise with
 * their symbols, so that lengths alone determine the codes. A symbol that never occurs has no code. An only
 * symbol has a code of no bits at all. The table, in Elias' gamma code (elias.h):
 *
 *     gamma(1 + symbols with a code)  { gamma(1 + symbols left out before it)  gamma(step) } x those
 *
 * where step = 1 + 2 d for a length that is d >= 0 above the one before (the first: above 8), -2 d for one
 * below; the only symbol of a table has no step. Streams have neither table nor end mark: the reader knows the table and the number of symbols.
 *
 * Lengths are the shortest in sum for the counts, but for codes of more than HUFFMAN_LONGEST bits, which only
 * streams of over 9 million symbols could ask for: their counts are halved until none is longer. */
#ifndef ATOMO_HUFFMAN_H
#define ATOMO_HUFFMAN_H

#include "base/arena.h"
#include "base/bits.h"

enum { HUFFMAN_ALPHABET = 1 << 16, HUFFMAN_LONGEST = 32, HUFFMAN_LOOK = 11 };

typedef struct {
    uint32_t alphabet; /* 1 .. HUFFMAN_ALPHABET */
    uint32_t present;  /* symbols with a code */
    uint8_t *length;   /* (alphabet) bits of a code; 0: no code, or that of an only symbol */
    uint32_t *code;    /* (alphabet) */
    uint16_t *order;   /* (present) symbols by rising code */
    /* Codes of each length: the first, and the place in `order` of its symbol; how many. */
    uint32_t first[HUFFMAN_LONGEST + 1], place[HUFFMAN_LONGEST + 1], count[HUFFMAN_LONGEST + 1];
    uint64_t *look; /* (2^HUFFMAN_LOOK), once huffman_ready: up to three symbols that the next bits hold */
    Arena *room;    /* memory for building, freed after each build */
} Huffman;

/* Memory for codes of this alphabet; false: arena_fail says why. One Huffman may be built again and again. */
bool huffman_open(Huffman *h, uint32_t alphabet, Arena *a);

/* The best code for these counts (alphabet of them, each under 2^47). False: arena_fail says why. */
bool huffman_build(Huffman *h, const uint64_t *count);

/* Exact costs in bits: of the table, and of symbols as often as `count` says (each has a code). */
uint64_t huffman_table_bits(const Huffman *h);
uint64_t huffman_bits(const Huffman *h, const uint64_t *count);

unsigned huffman_longest(const Huffman *h); /* bits of the longest code */

void huffman_table_put(const Huffman *h, BitWriter *w);
/* False for a table that no encoder writes: symbols beyond the alphabet, codes that are not complete. */
bool huffman_table_get(Huffman *h, BitReader *r);

/* Makes `look` for decoding; pays from some thousands of symbols on. False: arena_fail says why. */
bool huffman_ready(Huffman *h);

/* n symbols, each with a code. `symbol` has room for HUFFMAN_SLACK more when read; reading says false for
 * bits that end too soon, and for symbols out of a table that has none. */
enum { HUFFMAN_SLACK = 4 };
void huffman_put(const Huffman *h, const uint16_t *symbol, size_t n, BitWriter *w);
bool huffman_get(const Huffman *h, BitReader *r, size_t n, uint16_t *symbol);

#endif
