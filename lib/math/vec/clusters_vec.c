/* clusters_vec.c -- finds the cluster of each element of a vector (the interval that contains its value), and
 * hashes the element to a bucket of its cluster. */
#include "math/vec/lane.h"

INLINE void stretch_row(const float *x, const float *above, size_t count, uint8_t *code)
{
    for (int v = 0; v < PARTS; v++) {
        const VecF value = load_f(x + v * LANES);
        VecI at = {0};
        for (size_t j = 0; j < count; j++)
            at -= value > set_f(above[j]);
        store_bytes(code + v * LANES, (VecU)at);
    }
}

void ISA_NAME(stretches)(const float *x, size_t n, const float *above, size_t count, uint8_t *code)
{
    IN_PIECES(ROW, float, x, uint8_t, code, n, stretch_row(from, above, count, to));
}

/* Lane l with cluster c = code[l] gets the slot from[c] + floor(word[l] size[c] / 2^32). `few`: at most LANES
 * clusters, so that the tables `from` and `size` fit into registers. */
INLINE void find_slots(VecU word, const uint8_t *code, bool few, const uint32_t *from, const uint32_t *size,
                       uint32_t *slot)
{
    if (few) {
        const VecI at = (VecI)load_bytes(code);
        const VecU mine = (VecU)pick_lanes((VecF)load_u(size), at);
        store_u(slot, (VecU)pick_lanes((VecF)load_u(from), at) + multiply_high(word, mine));
        return;
    }
    store_u(slot, word);
    for (int l = 0; l < LANES; l++)
        slot[l] = from[code[l]] + (uint32_t)((uint64_t)slot[l] * size[code[l]] >> 32);
}

INLINE void find_all_slots(RngKey key, uint32_t first, size_t n, const uint8_t *code, bool few,
                           const uint32_t *from, const uint32_t *size, uint32_t *slot)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        find_slots(mix_lanes(counter_lanes(key, first + (uint32_t)i), key.b), code + i, few, from, size,
                   slot + i);
    for (; i < n; i++)
        slot[i] =
            from[code[i]] + (uint32_t)((uint64_t)rng_word(&key, first + (uint32_t)i) * size[code[i]] >> 32);
}

void ISA_NAME(cluster_slots)(RngKey key, uint32_t first, size_t n, const uint8_t *code, size_t clusters,
                             const uint32_t *from, const uint32_t *size, uint32_t *slot)
{
    if (clusters <= LANES)
        find_all_slots(key, first, n, code, true, from, size, slot);
    else
        find_all_slots(key, first, n, code, false, from, size, slot);
}
