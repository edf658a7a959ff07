/* codes.h -- writes and reads the part of a payload that holds a level and a sign for each element.
 *
 *     elias                form:8 (0 sparse, 1 dense), then the shorter of the two streams of levels.h
 *     elias-sparse|-dense  the sparse or the dense stream of levels.h
 *     fixed                bit planes over the whole tensor, the sign plane last (planes.h)
 *     trits                five to the byte, for one level with a sign (planes.h)
 *     rans                 level and sign as one symbol (symbols.h)
 *
 * Codes are bytes, or 32-bit words if codes_wide. A code is the level, with the sign in the bit above the level's
 * bits. */
#ifndef ATOMO_CODES_H
#define ATOMO_CODES_H

#include "compress/compressor.h"
#include "coder/levels.h"
#include "coder/symbols.h"

typedef enum { CODE_ELIAS, CODE_SPARSE, CODE_DENSE, CODE_FIXED, CODE_RANS, CODE_TRITS } CodeKind;

typedef struct {
    const Call *c;
    CodeKind kind;
    bool unsigned_levels; /* no signs and no sign plane; cannot be combined with Elias codes */
    uint32_t s;           /* the highest level */
    /* Number of consecutive elements with a common scale. The sparse stream codes each such run by itself. */
    size_t run;
} Codes;

/* True: codes are 32-bit words; false: codes are bytes. */
bool codes_wide(const Codes *codes);

/* Returns the end of the run (consecutive elements with a common scale) that contains element i, but at most
 * `to`. */
size_t codes_run_end(const Codes *codes, size_t i, size_t to);

/* Returns an upper bound on the bytes that codes_put writes. */
size_t codes_most(const Codes *codes);

/* Makes the codes of the n elements from element `from` on, all of one block, for codes_put. */
typedef void CodesFill(const void *data, size_t from, size_t n, void *code);
/* Decodes the codes of the n elements from element `from` on, for codes_get. Returns NULL, or the reason why no encoder
 * writes these codes. */
typedef const char *CodesUse(const void *data, size_t from, size_t n, const void *code);

/* Fills all codes, a piece of at most 2^16 elements at a time and several pieces in parallel, writes them, and adds the
 * entropy of levels and signs to c->streams. Codes of fixed width and trits are packed while a piece is in the cache. */
Status codes_put(const Codes *codes, CodesFill *fill, const void *data, Buf *out);
/* Reads the codes, which extend to the end of the payload, and uses all of them. */
Status codes_get(const Codes *codes, CodesUse *use, const void *data, Reader *r);

#endif
