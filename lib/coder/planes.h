/* planes.h -- codes of fixed width as bit planes, and trits at five to the byte.
 *
 * Planes: every 64 codes of w bits become w little-endian 64-bit words; word k has bit k of code i in its bit i.
 *
 *     { plane 0 : 64  plane 1 : 64  ...  plane w-1 : 64 } x n/64,  then  { plane : 8 ceil(m/8) } x w
 *
 * The last m = n mod 64 codes take ceil(m/8) bytes a plane; what is left of each last byte is zero. Codes are
 * bytes up to 8 bits of width, else 32-bit words.
 *
 * Trits: every 320 codes become 64 bytes; byte j holds the trits of codes j, j + 64, ..., j + 256, the first
 * with weight 1, then 3, 9, 27, 81. The last m = n mod 320 codes become q = ceil(m/5) bytes the same way with
 * q in place of 64, codes beyond m counting as 0. A code is 0, 1 (plus) or 3 (minus), its trit 0, 1 or 2. */
#ifndef ATOMO_PLANES_H
#define ATOMO_PLANES_H

#include "base/bytes.h"
#include "vec/kernels.h"

enum { PLANE_GROUP = 64, PLANES_MAX = 24, TRIT_GROUP = 320 };

/* Returns the bytes of n codes; n width may not overflow. A multiple of 64 codes may be written or read separately.
 * */
size_t planes_size(size_t n, int width);
void planes_put8(const uint8_t *code, size_t n, int width, uint8_t *out);
void planes_put32(const uint32_t *code, size_t n, int width, uint8_t *out);

/* Reads planes_size bytes; false when padding is not zero. */
bool planes_get8(const uint8_t *in, size_t n, int width, uint8_t *code);
bool planes_get32(const uint8_t *in, size_t n, int width, uint32_t *code);

/* Adds codes without unpacking them: planes of the sums of codes from .. to - 1 (from: a multiple of 64) go
 * to out, where all sums' planes stand, `width` wide: enough for any sum. False when padding is not zero or a code is
 * above its most. */
bool planes_add(const PlaneSet *in, size_t count, size_t from, size_t to, int width, uint8_t *out);

/* Size, writer and reader of trits; trits_get returns false when a byte is above 242 or a padding trit is not 0. A
 * multiple of 320 codes may be added separately. */
size_t trits_size(size_t n);
void trits_put(const uint8_t *code, size_t n, uint8_t *out);
bool trits_get(const uint8_t *in, size_t n, uint8_t *code);

#endif
