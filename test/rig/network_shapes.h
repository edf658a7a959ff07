/* network_shapes.h -- the shapes of real networks, and matrices like their gradients. */
#ifndef ATOMO_NETWORK_SHAPES_H
#define ATOMO_NETWORK_SHAPES_H

#include "num/linalg.h"
#include "base/rng.h"

/* Fills x with a matrix like a gradient: noise plus a few outer products of high norm. `seed` selects the
 * random numbers. */
static inline void fill_gradient(const Shape *shape, uint64_t seed, float *x)
{
    size_t rows, cols;
    const Rng rng = rng_open(seed, 0, 0, 0, 0);
    matrix_view(shape, RESHAPE_PAPER, &rows, &cols);
    for (size_t i = 0; i < shape->n; i++) {
        double sum = 0.05 * rng_normal(&rng, USE_TEST, i);
        for (uint64_t k = 0; k < 4; k++)
            sum += pow(0.5, (double)k) * rng_normal(&rng, USE_DATA, k << 32 | i / cols) *
                   rng_normal(&rng, USE_INIT, k << 32 | i % cols);
        x[i] = (float)(1e-3 * sum);
    }
}

/* Shapes of tensors of LeNet, ResNet-18 and a character transformer, with shortened long sides. */
static const Shape network_shapes[] = {
    {4, {20, 1, 5, 5}, 500},
    {4, {8, 4, 5, 5}, 800},
    {1, {20}, 20},
    {2, {40, 60}, 2400},
    {2, {10, 50}, 500},
    {1, {10}, 10},
    {4, {16, 3, 3, 3}, 432},
    {1, {64}, 64},
    {4, {16, 16, 3, 3}, 2304},
    {4, {32, 16, 1, 1}, 512},
    {2, {13, 40}, 520},
    {2, {64, 48}, 3072},
    {2, {36, 12}, 432},
    {2, {12, 36}, 432},
    {4, {3, 5, 3, 3}, 135},
    {1, {9}, 9},
    {3, {6, 5, 4}, 120},
    {2, {1, 30}, 30},
    {2, {30, 1}, 30},
    {1, {1}, 1},
};

#endif
