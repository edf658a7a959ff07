/* signs.h -- one sign bit for each element: 1 if x_i < 0, else 0; so +0 and -0 count as plus.
 *
 * The bit of element i is bit i % 8 of byte i / 8, as in bit planes of width 1 (planes.h); the unused bits of
 * the last byte are zero. Threads may write or read parts of the array that begin at multiples of 64
 * elements. */
#ifndef ATOMO_SIGNS_H
#define ATOMO_SIGNS_H

#include "base/bytes.h"

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
