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

void ISA_NAME(medians)(const float *x, size_t stride, size_t rows, size_t n, float *median)
{
    if (rows == 3)
        median_columns(x, stride, 3, n, median);
    else if (rows == 5)
        median_columns(x, stride, 5, n, median);
    else
        median_columns(x, stride, rows, n, median);
}
