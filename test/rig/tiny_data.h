/* tiny_data.h -- small labelled images for tests: each class is a fixed pattern, and an image is the pattern of
 * its class plus noise. */
#ifndef ATOMO_TINY_DATA_H
#define ATOMO_TINY_DATA_H

#include "train/dataset.h"

static const DatasetInfo tiny_info = {.name = "tiny",
                                      .channels = 1,
                                      .rows = 8,
                                      .columns = 8,
                                      .classes = 4,
                                      .mean = {0.5f},
                                      .deviation = {0.25f}};

static inline Dataset tiny_data(DataSplit split, size_t count, Arena *a)
{
    enum { PIXELS = 64 };
    const Rng law = rng_open(1, 0, 0, 0, 1), own = rng_open(2, (uint64_t)split, 0, 0, 1);
    uint8_t *pixels = NEW(a, uint8_t, count * PIXELS);
    uint32_t *labels = NEW(a, uint32_t, count);
    for (size_t k = 0; k < count; k++) {
        labels[k] = (uint32_t)(rng_u32(&own, USE_SAMPLE, k) % tiny_info.classes);
        for (size_t i = 0; i < PIXELS; i++) {
            const uint32_t mark = rng_u32(&law, USE_TEST, labels[k] * PIXELS + i) & 1;
            pixels[k * PIXELS + i] =
                (uint8_t)(24 + 96 * mark + rng_u32(&own, USE_DATA, k * PIXELS + i) % 128);
        }
    }
    return (Dataset){.info = &tiny_info, .split = split, .count = count, .pixels = pixels, .labels = labels};
}

#endif
