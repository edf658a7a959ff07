/* batch.c -- shuffles the images of an epoch, and fills batches: converts bytes to normalised floats, crops and
 * flips images at random, and shifts windows of a text at random.
 *
 * A crop starts `down` rows and `right` columns (each -4 to 4) from the image's first pixel. Pixels of the crop
 * outside the image are padding: black, or the image mirrored at its outermost pixels, which are not
 * repeated. */
#include "train/files.h"

#include <string.h>

enum {
    PADDING = 4,
    PLACES = 2 * PADDING + 1,
    OUTSIDE = -1,
    PIECE_IMAGES = 16,
};

typedef struct {
    const Dataset *data;
    const uint32_t *index;
    size_t count;
    bool augment;
    Rng rng;
    float level[3][256]; /* level[c][b]: the normalised value of byte b in channel c */
    float *x;
    uint32_t *labels;
} Filling;

/* Returns the row (or column) of the image that row i of the padded image copies, or OUTSIDE if row i is black.
 * Row i is padding if i < 0 or i >= side. */
static int source_of(int i, int side, Crop crop)
{
    if (i >= 0 && i < side)
        return i;
    if (crop == CROP_ZERO)
        return OUTSIDE;
    return i < 0 ? -i : 2 * (side - 1) - i;
}

static void crop_axis(int *source, size_t side, int shift, bool flip, Crop crop)
{
    for (size_t i = 0; i < side; i++)
        source[flip ? side - 1 - i : i] = source_of((int)i + shift, (int)side, crop);
}

static void fill_image(const Filling *f, const uint8_t *image, const int *row, const int *column, float *x)
{
    const DatasetInfo *info = f->data->info;
    for (size_t c = 0; c < info->channels; c++) {
        const float *level = f->level[c];
        for (size_t i = 0; i < info->rows; i++)
            for (size_t j = 0; j < info->columns; j++) {
                const bool outside = row[i] == OUTSIDE || column[j] == OUTSIDE;
                *x++ = level[outside ? 0 : image[(size_t)row[i] * info->columns + (size_t)column[j]]];
            }
        image += info->rows * info->columns;
    }
}

static void fill_piece(void *data, size_t piece)
{
    const Filling *f = data;
    const DatasetInfo *info = f->data->info;
    const size_t pixels = info->channels * info->rows * info->columns;
    const bool augment = f->augment && f->data->split == SPLIT_TRAIN && info->crop != CROP_NONE;
    int row[DATA_SIDE_MOST], column[DATA_SIDE_MOST];
    uint8_t room[COLOUR_PIXELS];
    for (size_t i = piece * PIECE_IMAGES; i < f->count && i < (piece + 1) * PIECE_IMAGES; i++) {
        const uint32_t image = f->index[i];
        f->labels[i] = f->data->labels[image];
        if (f->data->values) {
            memcpy(f->x + i * pixels, f->data->values + image * pixels, pixels * sizeof *f->x);
            continue;
        }
        const uint32_t word = augment ? rng_u32(&f->rng, USE_CROP, image) : 0;
        const int down = augment ? (int)((word & 0xffff) * PLACES >> 16) - PADDING : 0;
        const int right = augment ? (int)((word >> 16 & 0x7fff) * PLACES >> 15) - PADDING : 0;
        crop_axis(row, info->rows, down, false, info->crop);
        crop_axis(column, info->columns, right, word >> 31, info->crop);
        const uint8_t *at = f->data->pixels + image * pixels;
        fill_image(f, f->data->drawn ? drawn_image(f->data->drawn, at, room) : at, row, column,
                   f->x + i * pixels);
    }
}

static void fill_text(const Filling *f)
{
    const size_t length = f->data->info->columns;
    const bool shifts = f->augment && f->data->split == SPLIT_TRAIN;
    for (size_t i = 0; i < f->count; i++) {
        const uint64_t word = shifts ? rng_u32(&f->rng, USE_CROP, f->index[i]) : 0;
        const uint8_t *at = f->data->pixels + f->index[i] * length + (word * length >> 32);
        for (size_t j = 0; j < length; j++) {
            f->x[i * length + j] = at[j];
            f->labels[i * length + j] = at[j + 1];
        }
    }
}

void batch_fill(const Dataset *d, const uint32_t *index, size_t count, bool augment, uint64_t seed,
                uint64_t epoch, int threads, float *x, uint32_t *labels)
{
    Filling f = {.data = d, .index = index, .count = count, .augment = augment, .x = x, .labels = labels};
    f.rng = rng_open(seed, epoch, RNG_EVERYONE, 0, rng_hash("crop"));
    if (d->info->text) {
        fill_text(&f);
        return;
    }
    for (size_t c = 0; c < d->info->channels && !d->values; c++)
        for (int v = 0; v < 256; v++)
            f.level[c][v] = ((float)v / 255 - d->info->mean[c]) / d->info->deviation[c];
    parallel_for(threads, (count + PIECE_IMAGES - 1) / PIECE_IMAGES, fill_piece, &f);
}

/* Shuffles by Fisher and Yates' algorithm, with random words that depend on (seed, epoch). */
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
