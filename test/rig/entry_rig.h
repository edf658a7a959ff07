/* entry_rig.h -- helpers for tests of element-wise ATOMO: vectors of several distributions, and the water level
 * tau for a budget. An element x is kept with probability min(1, |x| / tau); the budget is the expected number
 * of kept elements. */
#ifndef ATOMO_ENTRY_RIG_H
#define ATOMO_ENTRY_RIG_H

#include "rig/codec_rig.h"
#include "rig/sources.h"
#include "compress/atoms/waterfill.h"

static Arena *forever;

static inline float *vector(size_t n, const char *law)
{
    const Rng rng = rng_open(5, 0, 0, 0, rng_hash(law));
    const Shape shape = shape_vector(n);
    float *x = NEW(forever, float, n + 1);
    if (!strcmp(law, "laplace"))
        fill_laplace(&rng, &shape, x);
    else if (!strcmp(law, "spike"))
        fill_spike(&rng, &shape, x);
    else if (!strcmp(law, "zeros"))
        fill_zeros(&rng, &shape, x);
    else if (!strcmp(law, "constant"))
        fill_constant(&rng, &shape, x);
    else if (!strcmp(law, "denormal"))
        fill_denormal(&rng, &shape, x);
    else
        rng_normals(&rng, USE_TEST, 0, n, 1, x);
    return x;
}

/* Returns tau for a budget by Algorithm 1 of the ATOMO paper, rounded to float32. */
static inline float level_ref(const float *x, size_t n, double budget)
{
    Level level;
    check(waterfill_floats(x, n, budget, 1, forever, &level));
    return (float)level.tau;
}

#endif
