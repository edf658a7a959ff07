/* codes.h -- writes and reads the part of a payload that holds a level and a sign for each element.
 *
 *     elias                form:8 (0 sparse, 1 dense), then the shorter of the two streams of levels.h
 *     elias-sparse|-dense  the sparse or the dense stream of levels.h
 *     fixed                bit planes over the whole tensor, the sign plane last (planes.h)
 *     rans                 level and sign as one symbol (symbols.h)
 *
 * The codes of a tensor are one array: bytes, or 32-bit words if codes_wide. A code is the level, with the sign in the
 * bit above the level's bits. */
#ifndef ATOMO_CODES_H
#define ATOMO_CODES_H

#include "compress/compressor.h"
#include "coder/levels.h"
#include "coder/symbols.h"

typedef enum { CODE_ELIAS, CODE_SPARSE, CODE_DENSE, CODE_FIXED, CODE_RANS } CodeKind;

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

/* Returns an array for the tensor's codes in c->scratch; NULL: out of memory. */
void *codes_array(const Codes *codes);
/* True: the codes have a fixed width, so the quantiser may pack or unpack each block while it is in the cache, by the
 * two functions below instead of codes_put and codes_get. There is no array then, which codes_report needs. */
static inline bool codes_need_no_array(const Codes *codes)
{
    return codes->kind == CODE_FIXED && !codes->c->streams;
}
void codes_pack(const Codes *codes, size_t block, const void *code, uint8_t *planes);
/* Returns false if padding bits are set. */
bool codes_unpack(const Codes *codes, size_t block, const uint8_t *planes, void *code);
/* Returns where the codes of a block begin in the array. */
static inline void *codes_block(const Codes *codes, void *code, size_t block)
{
    return (char *)code + block * BLOCK * (codes_wide(codes) ? sizeof(uint32_t) : 1);
}

Status codes_put(const Codes *codes, void *code, Buf *out);
/* Reads the codes, which extend to the end of the payload. */
Status codes_get(const Codes *codes, Reader *r, void *code);

/* Adds the entropy of levels and signs to c->streams. Does nothing for rans: codes_put has already added its
 * entropy. */
Status codes_report(const Codes *codes, const void *code);

#endif
