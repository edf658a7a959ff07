/* files.h -- the loaders of data sets, and the images that are drawn. */
#ifndef ATOMO_DATA_FILES_H
#define ATOMO_DATA_FILES_H

#include "base/bytes.h"
#include "train/dataset.h"

/* ---- loaders, one for each file format; each is used as DatasetInfo.load ---- */

Status digits_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);
Status colour_digits_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);

/* Loads the user's own HDF5 file at `path`, and sets d->info. */
Status own_load(Dataset *d, const char *path, uint64_t seed, Arena *a, Error *err);

/* ---- synthetic digits that look handwritten, so that a first run needs no download (digits.c) ----
 *
 * An image depends only on the seed, the split (training or test) and its index. An image has the same bytes on
 * any machine: the code uses only additions, products, quotients and square roots, which IEEE arithmetic rounds
 * identically everywhere. */

enum {
    DIGIT_SIDE = 28,
    DIGIT_PIXELS = DIGIT_SIDE * DIGIT_SIDE,
    DIGITS_TRAIN = 60000,
    DIGITS_TEST = 10000,
    COLOUR_SIDE = 32,
    COLOUR_PIXELS = 3 * COLOUR_SIDE * COLOUR_SIDE,
    COLOUR_TRAIN = 10000,
    COLOUR_TEST = 1000,
};

/* The images of a data set that are drawn when they are first used (Dataset.drawn). A colour image (3, 32, 32) is the grey
 * one of the same index with a margin of two pixels, and for each channel a random dark level in place of black and a
 * random light one in place of white. */
typedef struct DrawnImages DrawnImages;

/* Draws the image at `image` if no thread has, and returns `image`; if another thread is drawing it, draws a copy into
 * `room` and returns that. Threads may call it at the same time. */
const uint8_t *drawn_image(const DrawnImages *d, const uint8_t *image, uint8_t room[COLOUR_PIXELS]);

#endif
