/* hadamard_vec.c -- the Walsh-Hadamard transform: butterflies (a, b) -> (a + b, a - b) at strides 1, 2, 4, ...
 *
 * Every element passes through its butterflies in the order of the strides. Instruction sets differ only in
 * how many butterflies they compute while an element is in a register, so all give the same bytes. */
#include "math/vec/lane.h"

/* ---- butterflies (a + b, a - b) where a and b are in different vectors ---- */

/* The butterflies of strides s and 2 s on four vectors that are s elements apart. */
INLINE void quad(VecF *a, VecF *b, VecF *c, VecF *d)
{
    const VecF ab = *a + *b, a_b = *a - *b, cd = *c + *d, c_d = *c - *d;
    *a = ab + cd;
    *b = a_b + c_d;
    *c = ab - cd;
    *d = a_b - c_d;
}

INLINE void pair(VecF *a, VecF *b)
{
    const VecF sum = *a + *b, difference = *a - *b;
    *a = sum;
    *b = difference;
}

/* The butterflies of all strides on 2^log vectors. Without loops, so that the vectors stay in registers. */
INLINE void butterflies(VecF v[16], const int log)
{
    if (log == 1)
        pair(&v[0], &v[1]);
    if (log >= 2)
        quad(&v[0], &v[1], &v[2], &v[3]);
    if (log >= 3)
        quad(&v[4], &v[5], &v[6], &v[7]);
    if (log == 3) {
        pair(&v[0], &v[4]);
        pair(&v[1], &v[5]);
        pair(&v[2], &v[6]);
        pair(&v[3], &v[7]);
    }
    if (log == 4) {
        quad(&v[8], &v[9], &v[10], &v[11]);
        quad(&v[12], &v[13], &v[14], &v[15]);
        quad(&v[0], &v[4], &v[8], &v[12]);
        quad(&v[1], &v[5], &v[9], &v[13]);
        quad(&v[2], &v[6], &v[10], &v[14]);
        quad(&v[3], &v[7], &v[11], &v[15]);
    }
}

/* ---- butterflies (a + b, a - b) where a and b are in the same vector ---- */

/* SWAPn exchanges lanes whose numbers differ by n (in one bit). */
#if VEC_BYTES == 64
#define SWAP1(v) _mm512_permute_ps(v, 0xb1)
#define SWAP2(v) _mm512_permute_ps(v, 0x4e)
#define SWAP4(v) _mm512_shuffle_f32x4(v, v, 0xb1)
#define SWAP8(v) _mm512_shuffle_f32x4(v, v, 0x4e)
#elif VEC_BYTES == 32
#define SWAP1(v) _mm256_permute_ps(v, 0xb1)
#define SWAP2(v) _mm256_permute_ps(v, 0x4e)
#define SWAP4(v) _mm256_permute2f128_ps(v, v, 1)
#else
#define SWAP1(v) SHUFFLE4(v, v, 1, 0, 3, 2)
#define SWAP2(v) SHUFFLE4(v, v, 2, 3, 0, 1)
#endif

/* The butterflies of lanes whose numbers differ in bit `bit`. `swapped` is v with the two lanes of each
 * butterfly exchanged; the lanes of v with this bit set change sign. */
INLINE VecF add_signed(VecF swapped, VecF v, int bit)
{
    return swapped + (VecF)((VecU)v ^ (lane_numbers() << (31 - bit) & 0x80000000u));
}

INLINE VecF lane_butterflies(VecF v)
{
    v = add_signed(SWAP1(v), v, 0);
    v = add_signed(SWAP2(v), v, 1);
#ifdef SWAP4
    v = add_signed(SWAP4(v), v, 2);
#endif
#ifdef SWAP8
    v = add_signed(SWAP8(v), v, 3);
#endif
    return v;
}

/* ---- rows ---- */

/* The butterflies of strides 1, 2, 4, ... rows on 2^log rows of `cols` columns, multiplied by `scale`. */
INLINE void step(const float *from, size_t from_stride, float *to, size_t to_stride, size_t cols, float scale,
                 const int log)
{
    for (size_t c = 0; c < cols; c += LANES) {
        VecF v[16];
        for (size_t r = 0; r < (size_t)1 << log; r++)
            v[r] = load_f(from + r * from_stride + c);
        butterflies(v, log);
        for (size_t r = 0; r < (size_t)1 << log; r++)
            store_f(to + r * to_stride + c, v[r] * scale);
    }
}

static void step_of(int log, const float *from, size_t from_stride, float *to, size_t to_stride, size_t cols,
                    float scale)
{
    if (log == 0)
        step(from, from_stride, to, to_stride, cols, scale, 0);
    else
        WITH_4(log, step(from, from_stride, to, to_stride, cols, scale, N))
}

/* More than sixteen rows take two steps, with a compact copy in between. Without the copy, rows a power of
 * two apart would evict each other from the cache. */
void ISA_NAME(hadamard_rows)(float *x, size_t stride, int log_rows, size_t cols, float scale)
{
    _Alignas(64) float between[HADAMARD_TILE];
    if (log_rows <= 4) {
        step_of(log_rows, x, stride, x, stride, cols, scale);
        return;
    }
    const size_t groups = (size_t)1 << (log_rows - 4);
    for (size_t g = 0; g < groups; g++)
        step(x + 16 * g * stride, stride, between + 16 * g * cols, cols, cols, 1, 4);
    for (size_t r = 0; r < 16; r++)
        step_of(log_rows - 4, between + r * cols, 16 * cols, x + r * stride, 16 * stride, cols, scale);
}

/* ---- runs ---- */

enum { TOGETHER = 16 * LANES, LOG_TOGETHER = LANES == 16 ? 8 : LANES == 8 ? 7 : 6 };

INLINE void sixteen_vectors(float *x)
{
    VecF v[16];
    for (int i = 0; i < 16; i++)
        v[i] = lane_butterflies(load_f(x + i * LANES));
    butterflies(v, 4);
    for (int i = 0; i < 16; i++)
        store_f(x + i * LANES, v[i]);
}

void ISA_NAME(hadamard_runs)(float *x, size_t runs)
{
    for (; runs > 0; runs--, x += HADAMARD_RUN) {
        for (int i = 0; i < HADAMARD_RUN; i += TOGETHER)
            sixteen_vectors(x + i);
#if VEC_BYTES < 64
        step(x, TOGETHER, x, TOGETHER, TOGETHER, 1, 8 - LOG_TOGETHER);
#endif
    }
}
