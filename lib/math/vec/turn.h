/* turn.h -- transposes small blocks of a matrix: TURNED rows, four columns at a time. Then a SIMD vector is
 * one column of the block, and each lane sums the products of its own row. */
#ifndef ATOMO_TURN_H
#define ATOMO_TURN_H

#include "math/vec/vec.h"

/* TURNED: rows of a block; PER_TURN: SIMD vectors of doubles in one column of a block */
enum { TURNED = DLANES == 8 ? 8 : 4, PER_TURN = TURNED / DLANES };

typedef float Turned __attribute__((vector_size(4 * TURNED)));

#if VEC_BYTES == 64
#define LOW_PAIRS(a, b)   _mm256_unpacklo_ps(a, b) /* each 128-bit half becomes a0 b0 a1 b1 */
#define HIGH_PAIRS(a, b)  _mm256_unpackhi_ps(a, b)
#define LOW_HALVES(a, b)  _mm256_shuffle_ps(a, b, 0x44)
#define HIGH_HALVES(a, b) _mm256_shuffle_ps(a, b, 0xee)
#else
#define LOW_PAIRS(a, b)   SHUFFLE4(a, b, 0, 4, 1, 5)
#define HIGH_PAIRS(a, b)  SHUFFLE4(a, b, 2, 6, 3, 7)
#define LOW_HALVES(a, b)  SHUFFLE4(a, b, 0, 1, 4, 5)
#define HIGH_HALVES(a, b) SHUFFLE4(a, b, 2, 3, 6, 7)
#endif

/* Returns sum + a b. The factors were converted from float, so a b is exact in double, and the result is
 * rounded once, fused or not. */
INLINE VecD add_product(VecD sum, VecD a, VecD b)
{
#if VEC_BYTES == 64
    return _mm512_fmadd_pd(a, b, sum);
#elif VEC_BYTES == 32
    return _mm256_fmadd_pd(a, b, sum);
#else
    return sum + a * b;
#endif
}

/* Loads four columns of one row. If TURNED is 8, the upper half of the result is the same columns four rows
 * below. */
INLINE Turned load_turned(const float *a, size_t stride)
{
#if VEC_BYTES == 64
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(a)), _mm_loadu_ps(a + 4 * stride), 1);
#else
    (void)stride;
    Turned v;
    memcpy(&v, a, sizeof v);
    return v;
#endif
}

/* Sets column[c][r] = a[r * stride + c] for c < 4, r < TURNED. */
INLINE void turn_rows(const float *a, size_t stride, Turned column[4])
{
    const Turned a0 = load_turned(a, stride), a1 = load_turned(a + stride, stride),
                 a2 = load_turned(a + 2 * stride, stride), a3 = load_turned(a + 3 * stride, stride);
    const Turned low01 = LOW_PAIRS(a0, a1), high01 = HIGH_PAIRS(a0, a1), low23 = LOW_PAIRS(a2, a3),
                 high23 = HIGH_PAIRS(a2, a3);
    column[0] = LOW_HALVES(low01, low23);
    column[1] = HIGH_HALVES(low01, low23);
    column[2] = LOW_HALVES(high01, high23);
    column[3] = HIGH_HALVES(high01, high23);
}

/* Returns elements part * DLANES to (part + 1) * DLANES - 1 of a transposed column as doubles. */
INLINE VecD widen_part(Turned v, int part)
{
    VecH h;
    memcpy(&h, (const char *)&v + part * (int)sizeof h, sizeof h);
    return widen(h);
}

INLINE Turned narrow_parts(const VecD part[PER_TURN])
{
    Turned v;
    for (int p = 0; p < PER_TURN; p++) {
        const VecH h = narrow(part[p]);
        memcpy((char *)&v + p * (int)sizeof h, &h, sizeof h);
    }
    return v;
}

#endif
