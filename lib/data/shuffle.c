/* shuffle.c -- the order of an epoch: Fisher and Yates' shuffle with addressed words. */
#include "data/dataset.h"

void dataset_shuffle(const Dataset *d, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    const Rng rng = rng_open(seed, epoch, RNG_EVERYONE, 0, rng_hash("epoch"));
    for (size_t i = 0; i < d->count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = d->count; i > 1; i--) {
        const size_t j = (size_t)((uint64_t)rng_u32(&rng, USE_SHUFFLE, i) * i >> 32);
        const uint32_t kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}
