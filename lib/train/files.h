/* files.h -- the loaders of data sets, and functions that they share for reading published files, plain or
 * gzip. */
#ifndef ATOMO_DATA_FILES_H
#define ATOMO_DATA_FILES_H

#include "base/bytes.h"
#include "train/dataset.h"

/* ---- loaders, one for each file format; each is used as DatasetInfo.load ---- */

Status digits_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);
Status colour_digits_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);

/* Loads the user's own HDF5 file at `path`, and sets d->info. */
Status own_load(Dataset *d, const char *path, uint64_t seed, Arena *a, Error *err);

/* ---- files ---- */

/* Unpacks `packed`. Fails unless it is exactly one gzip member. */
Status gzip_unpack(Bytes packed, Bytes *out, Arena *a, Error *err);

/* ---- parsers of file contents; their errors do not name the file ---- */

typedef struct {
    size_t count;
    const uint8_t *first;
} Items;
Status idx_images(Bytes file, size_t rows, size_t columns, Items *out, Error *err);
Status idx_labels(Bytes file, size_t classes, Items *out, Error *err);

/* cifar_count counts the records (images with their labels) of a CIFAR file. cifar_take copies the pixels of
 * all records to an array (count, 3072), and their labels to an array (count). */
Status cifar_count(Bytes file, size_t classes, size_t *count, Error *err);
Status cifar_take(Bytes file, size_t classes, uint8_t *pixels, uint8_t *labels, Error *err);

/* ---- a text drawn by the program from a Markov chain (datasets.c) ---- */

enum {
    BABBLE_LETTERS = 16,
    BABBLE_PAIRS = BABBLE_LETTERS * BABBLE_LETTERS,
    BABBLE_TRAIN = 1 << 20,
    BABBLE_TEST = 1 << 16,
};

/* Fills `letters` (count) with letters below BABBLE_LETTERS, as determined by (seed, split). */
void babble_draw(uint64_t seed, DataSplit split, size_t count, uint8_t *letters);

/* Returns the entropy rate of the source, in nats per letter. */
double babble_entropy(uint64_t seed);

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
