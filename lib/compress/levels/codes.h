/* codes.h -- the part of a payload that holds a level and a sign for each element.
 *
 *     elias                form:8 (0 sparse, 1 dense), then the shorter of the two streams of levels.h
 *     elias-sparse|-dense  that stream of levels.h
 *     fixed                bit planes over the whole tensor, the sign plane last (planes.h)
 *     huffman, rans        levels and signs as one symbol (symbols.h)
 *
 * A quantiser supplies two functions that work on a block of 2^16 elements. A code is the level, with the sign in
 * the bit above the level's bits. */
#ifndef ATOMO_CODES_H
#define ATOMO_CODES_H

#include "codec/compressor.h"
#include "coder/levels.h"
#include "coder/symbols.h"

typedef enum { CODE_ELIAS, CODE_SPARSE, CODE_DENSE, CODE_FIXED, CODE_HUFFMAN, CODE_RANS } CodeKind;

typedef struct {
    const Call *c;
    CodeKind kind;
    bool unsigned_levels; /* no signs, and no sign plane; not with Elias codes */
    uint32_t s;           /* the highest level */
    size_t run;           /* elements that share a scale: runs of the sparse stream */
    const void *data;
    void (*quantise)(const void *data, size_t block, void *code);
    /* NULL, or why an encoder cannot have written these codes. */
    const char *(*dequantise)(const void *data, size_t block, const void *code);
} Codes;

/* True: codes are 32-bit words; false: bytes. */
bool codes_wide(const Codes *codes);

/* The end of the run that contains element i, but at most `to`. */
size_t codes_run_end(const Codes *codes, size_t i, size_t to);

/* Most bytes that codes_put writes for any levels. */
size_t codes_most(const Codes *codes);

Status codes_put(const Codes *codes, Buf *out);
Status codes_get(const Codes *codes, Reader *r); /* reads the rest of the payload */

/* Reports levels and signs to c->streams by quantising again; symbols were reported by codes_put. */
Status codes_report(const Codes *codes);

#endif
