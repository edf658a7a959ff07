/* files.h -- the loaders of data sets, and functions that they share for reading published files, plain or
 * gzip. */
#ifndef ATOMO_DATA_FILES_H
#define ATOMO_DATA_FILES_H

#include "base/bytes.h"
#include "train/dataset.h"

/* ---- loaders, one for each file format; each is used as DatasetInfo.load ---- */

Status digits_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);
Status colour_digits_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);
Status idx_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);
Status cifar_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);
Status svhn_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);
Status text_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);
Status babble_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err);

/* Loads the user's own HDF5 file at `path`, and sets d->info. */
Status own_load(Dataset *d, const char *path, uint64_t seed, Arena *a, Error *err);

/* Sets d->count and d->labels from labels that are bytes. */
Status labels_set(Dataset *d, const uint8_t *labels, size_t count, Arena *a, Error *err);

/* Gives a data set of text its tokens, and a copy of its DatasetInfo with `classes` kinds of tokens and the
 * entropy rate `entropy`. `pixels` must outlive `d`. */
Status text_set(Dataset *d, const uint8_t *pixels, size_t tokens, size_t classes, double entropy, Arena *a,
                Error *err);

/* ---- files ---- */

/* Reads the file dir/name. If there is none, reads dir/name.gz and unpacks it. Sets *path to the path of the
 * file that was read. Memory for bytes and path comes from `a`. */
Status data_file(const DatasetInfo *info, const char *dir, const char *name, Bytes *out, const char **path,
                 Arena *a, Error *err);
bool data_file_there(const char *dir, const char *name, Arena *a);

/* Unpacks `packed`. Fails unless it is exactly one gzip member. */
Status gzip_unpack(Bytes packed, Bytes *out, Arena *a, Error *err);

/* Puts the file's path in front of the error, and adds a hint with the command that downloads the file. */
Status data_damaged(const DatasetInfo *info, const char *path, Error *err);

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

#endif
