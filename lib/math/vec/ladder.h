/* ladder.h -- unbiased rounding to levels that are powers of two: 0 and N 2^(k - s) for k = 1 ... s, where N
 * is the norm.
 *
 * Let z = |x| 2^(s - 1) / N, so z = 1 at the lowest non-zero level. For z >= 1, the exponent of z gives the
 * level below, and the mantissa of z the probability of rounding up. For z < 1, z is the probability of
 * rounding up to level 1. The upper bits of the element's random word decide; for s = 1, coin.h decides
 * instead. A code is level | sign << bits. The vector kernels must compute with the same operations in the
 * same order. */
#ifndef ATOMO_LADDER_H
#define ATOMO_LADDER_H

#include "base/bytes.h"
#include "math/vec/quantise.h"

enum { LADDER_BITS_MAX = 6 };

/* Constants of rounding. `lift` is a power of two that keeps `slope` and `unit` inside float32's normal
 * range. */
typedef struct {
    float lift, slope, top; /* z = min(|x| lift slope, top) */
    float unit, drop;       /* value of level k = (unit 2^(k - s)) drop */
    uint32_t s;
    int bits;
} Ladder;

/* Returns the constants of rounding for this norm and s = 2^bits - 1 levels above 0. The norm is finite, > 0
 * and rounded to float32 as in the payload. */
static inline Ladder ladder_make(float norm, int bits)
{
    const float lift = norm < 0x1p-60f ? 0x1p88f : 1;
    const uint32_t s = (1u << bits) - 1;
    const double top = (double)(UINT64_C(1) << (s - 1));
    return (Ladder){.lift = lift,
                    .slope = (float)(top / ((double)norm * (double)lift)),
                    .top = (float)top,
                    .unit = norm * lift,
                    .drop = 1 / lift,
                    .s = s,
                    .bits = bits};
}

static inline uint32_t ladder_code(const Ladder *l, float x, const RngKey *key, uint32_t i)
{
    const float t = fabsf(x) * l->lift * l->slope, z = t < l->top ? t : l->top;
    const uint32_t word = rng_word(key, i);
    uint32_t level;
    if (z < 1)
        level = (word >> 2) < (uint32_t)(z * 0x1p30f);
    else
        level = ((float_bits(z) + (~word >> 9)) >> 23) - 126;
    return level | (uint32_t)(level && signbit(x)) << l->bits;
}

static inline float ladder_value(const Ladder *l, uint32_t code)
{
    const uint32_t level = code & l->s;
    const float power = bits_float((127 + level - l->s) << 23);
    const float v = level ? power * l->unit * l->drop : 0;
    return code >> l->bits ? -v : v;
}

#endif
