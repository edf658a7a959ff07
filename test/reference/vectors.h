/* vectors.h -- test vectors that the program reference/metrics.py computes too. Elements are hashed
 * integers, converted by operations that are exact or correctly rounded, so both programs get the same
 * floats. */
#ifndef ATOMO_REFERENCE_VECTORS_H
#define ATOMO_REFERENCE_VECTORS_H

#include <stddef.h>
#include <stdint.h>

/* Returns a number in [0, 1), a multiple of 2^-24, computed by hashing i and seed. */
static inline double reference_unit(uint32_t i, uint32_t seed)
{
    uint32_t h = i * 2654435761u + seed * 2246822519u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    h *= 3266489917u;
    h ^= h >> 16;
    return (double)(h >> 8) * 0x1p-24;
}

/* Fills x with heavy-tailed numbers of both signs. Every 16th element is zero; some of these zeros are
 * negative. */
static inline void reference_gradient(float *x, size_t n, uint32_t seed)
{
    for (uint32_t i = 0; i < n; i++) {
        const double u = 2 * reference_unit(i, seed) - 1;
        x[i] = (float)(i % 16 == 5 ? u < 0 ? -0.0 : 0.0 : u * u * u * 0.25);
    }
}

/* Fills y with an imitation of the estimate that a codec decodes in repeat number `repeat`. Each element of
 * x is rounded to a multiple of 1/64, up or down by a hashed random bit. Every third zero becomes 1/64 or
 * -1/64. */
static inline void reference_decoded(const float *x, float *y, size_t n, uint32_t repeat)
{
    for (uint32_t i = 0; i < n; i++) {
        const double level = (double)x[i] * 64 + 1024;
        const double low = (double)(uint32_t)level;
        const double u = reference_unit(i, 1000 + repeat), up = u < level - low ? 1 : 0;
        y[i] = (float)((low + up - 1024) / 64);
        if (x[i] == 0 && i % 3 == 0)
            y[i] = u < 0.5 ? 0.015625f : -0.015625f;
    }
}

#endif
