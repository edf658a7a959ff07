/* patch.h -- codes floats of 16 bits by what changed in them since an older version, which the reader has.
 *
 * Floats of one format are ordered as integers: o(w) = w with its highest bit set if w is not negative, else with all bits
 * inverted. A changed weight is mostly a few steps away, so with d = o(new) - o(old) modulo 2^16, between -2^15 and 2^15 - 1,
 * z = 2 d for d >= 0, else -2 d - 1. How far it goes depends on its size: symbols stand sorted by the exponent of the old word.
 *
 *     patch  = { check:64  { size:varint  symbols } x exponents that occur  { z:16 } x escapes } x chunks of 2^19 words
 *
 * `symbols` is what symbols.h makes of min(z, 255), a byte for each word of one exponent, in order. Exponents rise; they are the
 * bits between sign and fraction. A symbol of 255 is an escape: its z follows, in the order of the symbols. `check` is the
 * checksum of the new words, seeded with that of the old ones: it tells another base as well as damage. */
#ifndef ATOMO_PATCH_H
#define ATOMO_PATCH_H

#include "base/arena.h"
#include "base/bytes.h"

enum { PATCH_CHUNK = 1 << 19 };

/* Words are pairs of bytes, little-endian. A patch of many words is that of their first chunks, followed by that of the others.
 * `fraction`: bits of a float's fraction, 7 (bfloat16) or 10 (half precision); 15: of other data, which have no exponents. */
typedef struct {
    const uint8_t *old;
    size_t n;
    int fraction, threads;
} PatchBase;

size_t patch_most(size_t n); /* the most bytes that patch_put writes */
Status patch_put(const PatchBase *b, const uint8_t *new, Buf *out, Arena *scratch, Error *err);

/* Takes a patch from `in`, and writes n words to `new`. ERR_CORRUPT: it is damaged, or was made with another base. */
Status patch_get(const PatchBase *b, Reader *in, uint8_t *new, Arena *scratch, Error *err);

#endif
