/* minifloat.h -- floats of a few bits: a sign, an exponent and a fraction, without infinities and NaN.
 *
 * A magnitude is a number `m` of exponent and fraction bits: its value is (m / 2^F) 2^(1 - bias) if m < 2^F, where F is the
 * number of fraction bits, else (1 + (m mod 2^F) / 2^F) 2^(m / 2^F - bias). A code is the magnitude with the sign above
 * it. INT8 of the MX formats, multiples of 2^-6, has only values of the first kind; its code is the two's complement.
 *
 * Rounding is to the nearest, ties to even magnitudes, or to one of the two neighbours at random, without bias.
 * The vector kernels do the operations of this file in the same order. */
#ifndef ATOMO_MINIFLOAT_H
#define ATOMO_MINIFLOAT_H

#include "base/bytes.h"

typedef struct {
    int fraction, bias, width; /* F, the exponent's bias, bits of a code */
    int emax;                  /* floor(log2 most) */
    uint32_t top;              /* the largest magnitude */
    float most;                /* its value */
    bool twos;                 /* the code is a two's complement */
} Minifloat;

/* The least number with a whole fraction: below it, magnitudes are `fraction` bits below it apart. */
static inline float minifloat_least(const Minifloat *f)
{
    return bits_float((uint32_t)(128 - f->bias) << 23);
}
/* Floats from this number on to twice it are as far apart as the least magnitudes are. */
static inline float minifloat_shift(const Minifloat *f)
{
    return bits_float((uint32_t)(151 - f->bias - f->fraction) << 23);
}

/* Returns the magnitude that v in [0, most] is rounded to. `word`: 32 random bits; NULL: to the nearest. */
static inline uint32_t minifloat_round(const Minifloat *f, float v, const uint32_t *word)
{
    const int cut = 23 - f->fraction, guard = 30 - f->fraction;
    const uint32_t bits = float_bits(v), unbias = (uint32_t)(127 - f->bias) << f->fraction;
    if (v >= minifloat_least(f))
        return ((bits + (word ? ~*word >> (32 - cut) : (1u << (cut - 1)) - 1 + (bits >> cut & 1))) >> cut) - unbias;
    if (!word)
        return float_bits(v + minifloat_shift(f)) - float_bits(minifloat_shift(f));
    const float unit = minifloat_least(f) * 0x1p-30f; /* 2^-guard of the distance between magnitudes */
    return ((uint32_t)(v / unit) + (~*word >> (32 - guard))) >> guard;
}

static inline float minifloat_value(const Minifloat *f, uint32_t magnitude)
{
    const uint32_t normal = (magnitude << (23 - f->fraction)) + ((uint32_t)(127 - f->bias) << 23);
    return magnitude < 1u << f->fraction ? (float)magnitude * minifloat_least(f) / (float)(1 << f->fraction)
                                         : bits_float(normal);
}

#endif
