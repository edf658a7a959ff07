/* signs_vec.c -- converts signs to bits and back, and sums up elements >= 0 and elements < 0 separately. */
#include "math/vec/lane.h"
#include "base/bytes.h"

enum { SIGN_GROUP = 64 };
/* Bit l of the result is set if lane l of v is below zero. */
INLINE uint64_t below_zero(VecF v)
{
#if VEC_BYTES == 64
    return _mm512_cmp_ps_mask((__m512)v, _mm512_setzero_ps(), _CMP_LT_OQ);
#else
    return lane_bits((VecI)(v < 0));
#endif
}

INLINE uint64_t group_bits(const float *x)
{
    uint64_t word = 0;
    for (int l = 0; l < SIGN_GROUP; l += LANES)
        word |= below_zero(load_f(x + l)) << l;
    return word;
}

void ISA_NAME(sign_bits)(const float *x, size_t groups, uint8_t *bit)
{
    for (size_t g = 0; g < groups; g++)
        store_u64(bit + 8 * g, group_bits(x + g * SIGN_GROUP));
}

/* Lane l of the result is `minus` if bit l of `word` is set, else `plus`. */
INLINE VecF choose_sign(uint32_t word, VecF plus, VecF minus)
{
#if VEC_BYTES == 64
    return (VecF)_mm512_mask_blend_ps((__mmask16)word, (__m512)plus, (__m512)minus);
#else
    VecI each;
    for (int l = 0; l < LANES; l++)
        each[l] = 1 << l;
    const VecI set = (((VecI){0} + (int32_t)word) & each) == each;
    return (VecF)(((VecI)minus & set) | ((VecI)plus & ~set));
#endif
}

void ISA_NAME(sign_values)(const uint8_t *bit, size_t groups, float plus, float minus, float *x)
{
    const VecF high = plus - (VecF){0}, low = minus - (VecF){0};
    for (size_t g = 0; g < groups; g++, x += SIGN_GROUP) {
        const uint64_t word = load_u64(bit + 8 * g);
        for (int l = 0; l < SIGN_GROUP; l += LANES)
            store_f(x + l, choose_sign((uint32_t)(word >> l), high, low));
    }
}

void ISA_NAME(sign_sums)(const float *x, size_t n, double sum[2])
{
    VecD up[DPARTS] = {{0}}, down[DPARTS] = {{0}};
    EACH_ROW(x, n, row, for (int v = 0; v < DPARTS; v++) {
        const VecD d = load_d(row + v * DLANES);
        const VecL minus = d < 0;
        up[v] += (VecD)((VecL)d & ~minus);
        down[v] -= (VecD)((VecL)d & minus);
    });
    sum[0] = fold(up);
    sum[1] = fold(down);
}

void ISA_NAME(sign_columns)(const float *x, size_t n, double *plus, double *minus, uint64_t *below)
{
    EACH_ROW(x, n, row, for (int v = 0; v < ROW; v += DLANES) {
        VecD up, down;
        VecL count;
        const VecD d = load_d(row + v);
        const VecL less = d < 0;
        memcpy(&up, plus + at + v, sizeof up);
        memcpy(&down, minus + at + v, sizeof down);
        memcpy(&count, below + at + v, sizeof count);
        up += (VecD)((VecL)d & ~less);
        down -= (VecD)((VecL)d & less);
        count -= less;
        memcpy(plus + at + v, &up, sizeof up);
        memcpy(minus + at + v, &down, sizeof down);
        memcpy(below + at + v, &count, sizeof count);
    });
}
