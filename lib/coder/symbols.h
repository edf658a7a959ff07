/* symbols.h -- entropy-codes an array of codes with rANS (rans.h), block by block.
 *
 * In memory, codes are bytes if width <= 8, else 32-bit words. Blocks have 2^16 codes. A code is split into a
 * symbol, which is entropy-coded, and low bits, which are sent unchanged.
 *
 *     form:8 = kind + 4 lanes + 16 shift         lanes 0, 1, 2: 1, 4, 16 rANS lanes
 *     kind 0   bit planes of all codes, `width` wide (planes.h); lanes and shift are 0
 *     kind 1   table  { length:32 } x blocks  { low stream } x blocks
 *     kind 2          { length:32 } x blocks  { table low stream } x blocks
 *     kind 3   classes: as kind 1 with shift = lead, as kind 2 with shift = 8 + lead
 *
 * Kinds 1 and 2: the symbol is code >> shift, and `low` holds the `shift` lowest bits of all codes as bit
 * planes. A table ends on a whole byte, padded with zeros. The lengths, in bytes, say how much each block
 * takes; they are sent only if n > 2^16.
 *
 * Kind 3 is for codes of 9 bits or more, since a table has at most 256 symbols. The magnitude of a
 * code is the code without its highest bit. A class holds all magnitudes with the same position of the highest
 * set bit and the same `lead` bits below it. The symbol is 2 class + the code's highest bit, and `low` is
 * length:32 followed by the remaining bits of all magnitudes.
 *
 * The sparse form: at least three quarters of the codes equal the most frequent code (the common code). It
 * sends only the positions and values of the other codes, and is used if it is shorter.
 *
 *     sparse     form:8 = 4  common:varint  positions  { symbols of the other codes, in a form above }
 *     positions  an index set (indices.h)
 *
 * The writer estimates the sizes of several forms, and takes the form with the least estimate. */
#ifndef ATOMO_SYMBOLS_H
#define ATOMO_SYMBOLS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/parallel.h"

enum { SYMBOLS_WIDTH = 17 }; /* at most */

typedef struct {
    size_t n;
    int width, threads;
    void *code; /* (n) symbols_put reads the codes, symbols_get writes them */
    /* symbols_put sets *entropy to the order-0 entropy, in bits, of what it writes; NULL: not wanted */
    double *entropy;
    bool quick; /* symbols_put tries few forms, and prefers the sparse one, which is faster, where it is up to 1/16 longer */
} Symbols;

/* Returns an upper bound on the bytes that symbols_put writes. */
size_t symbols_most(size_t n, int width);

/* Writes the codes in the form with the least estimated size; fails only with ERR_MEMORY. */
Status symbols_put(const Symbols *s, Buf *out, Arena *scratch, Error *err);

/* Returns ERR_CORRUPT, with a reason in `why`, for bytes that symbols_put never writes. */
Status symbols_get(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why);

#endif
