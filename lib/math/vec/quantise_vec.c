/* quantise_vec.c -- the rounding of quantise.h and coin.h and its inverse, in SIMD vectors. */
#include "math/vec/lane.h"

/* ---- converting floats to codes ---- */

INLINE VecU sign_lanes(VecF v)
{
    return (VecU)((VecI)v >> 31);
}

INLINE VecU quantise_lanes(const float *x, Quantiser q, RngKey key, uint32_t i, bool correlated)
{
    const VecF v = load_f(x);
    const VecU word = round_lanes(key, i, sign_lanes(v), correlated);
    const VecF t = min_f(abs_f(v) * q.lift * q.slope, set_f(q.top));
    const VecU level = ((VecU)whole(t) + (~word >> (32 - q.fraction))) >> q.fraction;
    return level | (((VecU)v & 0x80000000u & (VecU)(level != 0)) >> (31 - q.bits));
}

INLINE void quantise_row8(const float *x, Quantiser q, RngKey key, uint32_t i, bool correlated, uint8_t *code)
{
    for (int v = 0; v < PARTS; v++)
        store_bytes(code + v * LANES, quantise_lanes(x + v * LANES, q, key, i + (uint32_t)(v * LANES), correlated));
}

INLINE void quantise_row32(const float *x, Quantiser q, RngKey key, uint32_t i, bool correlated, uint32_t *code)
{
    for (int v = 0; v < PARTS; v++)
        store_u(code + v * LANES, quantise_lanes(x + v * LANES, q, key, i + (uint32_t)(v * LANES), correlated));
}

/* Runs a loop over rows for independent or for correlated rounding. */
#define ROUND(TYPE, STATEMENT)                                                                               \
    do {                                                                                                     \
        if (key.mask)                                                                                        \
            IN_PIECES(ROW, float, x, TYPE, code, n, STATEMENT(true));                                        \
        else                                                                                                 \
            IN_PIECES(ROW, float, x, TYPE, code, n, STATEMENT(false));                                       \
    } while (0)

#define ROUND8(correlated)  quantise_row8(from, q, key, first + (uint32_t)i, correlated, to)
#define ROUND32(correlated) quantise_row32(from, q, key, first + (uint32_t)i, correlated, to)

void ISA_NAME(quantise8)(const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint8_t *code)
{
    ROUND(uint8_t, ROUND8);
}

void ISA_NAME(quantise32)(const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint32_t *code)
{
    ROUND(uint32_t, ROUND32);
}

/* ---- random rounding to level 0 or 1 (coin.h) ---- */

/* Rounds one SIMD vector to level 0 or 1 by 30 random bits per element. Returns false if these bits equal the
 * first 30 bits of an element's probability; then `coin_code` decides with further random bits. */
INLINE bool toss_lanes(const float *x, Coin coin, RngKey key, uint32_t i, bool correlated, uint8_t *code)
{
    const VecF v = load_f(x);
    const VecI r = (VecI)(round_lanes(key, i, sign_lanes(v), correlated) >> 2);
    const VecF t = min_f(abs_f(v) * coin.lift * coin.slope, set_f(0x1p30f));
    const VecI down = whole(t);
    store_bytes(code, (VecU)(r < down) & (1u | (((VecU)v >> 30) & 2u)));
    return !any((r == down) & (t > real(down)));
}

INLINE void toss_row(const float *x, Coin coin, RngKey key, uint32_t i, bool correlated, uint8_t *code)
{
    for (int v = 0; v < PARTS; v++) {
        const int at = v * LANES;
        if (__builtin_expect(toss_lanes(x + at, coin, key, i + (uint32_t)at, correlated, code + at), 1))
            continue;
        for (int l = at; l < at + LANES; l++)
            code[l] = (uint8_t)coin_code(coin, x[l], &key, i + (uint32_t)l);
    }
}

#define TOSS(correlated) toss_row(from, coin, key, first + (uint32_t)i, correlated, to)

void ISA_NAME(toss8)(const float *x, size_t n, Coin coin, RngKey key, uint32_t first, uint8_t *code)
{
    ROUND(uint8_t, TOSS);
}

/* ---- converting codes to floats ---- */

INLINE VecI value_lanes(VecU code, Dequantiser d, float *x)
{
    const VecU level = code & ((1u << d.bits) - 1), sign = code >> d.bits;
    const VecF v = real((VecI)level) * d.unit * d.drop;
    store_f(x, (VecF)((VecU)v | sign << 31));
    return ((VecI)level > (VecI)set_u(d.s)) | (code == 1u << d.bits) | (VecI)(sign > 1);
}

INLINE VecI value_row8(const uint8_t *code, Dequantiser d, float *x)
{
    VecI bad = {0};
    for (int v = 0; v < PARTS; v++)
        bad |= value_lanes(load_bytes(code + v * LANES), d, x + v * LANES);
    return bad;
}

INLINE VecI value_row32(const uint32_t *code, Dequantiser d, float *x)
{
    VecI bad = {0};
    for (int v = 0; v < PARTS; v++)
        bad |= value_lanes(load_u(code + v * LANES), d, x + v * LANES);
    return bad;
}

bool ISA_NAME(dequantise8)(const uint8_t *code, size_t n, Dequantiser d, float *x)
{
    VecI bad = {0};
    IN_PIECES(ROW, uint8_t, code, float, x, n, bad |= value_row8(from, d, to));
    return !any(bad);
}

bool ISA_NAME(dequantise32)(const uint32_t *code, size_t n, Dequantiser d, float *x)
{
    VecI bad = {0};
    IN_PIECES(ROW, uint32_t, code, float, x, n, bad |= value_row32(from, d, to));
    return !any(bad);
}

/* ---- the rounding of a Ladder (quantise.h) and its inverse, in SIMD vectors ---- */

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
