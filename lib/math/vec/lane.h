/* lane.h -- vector operations that the compilers' vector extension lacks: minimum, test for any non-zero lane,
 * conversion between lanes and bits or bytes, random words. */
#ifndef ATOMO_LANE_H
#define ATOMO_LANE_H

#include "math/vec/vec.h"

#if !defined(__AVX2__) && defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

INLINE VecF set_f(float a)
{
    return a - (VecF){0};
}
INLINE VecU set_u(uint32_t a)
{
    return a - (VecU){0};
}
INLINE VecF abs_f(VecF x)
{
    return (VecF)((VecU)x & 0x7fffffffu);
}
INLINE VecI whole(VecF x)
{
    return __builtin_convertvector(x, VecI);
} /* rounds towards zero */
INLINE VecF real(VecI x)
{
    return __builtin_convertvector(x, VecF);
}

INLINE VecF min_f(VecF a, VecF b)
{
#if VEC_BYTES == 64
    return (VecF)_mm512_min_ps((__m512)a, (__m512)b);
#elif VEC_BYTES == 32
    return (VecF)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (VecF)_mm_min_ps((__m128)a, (__m128)b);
#else
    const VecI less = a < b;
    return (VecF)(((VecI)a & less) | ((VecI)b & ~less));
#endif
}

INLINE VecF max_f(VecF a, VecF b)
{
#if VEC_BYTES == 64
    return (VecF)_mm512_max_ps((__m512)a, (__m512)b);
#elif VEC_BYTES == 32
    return (VecF)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (VecF)_mm_max_ps((__m128)a, (__m128)b);
#else
    const VecI more = a > b;
    return (VecF)(((VecI)a & more) | ((VecI)b & ~more));
#endif
}

INLINE VecI max_i(VecI a, VecI b)
{
    const VecI more = a > b;
    return (a & more) | (b & ~more);
}

INLINE bool any(VecI v)
{
#if VEC_BYTES == 64
    return _mm512_test_epi32_mask((__m512i)v, (__m512i)v) != 0;
#elif VEC_BYTES == 32
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
    uint64_t part[2];
    memcpy(part, &v, sizeof part);
    return (part[0] | part[1]) != 0;
#endif
}

/* Bit l of the result is set if lane l of v is set; a lane has all of its bits set or none. */
INLINE uint64_t lane_bits(VecI v)
{
#if VEC_BYTES == 64
    return _mm512_movepi32_mask((__m512i)v);
#elif VEC_BYTES == 32
    return (unsigned)_mm256_movemask_ps((__m256)v);
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_ps((__m128)v);
#elif defined(__aarch64__)
    return vaddvq_u32((uint32x4_t)((VecU)v & (VecU){1, 2, 4, 8}));
#else
    uint64_t word = 0;
    for (int lane = 0; lane < LANES; lane++)
        word |= (uint64_t)(v[lane] != 0) << lane;
    return word;
#endif
}

/* one byte for each float of a vector */
typedef uint8_t Bytes4 __attribute__((vector_size(VEC_BYTES / 4)));

/* Stores the lanes as bytes; each is below 256. */
INLINE void store_bytes(uint8_t *p, VecU v)
{
#if VEC_BYTES == 64
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8((__m512i)v));
#elif VEC_BYTES == 32
    const __m128i low = _mm256_castsi256_si128((__m256i)v), high = _mm256_extracti128_si256((__m256i)v, 1);
    const __m128i b = _mm_packus_epi16(_mm_packus_epi32(low, high), _mm_setzero_si128());
    _mm_storel_epi64((__m128i *)(void *)p, b);
#else
    const Bytes4 b = __builtin_convertvector(v, Bytes4);
    memcpy(p, &b, sizeof b);
#endif
}

INLINE VecU load_bytes(const uint8_t *p)
{
#if VEC_BYTES == 64
    return (VecU)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
#elif VEC_BYTES == 32
    return (VecU)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
#else
    Bytes4 b;
    memcpy(&b, p, sizeof b);
    return __builtin_convertvector(b, VecU);
#endif
}

typedef uint16_t Halves __attribute__((vector_size(VEC_BYTES / 2)));

/* Swaps the bytes of each word where memory is big-endian. */
INLINE Halves little_halves(Halves h)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? h << 8 | h >> 8 : h;
}

/* Stores the lanes as little-endian words of 16 bits; each is below 65536. */
INLINE void store_halves(uint8_t *p, VecU v)
{
#if VEC_BYTES == 64
    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtepi32_epi16((__m512i)v));
#elif VEC_BYTES == 32
    const __m128i low = _mm256_castsi256_si128((__m256i)v), high = _mm256_extracti128_si256((__m256i)v, 1);
    _mm_storeu_si128((__m128i *)(void *)p, _mm_packus_epi32(low, high));
#else
    const Halves h = little_halves(__builtin_convertvector(v, Halves));
    memcpy(p, &h, sizeof h);
#endif
}

INLINE VecU load_halves(const uint8_t *p)
{
#if VEC_BYTES == 64
    return (VecU)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
#elif VEC_BYTES == 32
    return (VecU)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
#else
    Halves h;
    memcpy(&h, p, sizeof h);
    return __builtin_convertvector(little_halves(h), VecU);
#endif
}

