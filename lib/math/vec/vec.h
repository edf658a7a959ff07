/* vec.h -- types and functions for SIMD vectors, as wide as the registers of the instruction set. Arrays are
 * processed 16 floats (a row) at a time: one vector of 64 bytes, two of 32 or four of 16. So every instruction
 * set forms the same 16 partial sums. */
#ifndef ATOMO_VEC_H
#define ATOMO_VEC_H

#include "math/vec/kernels.h"

#include <string.h>

#if defined(__AVX512BW__)
#define ISA_NAME(f) f##_avx512
#define VEC_BYTES   64
#include <immintrin.h>
#elif defined(__AVX2__)
#define ISA_NAME(f) f##_avx2
#define VEC_BYTES   32
#include <immintrin.h>
#else
#define ISA_NAME(f) f##_base
#define VEC_BYTES   16
#endif

enum {
    LANES = VEC_BYTES / 4,
    ROW = 16,
    PARTS = ROW / LANES
}; /* LANES: floats in a vector; ROW: floats in a row; PARTS: vectors in a row */
/* DLANES: doubles in a vector; DPARTS: vectors of doubles in a row */
enum { DLANES = VEC_BYTES / 8, DPARTS = ROW / DLANES };

typedef float VecF __attribute__((vector_size(VEC_BYTES)));
typedef int32_t VecI __attribute__((vector_size(VEC_BYTES)));
typedef uint32_t VecU __attribute__((vector_size(VEC_BYTES)));
typedef int64_t VecL __attribute__((vector_size(VEC_BYTES)));
typedef uint64_t VecQ __attribute__((vector_size(VEC_BYTES)));
typedef double VecD __attribute__((vector_size(VEC_BYTES)));
/* as many floats as VecD has doubles */
typedef float VecH __attribute__((vector_size(VEC_BYTES / 2)));

#define INLINE static inline __attribute__((always_inline))

INLINE VecF load_f(const float *p)
{
    VecF v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void store_f(float *p, VecF v)
{
    memcpy(p, &v, sizeof v);
}
INLINE VecU load_u(const void *p)
{
    VecU v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void store_u(void *p, VecU v)
{
    memcpy(p, &v, sizeof v);
}
INLINE VecD set_d(double v)
{
    return v - (VecD){0};
}
INLINE VecD load_doubles(const double *p)
{
    VecD v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* gcc makes several instructions of __builtin_convertvector, where AVX2 and AVX-512 have one. */
INLINE VecD widen(VecH v)
{
#if VEC_BYTES == 64
    return _mm512_cvtps_pd(v);
#elif VEC_BYTES == 32
    return _mm256_cvtps_pd(v);
#else
    return __builtin_convertvector(v, VecD);
#endif
}
INLINE VecH narrow(VecD v)
{
#if VEC_BYTES == 64
    return _mm512_cvtpd_ps(v);
#elif VEC_BYTES == 32
    return _mm256_cvtpd_ps(v);
#else
    return __builtin_convertvector(v, VecH);
#endif
}
INLINE VecD load_d(const float *p)
{
    VecH h;
    memcpy(&h, p, sizeof h);
    return widen(h);
}
INLINE void store_d(float *p, VecD v)
{
    const VecH h = narrow(v);
    memcpy(p, &h, sizeof h);
}

/* Returns v[index[l]] in lane l; index[l] < LANES. */
INLINE VecF pick_lanes(VecF v, VecI index)
{
#if VEC_BYTES == 64
    return _mm512_permutexvar_ps((__m512i)index, v);
#elif VEC_BYTES == 32
    return _mm256_permutevar8x32_ps(v, (__m256i)index);
#else
    return (VecF){v[index[0]], v[index[1]], v[index[2]], v[index[3]]};
#endif
}

/* Picks four lanes of the vectors a and b: 0 to 3 are the lanes of a, 4 to 7 those of b. */
#ifdef __clang__
#define SHUFFLE4(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define SHUFFLE4(a, b, i, j, k, l)                                                                           \
    __builtin_shuffle(a, b, (int32_t __attribute__((vector_size(16)))){i, j, k, l})
#endif

/* Runs a statement for each row of x: `row` points to its elements. A shorter last row is padded with zeros. */
#define EACH_ROW(x, n, row, ...)                                                                             \
    do {                                                                                                     \
        size_t at = 0;                                                                                       \
        for (; at + ROW <= (n); at += ROW) {                                                                 \
            const float *row = (x) + at;                                                                     \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        if (at < (n)) {                                                                                      \
            float row[ROW] = {0};                                                                            \
            memcpy(row, (x) + at, ((n)-at) * sizeof *row);                                                   \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    } while (0)

/* Run a statement in which N is a constant equal to n, from 1 to 4 or from 1 to 8, so that compilers unroll its loops. */
#define CASE_N(label, k, ...)                                                                                \
    label:                                                                                                   \
    {                                                                                                        \
        enum { N = k };                                                                                      \
        __VA_ARGS__;                                                                                         \
        break;                                                                                               \
    }
#define WITH_4(n, ...)                                                                                       \
    switch (n) {                                                                                             \
        CASE_N(case 1, 1, __VA_ARGS__)                                                                       \
        CASE_N(case 2, 2, __VA_ARGS__)                                                                       \
        CASE_N(case 3, 3, __VA_ARGS__)                                                                       \
        CASE_N(default, 4, __VA_ARGS__)                                                                      \
    }
#define WITH_8(n, ...)                                                                                       \
    switch (n) {                                                                                             \
        CASE_N(case 1, 1, __VA_ARGS__)                                                                       \
        CASE_N(case 2, 2, __VA_ARGS__)                                                                       \
        CASE_N(case 3, 3, __VA_ARGS__)                                                                       \
        CASE_N(case 4, 4, __VA_ARGS__)                                                                       \
        CASE_N(case 5, 5, __VA_ARGS__)                                                                       \
        CASE_N(case 6, 6, __VA_ARGS__)                                                                       \
        CASE_N(case 7, 7, __VA_ARGS__)                                                                       \
        CASE_N(default, 8, __VA_ARGS__)                                                                      \
    }

/* Adds 16 partial sums in a fixed tree, the same on every instruction set. */
INLINE double tree16(const double lane[ROW])
{
    double s[8];
    for (int i = 0; i < 8; i++)
        s[i] = lane[i] + lane[i + 8];
    for (int i = 0; i < 4; i++)
        s[i] += s[i + 4];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

INLINE double fold(const VecD part[DPARTS])
{
    double lane[ROW];
    memcpy(lane, part, sizeof lane);
    return tree16(lane);
}

#endif
