/* dataset.h -- loads a data set of labelled images by its name. Published data sets are read from their
 * unchanged files. The data sets
 * `digits` and `colour-digits` are synthetic (files.h).
 *
 * Pixels are bytes in memory; batch_fill turns the images of a batch into normalised, augmented floats. The
 * seed and the epoch determine the order of the images; seed, epoch and an image's index determine the image's
 * crop and flip.
 *
 * Of a text, an image is a window of `columns` tokens, and its labels are the tokens that follow each of them.
 * A token is a number below `classes` for a byte that occurs in the text. */
#ifndef ATOMO_DATASET_H
#define ATOMO_DATASET_H

#include "base/arena.h"
#include "base/rng.h"

/* Augmentation: the image is padded by 4 pixels on each side, cropped at random to its original size, and
 * flipped with probability 1/2. */
typedef enum {
    CROP_NONE,   /* the image is neither cropped nor flipped */
    CROP_ZERO,   /* the image is padded with black */
    CROP_REFLECT /* the image is padded with its mirror image */
} Crop;

typedef enum { SPLIT_TRAIN, SPLIT_TEST } DataSplit;

typedef struct Dataset Dataset;

typedef struct {
    const char *name, *brief;
    size_t channels, rows, columns, classes;
    bool text;
    double
        entropy; /* of a text: entropy rate of its source in nats per token, the least loss; 0: not known */
    float mean[3], deviation[3]; /* mean and standard deviation of pixels / 255 for each channel */
    Crop crop;                   /* how training images are augmented */
    /* Fills the members of `d`; the caller has set info and split. May replace info by a copy whose sizes it
     * read from the data. Memory comes from `a`. */
    Status (*load)(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);
} DatasetInfo;

/* returns the name of data set i; NULL after the last */
const char *dataset_name(const void *data, size_t i);
struct Dataset {
    const DatasetInfo *info;
    DataSplit split;
    size_t count;           /* 1 .. IMAGES_MOST; may be lowered to use only the first images */
    const uint8_t *pixels;  /* (count, channels, rows, columns) pixels of the images; (tokens) of a text */
    const uint32_t *labels; /* (count), below info->classes; NULL for a text */
    size_t tokens;          /* number of tokens of a text; 0: images */
    /* instead of pixels, for data that are no bytes: (count, channels, rows, columns), normalised */
    const float *values;
    /* draws images on first use (files.h); NULL: `pixels` is complete */
    const struct DrawnImages *drawn;
};

enum { IMAGES_MOST = 1 << 30, DATA_SIDE_MOST = 4096 }; /* of images that are bytes: rows, columns */

/* Loads the data set `name`: one of the table, or the user's own file if `name` is a path FILE.h5; `dir` must then be NULL.
 * `digits`, `colour-digits` and `babble` are drawn from the seed; other sets are read from the directory `dir`
 * (NULL: datasets/NAME) and ignore the seed. Checks sizes, magic numbers and labels. An error names the file, the
 * expected content and the command that downloads the file. Memory for pixels and labels comes from `a`. */
Status dataset_load(Dataset *out, const char *name, const char *dir, DataSplit split, uint64_t seed, Arena *a,
                    Error *err);

/* Cuts a text into windows of `context` tokens, and sets d->count. Before this call a text cannot be used. A
 * training window starts up to context - 1 tokens later, drawn for each epoch. ERR_USAGE: the text is too
 * short. Does nothing if `d` has images and `context` is 0; ERR_USAGE if only one of them is so. */
Status dataset_window(Dataset *d, size_t context, Arena *a, Error *err);

/* Returns the number of labels of an image: 1, or the number of tokens of a window. */
static inline size_t dataset_labels(const DatasetInfo *info)
{
    return info->text ? info->columns : 1;
}

/* Fills order (d->count) with a permutation of the images that (seed, epoch) determines. */
void dataset_shuffle(const Dataset *d, uint64_t seed, uint64_t epoch, uint32_t *order);

/* Fills x (count, channels, rows, columns) and labels (count, dataset_labels) with images index[0 ..
 * count-1], normalised. Tokens are not normalised. With `augment`, training images are cropped and flipped at
 * random as info->crop says, and training windows of a text are shifted, as determined by (seed, epoch,
 * index[i]). */
void batch_fill(const Dataset *d, const uint32_t *index, size_t count, bool augment, uint64_t seed,
                uint64_t epoch, int threads, float *x, uint32_t *labels);

#endif
