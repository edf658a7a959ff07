/* half_vec.c -- converts float32 to 16-bit floats (fp16, bf16) and back. AVX2 and AVX-512 round to the nearest fp16,
 * and read fp16, by an instruction of the processor. All other conversions are in integer arithmetic, but for the
 * denormals of fp16, multiples of 2^-24 below 2^-14. The bytes are the same.
 *
 * To round a denormal to the nearest multiple, 1/2 is added to |x|: floats from 1/2 to 1 are 2^-24 apart, so the
 * addition rounds. To round at random, |x| is multiplied by 2^24, which makes the multiples integers. */
#include "math/vec/lane.h"

#include <math.h>

#define FP16_MOST  0x477fe000u /* 65504 */
#define FP16_SMALL 0x38800000u /* 2^-14, the least normal fp16 magnitude */
#define BF16_MOST  0x7f7f0000u
/* REBIAS: the exponent bias of float32 minus that of fp16, 127 - 15, shifted to the exponent bits of fp16.
 * TINY_BITS: random bits that round a denormal unless they leave a tie. */
enum { REBIAS = 112 << 10, TINY_BITS = 21 };

INLINE VecU magnitude(const float *x, uint32_t most, VecU *sign)
{
    const VecU v = (VecU)load_f(x);
    *sign = v >> 31 << 15;
    return (VecU)-max_i(-(VecI)(v & 0x7fffffffu), -(VecI)set_u(most));
}

#if VEC_BYTES >= 32
/* The instructions that convert between float32 and fp16. */
INLINE void put_fp16(VecF v, uint8_t *out)
{
#if VEC_BYTES == 64
    _mm256_storeu_si256((__m256i *)(void *)out, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
#else
    _mm_storeu_si128((__m128i *)(void *)out, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
#endif
}
INLINE VecF get_fp16(const uint8_t *in)
{
#if VEC_BYTES == 64
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)in));
#else
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)in));
#endif
}
#endif

INLINE void fp16_nearest_lanes(const float *x, uint8_t *out)
{
#if VEC_BYTES >= 32
    const VecF most = set_f(65504);
    put_fp16(max_f(min_f(load_f(x), most), -most), out);
#else
    VecU sign;
    const VecU mag = magnitude(x, FP16_MOST, &sign);
    const VecU normal = ((mag + 0xfff + (mag >> 13 & 1)) >> 13) - REBIAS;
    const VecU tiny = (VecU)((VecF)mag + 0.5f) - float_bits(0.5f);
    store_halves(out, sign | pick(mag < FP16_SMALL, tiny, normal));
#endif
}

INLINE void bf16_nearest_lanes(const float *x, uint8_t *out)
{
    VecU sign;
    const VecU mag = magnitude(x, BF16_MOST, &sign);
    store_halves(out, sign | (mag + 0x7fff + (mag >> 16 & 1)) >> 16);
}

INLINE void bf16_random_lanes(const float *x, RngKey key, uint32_t i, uint8_t *out)
{
    VecU sign;
    const VecU mag = magnitude(x, BF16_MOST, &sign);
    const VecU word = mix_lanes(counter_lanes(key, i), key.b);
    store_halves(out, sign | (mag + (~word >> 16)) >> 16);
}

/* Rounds to fp16 at random. A denormal is rounded up if the fraction of |x| 2^24 is larger than a uniform
 * random number in [0, 1). If TINY_BITS bits of this number equal the first bits of the fraction, another
 * random word decides. */
INLINE void fp16_random_lanes(const float *x, RngKey key, uint32_t i, uint8_t *out)
{
    VecU sign;
    const VecU mag = magnitude(x, FP16_MOST, &sign);
    const VecU word = mix_lanes(counter_lanes(key, i), key.b);
    const VecU normal = ((mag + (~word >> 19)) >> 13) - REBIAS;
    const VecI is_tiny = mag < FP16_SMALL;
    const VecF t = (VecF)((VecU)is_tiny & mag) * 0x1p45f;
    const VecI down = whole(t);
    VecU tiny = ((VecU)down + (~word >> (32 - TINY_BITS))) >> TINY_BITS;
    const VecI tie =
        ((VecU)down << (32 - TINY_BITS) == word >> (32 - TINY_BITS) << (32 - TINY_BITS)) & (t > real(down));
    if (__builtin_expect(any(tie), 0))
        for (int l = 0; l < LANES; l++) {
            const double more = (double)rng_word_more(&key, i + (uint32_t)l) * 0x1p-32;
            tiny[l] += (uint32_t)(tie[l] && more < (double)(t[l] - (float)down[l]));
        }
    store_halves(out, sign | pick(is_tiny, tiny, normal));
}

