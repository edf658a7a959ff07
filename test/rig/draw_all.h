/* draw_all.h -- draws all images of a data set that draws them on first use. */
#ifndef ATOMO_RIG_DRAW_ALL_H
#define ATOMO_RIG_DRAW_ALL_H

#include "base/parallel.h"
#include "train/files.h"

static inline void draw_one(void *data, size_t i)
{
    const Dataset *d = data;
    uint8_t room[COLOUR_PIXELS];
    drawn_image(d->drawn, d->pixels + i * d->info->channels * d->info->rows * d->info->columns, room);
}

static inline void draw_all(const Dataset *d, int threads)
{
    Dataset all = *d;
    parallel_for(threads, d->count, draw_one, &all);
}

#endif
