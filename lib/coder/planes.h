/* planes.h -- writes and reads codes of fixed width as bit planes, signs, and trits (digits in base 3), five to the
 * byte.
 *
 * Planes: every 64 codes of w bits become w little-endian 64-bit words; word k has bit k of code i in its bit
 * i.
 *
 *     { plane 0 : 64  plane 1 : 64  ...  plane w-1 : 64 } x n/64,  then  { plane : 8 ceil(m/8) } x w
 *
 * The last m = n mod 64 codes take ceil(m/8) bytes in each plane; unused bits of the last byte are zero.
 *
 * Trits: every 320 codes become 64 bytes; byte j holds the trits of codes j, j + 64, ..., j + 256, with weights
 * 1, 3, 9, 27, 81. The last m = n mod 320 codes become q = ceil(m/5) bytes the same way, with q in place of 64
 * and zeros in place of codes beyond m. The codes are 0, 1 (plus) and 3 (minus), and their trits are 0, 1 and
 * 2. */
#ifndef ATOMO_PLANES_H
#define ATOMO_PLANES_H

#include "base/bytes.h"
#include "math/vec/kernels.h"

enum { PLANE_GROUP = 64, PLANES_MAX = 24, TRIT_GROUP = 320 };

/* Returns the bytes that n codes take; n * width must not overflow. Parts of the array that begin at a multiple
 * of 64 codes can be written or read separately. */
size_t planes_size(size_t n, int width);

/* In memory, codes are 32-bit words if they are `wide`, else bytes, of which the low `width` bits are written. planes_get
 * returns false if an unused bit is not zero. */
void planes_put(const void *code, bool wide, size_t n, int width, uint8_t *out);
bool planes_get(const uint8_t *in, size_t n, int width, void *code, bool wide);

/* Adds `count` arrays of n codes element by element, without leaving the bit-plane format. Writes the sums, of `width`
 * bits each. Returns false if an unused bit is not zero, or if a code is above its array's `most`. */
bool planes_add(const PlaneSet *in, size_t count, size_t n, int width, int threads, uint8_t *out);

/* trits_size returns the bytes that n trits take. trits_put writes the trits of n codes. trits_get reads them;
 * it returns false if a byte is above 242 or an unused trit is not 0. Parts of the array that begin at a
 * multiple of 320 codes can be written or read separately. */
size_t trits_size(size_t n);
void trits_put(const uint8_t *code, size_t n, uint8_t *out);
bool trits_get(const uint8_t *in, size_t n, uint8_t *code);

/* ---- signs: one sign bit for each element: 1 if x_i < 0, else 0; so +0 and -0 count as plus.
 *
 * The bit of element i is bit i % 8 of byte i / 8, as in bit planes of width 1; the unused bits of
 * the last byte are zero. Threads may write or read parts of the array that begin at multiples of 64
 * elements. ---- */

static inline size_t signs_size(size_t n)
{
    return n / 8 + (n % 8 != 0);
}

void signs_put(const float *x, size_t n, uint8_t *out);

/* Writes signs one by one into an array of zeros, from sign k on. Threads may write parts of one array that begin
 * anywhere: bytes that two parts share are written by atomic operations. */
typedef struct {
    uint8_t *out;
    size_t from, k; /* the first sign, and the next one */
    uint64_t word;  /* the signs of the group of 64 that sign k belongs to */
} SignPen;

static inline SignPen signs_pen(uint8_t *out, size_t k)
{
    return (SignPen){.out = out, .from = k, .k = k};
}

void signs_flush(SignPen *p); /* writes the last signs */

static inline void signs_add(SignPen *p, bool minus)
{
    p->word |= (uint64_t)minus << p->k % 64;
    if (++p->k % 64 == 0)
        signs_flush(p);
}

/* Sets x_i to `minus` if bit i is 1, else to `plus`. The unused bits of the last byte are ignored. */
void signs_get(const uint8_t *in, size_t n, float plus, float minus, float *x);

static inline bool signs_bit(const uint8_t *in, size_t i)
{
    return in[i / 8] >> i % 8 & 1;
}

/* Returns true if all unused bits of the last byte are zero. */
bool signs_clean(const uint8_t *in, size_t n);

/* Returns the number of minus signs among the first n elements. */
size_t signs_count(const uint8_t *in, size_t n);

#endif
