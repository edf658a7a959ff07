/* sketch_vec.c -- hashes elements to buckets, and takes medians over the rows of a sketch. */
#include "math/vec/lane.h"

void ISA_NAME(hash_buckets)(RngKey key, uint32_t first, size_t n, uint32_t buckets, uint32_t *bucket)
{
    VecU step = counter_lanes(key, first);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES, step += LANES * RNG_STRIDE)
        store_u(bucket + i, multiply_high(mix_lanes(step, key.b), set_u(buckets)));
    for (; i < n; i++)
        bucket[i] = (uint32_t)((uint64_t)rng_word(&key, first + (uint32_t)i) * buckets >> 32);
}

void ISA_NAME(hash_places)(RngKey key, const uint32_t *at, size_t n, uint32_t buckets, uint32_t *bucket)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store_u(bucket + i,
                multiply_high(mix_lanes(load_u(at + i) * RNG_STRIDE + key.a, key.b), set_u(buckets)));
    for (; i < n; i++)
        bucket[i] = (uint32_t)((uint64_t)rng_word(&key, at[i]) * buckets >> 32);
}

/* Orders *a and *b in each lane. The larger value is a ^ b ^ smaller, bit by bit. */
INLINE void order(VecF *a, VecF *b)
{
    const VecF low = min_f(*a, *b);
    *b = (VecF)((VecU)*a ^ (VecU)*b ^ (VecU)low);
    *a = low;
}

/* Sorts each column by a bubble sort that stops at the middle. */
INLINE void median_columns(const float *x, size_t stride, size_t rows, size_t n, float *median)
{
    VecF v[MEDIAN_MOST];
    float out[LANES];
    for (size_t i = 0; i < n; i += LANES) {
        for (size_t r = 0; r < rows; r++)
            v[r] = load_f(x + r * stride + i);
        for (size_t top = rows - 1; top + 1 > rows / 2 && top > 0; top--)
            for (size_t r = 0; r < top; r++)
                order(&v[r], &v[r + 1]);
        if (rows % 2 == 0) {
            for (size_t r = 0; r + 1 < rows / 2; r++)
                order(&v[r], &v[r + 1]);
            v[rows / 2] = v[rows / 2 - 1] * 0.5f + v[rows / 2] * 0.5f;
        }
        const VecF middle = v[rows / 2] + 0.0f; /* -0 becomes +0 */
        if (n - i >= LANES) {
            store_f(median + i, middle);
        } else {
            store_f(out, middle);
            memcpy(median + i, out, (n - i) * sizeof *out);
        }
    }
}

/* A constant number of rows keeps a column in registers, which takes a quarter of the time. */
void ISA_NAME(medians)(const float *x, size_t stride, size_t rows, size_t n, float *median)
{
    if (rows == 5)
        median_columns(x, stride, 5, n, median);
    else
        median_columns(x, stride, rows, n, median);
}

/* ---- draws uniform integers from ranges that grow by one from draw to draw (Floyd's algorithm, randk.c) ---- */

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

/* ---- finds the cluster of each element of a vector (the interval that contains its value), and
 * hashes the element to a bucket of its cluster ---- */

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
