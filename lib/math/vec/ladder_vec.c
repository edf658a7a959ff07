/* ladder_vec.c -- the rounding of a Ladder (quantise.h) and its inverse, in SIMD vectors. */
#include "math/vec/lane.h"

INLINE void climb_lanes(const float *x, Ladder l, RngKey key, uint32_t i, uint8_t *code)
{
    const VecF v = load_f(x);
    const VecU word = mix_lanes(counter_lanes(key, i), key.b);
    const VecF z = min_f(abs_f(v) * l.lift * l.slope, set_f(l.top));
    const VecI below = z < 1;
    const VecI low = (VecI)(word >> 2) < whole((VecF)(below & (VecI)z) * 0x1p30f);
    const VecU high = (((VecU)z + (~word >> 9)) >> 23) - 126;
    const VecU level = ((VecU)below & (VecU)low & 1) | (~(VecU)below & high);
    store_bytes(code, level | ((((VecU)v >> 31) & (VecU)(level != 0)) << l.bits));
}

INLINE VecI descend_lanes(const uint8_t *code, Ladder l, float *x)
{
    const VecU c = load_bytes(code), level = c & l.s;
    const VecF v = (VecF)((127 + level - l.s) << 23) * l.unit * l.drop;
    store_f(x, (VecF)(((VecU)v & (VecU)(level != 0)) | c >> l.bits << 31));
    return (VecI)(c >> l.bits > 1) | (VecI)(c == 1u << l.bits);
}

void ISA_NAME(climb)(const float *x, size_t n, Ladder l, RngKey key, uint32_t first, uint8_t *code)
{
    IN_PIECES(LANES, float, x, uint8_t, code, n, climb_lanes(from, l, key, first + (uint32_t)i, to));
}

bool ISA_NAME(descend)(const uint8_t *code, size_t n, Ladder l, float *x)
{
    VecI bad = {0};
    IN_PIECES(LANES, uint8_t, code, float, x, n, bad |= descend_lanes(from, l, to));
    return !any(bad);
}
