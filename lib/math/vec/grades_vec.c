/* grades_vec.c -- rounds floats to evenly spaced levels between the smallest and the largest element of a
 * bucket, and converts levels back to floats. The arithmetic is that of quantise.h applied to x - low,
 * without signs. */
#include "math/vec/lane.h"

/* + 0.0f turns -0 into +0, so that the result does not depend on the order of zeros of both signs. */
void ISA_NAME(range)(const float *x, size_t n, float *low, float *high)
{
    float least = x[0], most = x[0], lane[ROW];
    size_t i = 0;
    if (n >= ROW) {
        VecF down[PARTS], up[PARTS];
        for (int v = 0; v < PARTS; v++)
            down[v] = up[v] = load_f(x + v * LANES);
        for (i = ROW; i + ROW <= n; i += ROW)
            for (int v = 0; v < PARTS; v++) {
                const VecF a = load_f(x + i + v * LANES);
                down[v] = min_f(down[v], a);
                up[v] = max_f(up[v], a);
            }
        memcpy(lane, down, sizeof lane);
        for (int l = 0; l < ROW; l++)
            least = lane[l] < least ? lane[l] : least;
        memcpy(lane, up, sizeof lane);
        for (int l = 0; l < ROW; l++)
            most = lane[l] > most ? lane[l] : most;
    }
    for (; i < n; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    *low = least + 0.0f;
    *high = most + 0.0f;
}

/* ---- converting floats to levels ---- */

INLINE VecU grade_lanes(const float *x, float low, Quantiser q, const RngKey *key, uint32_t i, bool correlated)
{
    const VecF t = min_f((load_f(x) - low) * q.lift * q.slope, set_f(q.top));
    const VecU more =
        key ? ~round_lanes(*key, i, set_u(0), correlated) >> (32 - q.fraction) : set_u(1u << (q.fraction - 1));
    return ((VecU)whole(t) + more) >> q.fraction;
}

/* Defines a function that converts n floats to levels. */
#define TO_GRADES(NAME, TYPE, STORE)                                                                         \
    INLINE void NAME##_all(const float *x, size_t n, float low, Quantiser q, const RngKey *key,              \
                           uint32_t first, bool correlated, TYPE *code)                                      \
    {                                                                                                        \
        IN_PIECES(LANES, float, x, TYPE, code, n,                                                            \
                  STORE(to, grade_lanes(from, low, q, key, first + (uint32_t)i, correlated)));               \
    }                                                                                                        \
    void ISA_NAME(NAME)(const float *x, size_t n, float low, Quantiser q, const RngKey *key, uint32_t first, \
                        TYPE *code)                                                                          \
    {                                                                                                        \
        if (key) {                                                                                           \
            const RngKey own = *key;                                                                         \
            if (own.mask)                                                                                    \
                NAME##_all(x, n, low, q, &own, first, true, code);                                           \
            else                                                                                             \
                NAME##_all(x, n, low, q, &own, first, false, code);                                          \
        } else {                                                                                             \
            NAME##_all(x, n, low, q, NULL, first, false, code);                                              \
        }                                                                                                    \
    }

TO_GRADES(grade8, uint8_t, store_bytes)
TO_GRADES(grade32, uint32_t, store_u)

/* ---- converting levels to floats ---- */

INLINE VecF graded_lanes(VecU code, float low, float high, Dequantiser d)
{
    return min_f(real((VecI)code) * d.unit * d.drop + low, set_f(high));
}

void ISA_NAME(graded8)(const uint8_t *code, size_t n, float low, float high, Dequantiser d, float *x)
{
    IN_PIECES(LANES, uint8_t, code, float, x, n, store_f(to, graded_lanes(load_bytes(from), low, high, d)));
}

void ISA_NAME(graded32)(const uint32_t *code, size_t n, float low, float high, Dequantiser d, float *x)
{
    IN_PIECES(LANES, uint32_t, code, float, x, n, store_f(to, graded_lanes(load_u(from), low, high, d)));
}
