/* coin.h -- a biased coin: decides at random whether to keep an element x, with probability p = min(1, |x| /
 * scale).
 *
 * The codecs entry, lq, terngrad and 1-bit qsgd all use this coin with the same random words, so they decode
 * to the same vectors when their scales agree (ATOMO paper, Theorem 5). An element is kept iff u < p, where u
 * in [0, 1) has 62 random bits. The first 30 bits come from the element's random word. They decide, unless
 * they equal the first 30 bits of p; then rng_word_more gives 32 more bits. So an element is kept with
 * probability p to within 2^-62, where p is rounded to float32. The SIMD kernels do the operations of this
 * file in the same order, so that their results are the same to the last bit. */
#ifndef ATOMO_COIN_H
#define ATOMO_COIN_H

#include "base/rng.h"

#include <math.h>

/* The probability p is computed as p 2^30 = (|x| * lift) * slope, where slope = 2^30 / (scale * lift). `lift`
 * is a power of two such that slope is a normal float32 number, and |x| * lift too unless p < 2^-66. */
typedef struct {
    float lift, slope;
} Coin;

/* Returns the coin that keeps x with probability p = min(1, |x| / scale). `scale` must be positive and finite,
 * and is the float32 number in the payload. */
static inline Coin coin_make(float scale)
{
    const float lift = scale < 0x1p-60f ? 0x1p88f : 1;
    return (Coin){lift, (float)(0x1p30 / ((double)scale * (double)lift))};
}

/* Returns p 2^30, where p is the probability to keep element x. */
static inline float coin_level(Coin coin, float x)
{
    const float t = fabsf(x) * coin.lift * coin.slope;
    return t < 0x1p30f ? t : 0x1p30f;
}

static inline bool coin_keep(Coin coin, float x, const RngKey *key, uint32_t i)
{
    const float t = coin_level(coin, x);
    const uint32_t whole = (uint32_t)t, r = rng_round(key, i, signbit(x)) >> 2;
    /* computed without a branch, since a branch on random bits would often be mispredicted */
    bool keep = r < whole;
    if (r == whole)
        keep = (double)rng_word_more(key, i) * 0x1p-32 < (double)(t - (float)whole);
    return keep;
}

#endif
