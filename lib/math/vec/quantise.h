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
#include "base/bytes.h"

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
    const uint32_t level = ((uint32_t)whole + (~rng_round(key, i, signbit(x)) >> (32 - q->fraction))) >> q->fraction;
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

/* Unbiased rounding to levels that are powers of two: 0 and N 2^(k - s) for k = 1 ... s, where N
 * is the norm.
 *
 * Let z = |x| 2^(s - 1) / N, so z = 1 at the lowest non-zero level. For z >= 1, the exponent of z gives the
 * level below, and the mantissa of z the probability of rounding up. For z < 1, z is the probability of
 * rounding up to level 1. The upper bits of the element's random word decide; for s = 1, coin.h decides
 * instead. A code is level | sign << bits. The vector kernels must compute with the same operations in the
 * same order. */

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