/* Sets x, and returns -1 in the lanes that are infinite or NaN. */
INLINE VecI fp16_value_lanes(const uint8_t *in, float *x)
{
#if VEC_BYTES >= 32
    const VecF v = get_fp16(in);
    store_f(x, v);
    return ((VecU)v & 0x7fffffffu) >= float_bits(INFINITY);
#else
    const VecU half = load_halves(in), mag = half & 0x7fffu;
    const VecU normal = (mag + REBIAS) << 13, tiny = (VecU)(real((VecI)mag) * 0x1p-24f);
    store_f(x, (VecF)(half >> 15 << 31 | pick(mag < 0x400u, tiny, normal)));
    return mag >= 0x7c00u;
#endif
}

INLINE VecI bf16_value_lanes(const uint8_t *in, float *x)
{
    const VecU half = load_halves(in);
    store_f(x, (VecF)(half << 16));
    return (half & 0x7fffu) >= 0x7f80u;
}

typedef uint8_t Half[2];

/* Defines a function that converts n floats to 16-bit floats. */
#define TO_HALVES(NAME, LANES_OF, PARAMS, ...)                                                               \
    void ISA_NAME(NAME) PARAMS                                                                               \
    {                                                                                                        \
        IN_PIECES(LANES, float, x, Half, (Half *)out, n, LANES_OF(from, __VA_ARGS__ to[0]));                 \
    }
/* Defines a function that converts n 16-bit floats to floats. Returns false if one is infinite or NaN. */
#define FROM_HALVES(NAME, LANES_OF)                                                                          \
    bool ISA_NAME(NAME)(const uint8_t *in, size_t n, float *x)                                               \
    {                                                                                                        \
        VecI bad = {0};                                                                                      \
        IN_PIECES(LANES, Half, (const Half *)in, float, x, n, bad |= LANES_OF(from[0], to));                 \
        return !any(bad);                                                                                    \
    }
#define NEAREST_PARAMS (const float *x, size_t n, uint8_t *out)
#define RANDOM_PARAMS  (const float *x, size_t n, RngKey key, uint32_t first, uint8_t *out)

TO_HALVES(fp16_nearest, fp16_nearest_lanes, NEAREST_PARAMS, )
TO_HALVES(bf16_nearest, bf16_nearest_lanes, NEAREST_PARAMS, )
TO_HALVES(fp16_random, fp16_random_lanes, RANDOM_PARAMS, key, first + (uint32_t)i, )
TO_HALVES(bf16_random, bf16_random_lanes, RANDOM_PARAMS, key, first + (uint32_t)i, )
FROM_HALVES(fp16_floats, fp16_value_lanes)
FROM_HALVES(bf16_floats, bf16_value_lanes)

INLINE VecI joined_lanes(const uint8_t *high, const uint8_t *low, const uint8_t *rest, float *x)
{
    const VecU exponent = load_bytes(high), upper = load_bytes(low), lower = rest ? load_halves(rest) : set_u(0);
    store_f(x, (VecF)(upper << 31 | exponent << 23 | upper >> 1 << 16 | lower));
    return exponent == 255;
}

INLINE bool join_floats(const uint8_t *high, const uint8_t *low, const uint8_t *rest, size_t n, float *x)
{
    VecI bad = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        bad |= joined_lanes(high + i, low + i, rest ? rest + 2 * i : NULL, x + i);
    for (; i < n; i++) {
        x[i] = bits_float((uint32_t)low[i] << 31 | (uint32_t)high[i] << 23 | (uint32_t)(low[i] >> 1) << 16 |
                          (rest ? load_u16(rest + 2 * i) : 0));
        bad[0] |= high[i] == 255;
    }
    return !any(bad);
}

bool ISA_NAME(joined)(const uint8_t *high, const uint8_t *low, const uint8_t *rest, size_t n, float *x)
{
    return rest ? join_floats(high, low, rest, n, x) : join_floats(high, low, NULL, n, x);
}
