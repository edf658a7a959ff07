/* dataset.h -- labelled images for training, by name: published files read as they are, and digits of our own making.
 *
 * Pixels stay bytes in memory; batch_fill turns those of a batch into normalised, augmented floats. Which images make
 * a batch, and how each is cropped and flipped, follows from (seed, epoch, place) alone. */
#ifndef ATOMO_DATASET_H
#define ATOMO_DATASET_H

#include "base/arena.h"
#include "base/rng.h"

typedef enum {
    CROP_NONE, /* and no flip */
    CROP_ZERO,
    CROP_REFLECT
} Crop; /* random crop out of 4 pixels of such padding, and a flip */

typedef enum { PART_TRAIN, PART_TEST } Part;

typedef struct Dataset Dataset;

typedef struct {
    const char *name, *brief;
    size_t channels, rows, columns, classes;
    float mean[3], deviation[3]; /* of pixels / 255, by channel */
    Crop crop;                   /* of training images */
    const char *licence, *source;
    /* Fills count, pixels and labels of one whose info and part are set. */
    Status (*load)(Dataset *d, const char *dir, uint64_t seed, int threads, Arena *a, Error *err);
} DatasetInfo;

extern const DatasetInfo datasets[];                           /* ends in {0} */
const char *dataset_name(const void *data, size_t i);          /* data: NULL; NULL behind the last */
const DatasetInfo *dataset_find(const char *name, Error *err); /* NULL: names all, and the nearest */

struct Dataset {
    const DatasetInfo *info;
    Part part;
    size_t count; /* 1 .. IMAGES_MOST; lowering it leaves the first ones, which are a data set as well */
    const uint8_t *pixels; /* (count, channels, rows, columns) */
    const uint8_t *labels; /* (count), below info->classes */
};

enum { IMAGES_MOST = 1 << 30 };

/* `dir` holds the published files; NULL: datasets/NAME. `digits` needs none and follows from the seed. Everything is checked here: sizes, magic numbers,
 * labels. An error names the file, what was expected, and the command that fetches it. */
Status dataset_load(Dataset *out, const char *name, const char *dir, Part part, uint64_t seed, int threads,
                    Arena *a, Error *err);

/* order (count): a permutation of the images from (seed, epoch). */
void dataset_shuffle(const Dataset *d, uint64_t seed, uint64_t epoch, uint32_t *order);

/* x (count, channels, rows, columns), labels (count): images index[0 .. count-1], normalised. Training images are
 * cropped and flipped by words addressed (seed, epoch, index[i]); `augment` false leaves them as they are. */
void batch_fill(const Dataset *d, const uint32_t *index, size_t count, bool augment, uint64_t seed,
                uint64_t epoch, int threads, float *x, uint8_t *labels);

#endif
