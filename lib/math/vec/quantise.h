/* quantise.h -- rounds a magnitude |x| s / norm at random to one of its two neighbours among the levels 0 ...
 * s, without bias. All quantisers with evenly spaced levels use it.
 *
 * First, t = |x| s 2^F / norm is truncated to an integer. Then F random bits are added, and the sum is shifted
 * right by F. So the level is rounded up iff the random bits, as a fraction, are below the fractional part of
 * |x| s / norm. The level never exceeds s, as t is limited to s 2^F. For s = 1, coin.h decides instead, since
 * it can represent smaller probabilities. The SIMD code does the same operations in the same order.
 *
 * A code is level | sign << bits, where `bits` is the length of s in binary. The sign of level 0 is 0. A code
 * takes a byte if bits <= CODE_BYTE_BITS, else 32 bits. */
#ifndef ATOMO_QUANTISE_H
#define ATOMO_QUANTISE_H

#include "base/coin.h"

enum { LEVELS_MAX = 65535, CODE_BYTE_BITS = 7 };

/* Returns the bits of a level: the length of s in binary. */
static inline int level_bits(uint32_t s)
{
    return 32 - __builtin_clz(s);
}

/* Constants of rounding. `lift` is a power of two that keeps `slope` inside float32's normal range. */
typedef struct {
    float lift, slope, top; /* t = min(|x| lift slope, top) */
    int fraction;           /* F, such that s 2^F fits int32_t */
    int bits;
} Quantiser;

/* Returns the constants for this norm and for the levels 0 ... s. The norm is finite, > 0, and rounded to
 * float32 as in the payload; 1 <= s <= LEVELS_MAX. */
static inline Quantiser quantiser_make(float norm, uint32_t s)
{
    const int bits = level_bits(s), fraction = 31 - bits;
    const float lift = norm < 0x1p-60f ? 0x1p88f : 1, top = (float)((double)s * (double)(1 << fraction));
    return (Quantiser){lift, (float)((double)top / ((double)norm * (double)lift)), top, fraction, bits};
}

static inline uint32_t quantise_code(const Quantiser *q, float x, const RngKey *key, uint32_t i)
{
    const float t = fabsf(x) * q->lift * q->slope;
    const int32_t whole = (int32_t)(t < q->top ? t : q->top);
    const uint32_t level = ((uint32_t)whole + (~rng_word(key, i) >> (32 - q->fraction))) >> q->fraction;
    return level | (uint32_t)(level && signbit(x)) << q->bits;
}

static inline uint32_t coin_code(Coin coin, float x, const RngKey *key, uint32_t i)
{
    return coin_keep(coin, x, key, i) ? 1u | (uint32_t)(signbit(x) != 0) << 1 : 0;
}

/* Constants for converting a level back to (level unit) drop in float32: unit = norm lift / s, rounded once,
 * and drop = 1 / lift. */
typedef struct {
    float unit, drop;
    uint32_t s;
    int bits;
} Dequantiser;

static inline Dequantiser dequantiser_make(float norm, uint32_t s)
{
    const float lift = norm < 0x1p-60f ? 0x1p88f : 1;
    return (Dequantiser){(float)((double)norm * (double)lift / s), 1 / lift, s, level_bits(s)};
}

static inline float dequantise_code(const Dequantiser *d, uint32_t code)
{
    const uint32_t level = code & ((1u << d->bits) - 1);
    const float v = (float)level * d->unit * d->drop;
    return code >> d->bits ? -v : v;
}

#endif
