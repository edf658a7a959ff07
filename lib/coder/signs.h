/* signs.h -- one bit an element: set where x < 0, so that both zeros count as plus and one bit is enough.
 *
 * Bit i % 8 of byte i / 8 is element i's, as in bit planes of width 1 (planes.h); the unused bits of the last
 * byte are zero. A multiple of 64 elements may be written or read separately. */
#ifndef ATOMO_SIGNS_H
#define ATOMO_SIGNS_H

#include "base/bytes.h"

static inline size_t signs_size(size_t n)
{
    return n / 8 + (n % 8 != 0);
}

void signs_put(const float *x, size_t n, uint8_t *out);

/* x_i = minus where bit i is set, else plus. Ignores padding. */
void signs_get(const uint8_t *in, size_t n, float plus, float minus, float *x);

static inline bool signs_bit(const uint8_t *in, size_t i)
{
    return in[i / 8] >> i % 8 & 1;
}

/* False when padding is not zero. */
bool signs_clean(const uint8_t *in, size_t n);

/* The number of set bits among the first n. */
size_t signs_count(const uint8_t *in, size_t n);

#endif