/* Returns yes[l] in the lanes where the mask is set, else no[l]. */
INLINE VecU pick(VecI mask, VecU yes, VecU no)
{
#if VEC_BYTES == 32
    return (VecU)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, (__m256i)mask);
#else
    return ((VecU)mask & yes) | (~(VecU)mask & no);
#endif
}

INLINE VecU lane_numbers(void)
{
#if VEC_BYTES == 64
    return (VecU){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif VEC_BYTES == 32
    return (VecU){0, 1, 2, 3, 4, 5, 6, 7};
#else
    return (VecU){0, 1, 2, 3};
#endif
}

/* Returns (i + l) RNG_STRIDE + key.a in lane l, the numbers that `rng_word` mixes to the random words i, i + 1, ...
 * The factors of the lanes are constants, so a vector takes one scalar multiplication. */
INLINE VecU counter_lanes(RngKey key, uint32_t i)
{
    return lane_numbers() * RNG_STRIDE + (i * RNG_STRIDE + key.a);
}

/* Returns the upper 32 bits of the 64-bit product a b in each lane. */
INLINE VecU multiply_high(VecU a, VecU b)
{
    const VecQ p = (VecQ)a, q = (VecQ)b;
#if VEC_BYTES == 64
    const VecQ even = (VecQ)_mm512_mul_epu32((__m512i)p, (__m512i)q);
    const VecQ odd = (VecQ)_mm512_mul_epu32((__m512i)(p >> 32), (__m512i)(q >> 32));
#elif VEC_BYTES == 32
    const VecQ even = (VecQ)_mm256_mul_epu32((__m256i)p, (__m256i)q);
    const VecQ odd = (VecQ)_mm256_mul_epu32((__m256i)(p >> 32), (__m256i)(q >> 32));
#elif defined(__SSE2__)
    const VecQ even = (VecQ)_mm_mul_epu32((__m128i)p, (__m128i)q);
    const VecQ odd = (VecQ)_mm_mul_epu32((__m128i)(p >> 32), (__m128i)(q >> 32));
#else
    const VecQ even = (p & 0xffffffffu) * (q & 0xffffffffu), odd = (p >> 32) * (q >> 32);
#endif
    return (VecU)(even >> 32 | (odd & ~UINT64_C(0xffffffff)));
}

/* Returns the index of the second piece (`step` elements) of a loop over the array `x` of 4-byte elements. It is
 * at most `step`: the first two pieces overlap, so that all pieces but the first begin at a multiple of 4 `step`
 * bytes. Memory of other programs, such as NumPy, is often aligned to 16 bytes only. */
INLINE size_t second_piece(const void *x, size_t step)
{
    const size_t ahead = -(uintptr_t)x % (4 * step) / 4;
    return ahead ? ahead : step;
}

/* How many bytes ahead of a loop its input is fetched into the cache. The hardware's prefetcher stops at the end
 * of a page of 4 KiB. */
enum { FETCH_AHEAD = 2048 };

/* Runs a statement for every piece of STEP elements of the arrays `in` and `out` of n elements. In the
 * statement, `from` and `to` point to the piece of `in` and of `out`, and i is the index of its first
 * element. The first two pieces may overlap (second_piece). A shorter last piece is padded with zeros. */
#define IN_PIECES(STEP, IN, in, OUT, out, n, ...)                                                            \
    do {                                                                                                     \
        size_t i = 0, next = second_piece(sizeof(IN) < 4 ? (const void *)(out) : (in), (STEP));              \
        for (; i + (STEP) <= (n); i = next, next += (STEP)) {                                                \
            const IN *from = (in) + i;                                                                       \
            OUT *to = (out) + i;                                                                             \
            __builtin_prefetch((const char *)from + FETCH_AHEAD);                                            \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        if (i < (n)) {                                                                                       \
            IN from[STEP] = {0};                                                                             \
            OUT to[STEP];                                                                                    \
            memcpy(from, (in) + i, ((n)-i) * sizeof(IN));                                                    \
            __VA_ARGS__;                                                                                     \
            memcpy((out) + i, to, ((n)-i) * sizeof(OUT));                                                    \
        }                                                                                                    \
    } while (0)

/* Returns rng_mix of each lane. */
INLINE VecU mix_lanes(VecU x, uint32_t b)
{
    x ^= x >> 16;
    x *= RNG_MUL1;
    x ^= (x >> 15) ^ b;
    x *= RNG_MUL2;
    return x ^ (x >> 16);
}

/* Returns rng_round of the elements i, i + 1, ... `negative`: all bits of a lane are 1 if its number is negative. `correlated`:
 * key.mask is not 0. */
INLINE VecU round_lanes(RngKey key, uint32_t i, VecU negative, bool correlated)
{
    const VecU own = mix_lanes(counter_lanes(key, i), key.b);
    if (!correlated)
        return own;
    const VecU shared = mix_lanes(counter_lanes((RngKey){.a = key.shared_a}, i), key.shared_b) + key.turn;
    return ((shared & ~key.mask) | (own & key.mask)) ^ negative;
}

#endif
