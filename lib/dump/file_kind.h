/* file_kind.h -- tells the kinds of files apart by their first bytes; a file's name plays no part. */
#ifndef ATOMO_FILE_KIND_H
#define ATOMO_FILE_KIND_H

#include "base/base.h"

typedef enum {
    FILE_UNKNOWN,
    FILE_HDF5,
    FILE_SAFETENSORS,
    FILE_NPY,
    FILE_ZIP,    /* .npz, or another zip archive */
    FILE_PICKLE, /* a Python pickle, or a zip archive that begins with one, as torch.save writes it */
} FileKind;

/* Sets the kind of the open file of `size` bytes. It reads a few bytes at fixed places and parses nothing. ERR_IO when
 * they cannot be read; the text does not name the file. */
Status file_kind(int fd, uint64_t size, FileKind *kind, Error *err);

/* Returns the kind of the file at `path`; FILE_UNKNOWN if it is no regular file or cannot be opened. */
FileKind file_kind_at(const char *path);

/* Refuses a pickle, with a hint that saves the same tensors as safetensors. The text does not name the file. */
Status refuse_pickle(const char *path, Error *err);

#endif
