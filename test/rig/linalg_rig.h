/* linalg_rig.h -- matrices of many shapes, for tests of linear algebra. */
#ifndef ATOMO_LINALG_RIG_H
#define ATOMO_LINALG_RIG_H

#include "rig/check.h"
#include "math/linalg.h"
#include "base/rng.h"

static Arena *arena;
static Error err;

static inline int open_arena(void **state)
{
    arena = arena_open(0);
    return 0;
}

static inline int close_arena(void **state)
{
    arena_close(arena);
    return 0;
}

static inline float *normal(size_t n, uint64_t seed, double scale)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 0);
    float *x = NEW(arena, float, n + 1);
    rng_normals(&rng, USE_TEST, 0, n, scale, x);
    return x;
}

static inline double entry(const Tall *a, size_t i, size_t j)
{
    return (double)(a->turned ? a->x[j * a->rows + i] : a->x[i * a->cols + j]);
}

static const size_t shapes[][2] = {{1, 1},     {1, 9},     {9, 1},     {2, 2},     {700, 2}, {10, 10},
                                   {1000, 10}, {10, 1000}, {513, 18},  {4000, 18}, {50, 33}, {33, 50},
                                   {64, 31},   {200, 32},  {300, 130}, {130, 300}};

/* Returns the addresses of `count` vectors of `rows` floats, which lie one after another from `at` on. */
static inline uint8_t **slots(uint8_t *at, size_t count, size_t rows)
{
    uint8_t **slot = NEW(arena, uint8_t *, count);
    for (size_t k = 0; k < count; k++)
        slot[k] = at + k * rows * sizeof(float);
    return slot;
}

#endif
