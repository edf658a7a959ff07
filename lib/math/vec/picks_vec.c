/* picks_vec.c -- draws uniform integers from ranges that grow by one from draw to draw (Floyd's algorithm, select.h). */
#include "math/vec/lane.h"

void ISA_NAME(picks)(const RngKey *key, uint32_t count, uint32_t range, uint32_t *at)
{
    uint32_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const VecU high = mix_lanes(counter_lanes(*key, i), key->b),
                   low = mix_lanes(counter_lanes((RngKey){.a = key->c}, i), key->d);
        /* floor((high 2^32 + low) size / 2^64): the middle word of the product may carry into the upper one */
        const VecU size = lane_numbers() + (range + i), middle = high * size;
        const VecU carry = (VecU)(middle + multiply_high(low, size) < middle);
        store_u(at + i, multiply_high(high, size) - carry);
    }
    for (; i < count; i++) {
        const uint64_t word = (uint64_t)rng_word(key, i) << 32 | rng_word_more(key, i);
        at[i] = (uint32_t)((unsigned __int128)word * (range + i) >> 64);
    }
}
