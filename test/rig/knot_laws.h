/* knot_laws.h -- test inputs for optimal quantisation levels: numbers from distributions with and without heavy
 * tails, in clusters, and far from zero. */
#ifndef ATOMO_TEST_KNOT_LAWS_H
#define ATOMO_TEST_KNOT_LAWS_H

#include "rig/check.h"

#include "base/rng.h"

enum { NORMAL, LAPLACE, CAUCHY, SCALES, TIES, CLUMPS, UNIFORM, FAR, HALVES, LAWS };

static inline double draw(const Rng *rng, int law, size_t i)
{
    const double z = rng_normal(rng, USE_TEST, i), u = rng_unit(rng, USE_DATA, i);
    switch (law) {
    case LAPLACE:
        return copysign(-log1p(-u), z);
    case CAUCHY:
        return z / (u + 0.001);
    case SCALES:
        return z * exp(8 * u);
    case TIES:
        return rint(3 * z) / 4;
    case CLUMPS:
        return rint(4 * u) * 100 + z;
    case UNIFORM:
        return u;
    case FAR:
        return 1e6 + 0.25 * z;
    case HALVES: /* half of the numbers are 0, the least number */
        return fmax(z, 0);
    default:
        return z;
    }
}

static inline void fill(float *x, size_t n, int law, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, law, 31);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)draw(&rng, law, i);
}

static inline int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

#endif
