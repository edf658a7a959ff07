/* powers_vec.c -- rounds floats to powers of two at random, and converts back, in integer arithmetic. A
 * float's mantissa is the probability of rounding up, so adding random bits to the mantissa gives a carry into
 * the exponent with this probability. */
#include "math/vec/lane.h"

#define LARGEST_POWER 0x7f000000u /* 2^127 */

INLINE VecI power_lanes(const float *x, RngKey key, uint32_t i, uint8_t *power, uint8_t *sign)
{
    const VecU v = (VecU)load_f(x), mag = v & 0x7fffffffu;
    const VecU word = mix_lanes(counter_lanes(key, i), key.b);
    const VecU p = (mag + (~word >> 9)) >> 23;
    store_bytes(power, p);
    store_bytes(sign, (v >> 31) & (VecU)(p != 0));
    return (VecI)mag > (VecI)set_u(LARGEST_POWER);
}

INLINE VecI power_value_lanes(const uint8_t *power, const uint8_t *sign, float *x)
{
    const VecU p = load_bytes(power), s = load_bytes(sign);
    store_f(x, (VecF)(s << 31 | p << 23));
    return (p == 255) | ((p == 0) & (s != 0));
}

bool ISA_NAME(powers)(const float *x, size_t n, RngKey key, uint8_t *power, uint8_t *sign)
{
    VecI bad = {0};
    size_t i = 0, next = second_piece(x, LANES);
    for (; i + LANES <= n; i = next, next += LANES)
        bad |= power_lanes(x + i, key, (uint32_t)i, power + i, sign + i);
    if (i < n) {
        float last[LANES] = {0};
        uint8_t last_power[LANES], last_sign[LANES];
        memcpy(last, x + i, (n - i) * sizeof *x);
        bad |= power_lanes(last, key, (uint32_t)i, last_power, last_sign);
        memcpy(power + i, last_power, n - i);
        memcpy(sign + i, last_sign, n - i);
    }
    return !any(bad);
}

bool ISA_NAME(power_floats)(const uint8_t *power, const uint8_t *sign, size_t n, float *x)
{
    VecI bad = {0};
    size_t i = 0, next = second_piece(x, LANES);
    for (; i + LANES <= n; i = next, next += LANES)
        bad |= power_value_lanes(power + i, sign + i, x + i);
    if (i < n) {
        float last[LANES];
        uint8_t last_power[LANES] = {0}, last_sign[LANES] = {0};
        memcpy(last_power, power + i, n - i);
        memcpy(last_sign, sign + i, n - i);
        bad |= power_value_lanes(last_power, last_sign, last);
        memcpy(x + i, last, (n - i) * sizeof *x);
    }
    return !any(bad);
}
