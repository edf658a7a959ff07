/* symbols.h -- an array of codes as Huffman (huffman.h) or rANS (rans.h) symbols, block by block.
 *
 * Codes are bytes while width <= 8, else 32-bit words. Blocks have 2^16 codes. A code is split into a symbol, which
 * goes through the table, and low bits, which are sent as they are.
 *
 *     form:8 = kind + 4 lanes + 16 shift         lanes 0, 1, 2: 1, 4, 16 rANS lanes; Huffman: 0
 *     kind 0   bit planes of all codes, `width` wide (planes.h); lanes and shift are 0
 *     kind 1   table  { length:32 } x blocks  { low stream } x blocks
 *     kind 2          { length:32 } x blocks  { table low stream } x blocks
 *     kind 3   classes: as kind 1 with shift = lead, as kind 2 with shift = 8 + lead
 *
 * Kinds 1 and 2: the symbol is code >> shift, `low` the bit planes of the shift bits below it. A table ends on a
 * whole byte, padded with zeros. There are lengths (of what follows for a block, in bytes) only where n > 2^16.
 *
 * Kind 3 is for rANS and codes of 9 bits or more. Its table has 256 symbols at most: too few where codes of 9 bits
 * and more spread over decades. All magnitudes (a code without its highest bit) that share the position of their
 * highest bit and the `lead` bits behind that are one class; the symbol is 2 class + the code's highest bit, and
 * `low` is length:32 and the remaining bits of all magnitudes.
 *
 * Sparse: where three quarters of the codes or more are one code, the common one, the positions of the other codes
 * and the other codes go as symbols, where that is shorter: no share of a table is as small as the share of a code
 * can be.
 *
 *     sparse     form:8 = 4  common:varint  positions  { symbols of the other codes, in a form above }
 *     positions  rANS: an index set (indices.h). Huffman: gaps:varint  size:varint  { gaps as symbols, size bytes }
 *
 * A gap is a number of common codes, 16 bits wide or as many as n has; 65535 goes on with the next gap.
 *
 * The writer takes the shortest form by the costs of huffman.h and rans.h. */
#ifndef ATOMO_SYMBOLS_H
#define ATOMO_SYMBOLS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/parallel.h"

typedef enum { CODER_HUFFMAN, CODER_RANS } SymbolCoder;
enum { SYMBOLS_WIDTH = 17 }; /* at most */

typedef struct {
    SymbolCoder coder;
    size_t n;
    int width, threads;
    const void *data;
    /* Writes a block's codes; may be called several times for a block, from several threads. */
    void (*make)(const void *data, size_t block, void *code);
    /* Takes a block's codes; false for codes that no encoder makes. */
    bool (*take)(const void *data, size_t block, const void *code);
    double
        *entropy; /* NULL, or where symbols_put stores the order-0 bound of the streams it sends, in bits */
} Symbols;

/* Returns an upper bound on the bytes that symbols_put writes. */
size_t symbols_most(size_t n, int width);

/* Writes the shortest form; fails only with ERR_MEMORY. */
Status symbols_put(const Symbols *s, Buf *out, Arena *scratch, Error *err);

/* ERR_CORRUPT, with a reason in `why`, for bytes that symbols_put does not write and for codes that `take` refuses.
 * */
Status symbols_get(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why);

#endif
