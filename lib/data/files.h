/* files.h -- a published file as bytes, plain or gzip, and errors that say how to fetch it. */
#ifndef ATOMO_DATA_FILES_H
#define ATOMO_DATA_FILES_H

#include "base/bytes.h"
#include "data/dataset.h"

/* The whole of dir/name, else of dir/name.gz unpacked. `path` is which of them it was. */
Status data_file(const DatasetInfo *info, const char *dir, const char *name, Bytes *out, const char **path,
                 Arena *a, Error *err);
bool data_file_there(const char *dir, const char *name, Arena *a);

/* One gzip member that fills the whole of `packed`. */
Status gzip_unpack(Bytes packed, Bytes *out, Arena *a, Error *err);

/* One zlib stream that fills the whole of `packed`, with the checksum that it has; what it holds is not kept. */
Status zlib_whole(Bytes packed, Error *err);

/* ERR_CORRUPT at the file, with the command that fetches it as the hint. */
Status data_damaged(const DatasetInfo *info, const char *path, Error *err);

/* Parsers of files' contents: what is wrong comes without the file's name. */
typedef struct {
    size_t count;
    const uint8_t *first;
} Items;
Status idx_images(Bytes file, size_t rows, size_t columns, Items *out, Error *err);
Status idx_labels(Bytes file, size_t classes, Items *out, Error *err);

/* Records of label bytes (the last of them is the class) and 3072 pixels; appends to pixels and labels. */
Status cifar_count(Bytes file, size_t classes, size_t *count, Error *err);
Status cifar_take(Bytes file, size_t classes, uint8_t *pixels, uint8_t *labels, Error *err);

/* Is it a MATLAB 5 file, whole, whose packed variables have their checksums? */
Status mat_check(Bytes file, Error *err);

#endif
