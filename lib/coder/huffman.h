/* huffman.h -- codes an array of small numbers (bytes below `alphabet`) with a canonical Huffman code.
 *
 *     table, padded to a byte  [ { size:u32 } x blocks ]  { stream } x blocks
 *
 * There is a stream for each block of 2^16 numbers, padded to a byte; the sizes of the streams are sent only when n > 2^16.
 *
 * Codes are canonical: shorter codes come first, and among codes of one length a greater number has a greater
 * code. So the code lengths alone determine the codes. A number that never occurs has no code. When only one
 * number occurs, its code has 0 bits. The table, in Elias' gamma code (elias.h):
 *
 *     gamma(1 + numbers with a code)  { gamma(1 + numbers skipped before this one)  gamma(step) } x numbers
 *
 * Let L be the number's code length, and L' that of the previous number that has a code (8 for the first).
 * If L >= L', step = 1 + 2 (L - L'). If L < L', step = 2 (L' - L). A table of one number has no step.
 *
 * The code is optimal for the counts if no code word is longer than HUFFMAN_LONGEST bits. Longer code words
 * need more than 9 million numbers; then all counts are halved until all code words are short enough. */
#ifndef ATOMO_HUFFMAN_H
#define ATOMO_HUFFMAN_H

#include "base/arena.h"
#include "base/bytes.h"

enum { HUFFMAN_ALPHABET = 256, HUFFMAN_LONGEST = 32 };

/* Returns an upper bound on the bytes that huffman_put writes for n numbers below `alphabet`, 2 .. HUFFMAN_ALPHABET. */
size_t huffman_most(size_t n, uint32_t alphabet);

/* Returns the mean length in bits of a code for numbers of which share[k] are k. */
double huffman_mean_bits(const double *share, uint32_t alphabet);

/* Writes the n numbers, and sets count[k] to how many of them are k. */
Status huffman_put(const uint8_t *number, size_t n, uint32_t alphabet, int threads, Arena *scratch, Error *err, Buf *out,
                   uint64_t count[HUFFMAN_ALPHABET]);

/* Reads n numbers, whose bytes must extend to the end of r. Returns ERR_CORRUPT for bytes that huffman_put never writes,
 * with a reason in *why. */
Status huffman_get(Reader *r, size_t n, uint32_t alphabet, int threads, Arena *scratch, Error *err, uint8_t *number,
                   const char **why);

#endif
