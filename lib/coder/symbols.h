/* symbols.h -- how an array of codes travels as Huffman (huffman.h) or rANS (rans.h) symbols, block by block.
 *
 * Codes are bytes while width <= 8, else 32-bit words. The symbol of a code is what stands above its `shift`
 * low bits, which travel as they are; Huffman's alphabet is 2^(width - shift), and so is rANS's.
 *
 *     form:8 = kind + 4 lanes + 16 shift         lanes 0, 1, 2: 1, 4, 16
 *     kind 0     bit planes of all codes, `width` wide (planes.h), and no more in form
 *     kind 1     table  { length:32 } x blocks  { low stream } x blocks
 *     kind 2            { length:32 } x blocks  { table low stream } x blocks
 *
 * A table ends on a whole byte, padded with zeros; `low` is bit planes `shift` wide; there are lengths only
 * where n > 2^16. Huffman has no lanes. Where rANS leaves some bytes of a block, lanes is 3: all codes are one block
 * with 4 lanes, whatever n. The writer takes what is shortest by the costs of huffman.h and
 * rans.h: the shift, a table of each block's own, and kind 0 where symbols would not be shorter.
 *
 * rANS has 256 symbols at most, too few for codes of 9 bits and more that spread over decades, so that these
 * may go by classes instead: a class has the magnitudes (all bits but the highest) that share their place and
 * their `lead` bits behind the first, the symbol is 2 class + the code's highest bit, and what the class leaves
 * open stands in `low`, behind its length:32. Then `lead` + 8 (tables of the blocks' own) is where shift is,
 * and the kind is 3. Huffman has no such limit and no classes.
 *
 * Codes three quarters of which, or more, are one go as the gaps between the others and the others, where that is
 * shorter: symbols rarer than any table's shares.
 *
 *     sparse     form:8 = 4 + 16 (gap bits - 8)  common:varint  count:varint  size:varint
 *                { symbols of the gaps }  { symbols of the others } */
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
    void (*make)(const void *data, size_t block, void *code); /* the codes of a block; may be asked again */
    bool (*take)(const void *data, size_t block, const void *code); /* false: no encoder's codes */
    double *entropy; /* where not NULL, symbols_put says here what its form cannot be shorter than, in bits */
} Symbols;

/* The most bytes of any codes. */
size_t symbols_most(size_t n, int width);

Status symbols_put(const Symbols *s, Buf *out, Arena *scratch, Error *err);

/* ERR_CORRUPT for anything that symbols_put does not write, and where `take` refuses; `why` then says what. */
Status symbols_get(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why);

#endif
