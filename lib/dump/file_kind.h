/* file_kind.h -- finds the kind of a file from its first bytes, not from its name. */
#ifndef ATOMO_FILE_KIND_H
#define ATOMO_FILE_KIND_H

#include "base/base.h"

typedef enum {
    FILE_UNKNOWN,
    FILE_HDF5,
    FILE_SAFETENSORS,
    FILE_NPY,
    FILE_ZIP,    /* .npz, or another zip archive */
    FILE_PICKLE, /* a Python pickle, or a zip archive that torch.save wrote, which contains a pickle */
} FileKind;

/* Finds the kind of an open file of `size` bytes, from a few bytes at fixed offsets. Returns ERR_IO if the
 * bytes cannot be read. The error's text does not name the file. */
Status file_kind(int fd, uint64_t size, FileKind *kind, Error *err);

/* Returns the kind of the file at `path`. Returns FILE_UNKNOWN if it is not a regular file or cannot be
 * opened. */
FileKind file_kind_at(const char *path);

/* Returns the kind of a file whose `size` bytes are in memory. Finds HDF5's signature only at the first byte,
 * although it may also be further on. */
FileKind file_kind_in(const void *data, size_t size);

/* Fails with ERR_USAGE: the file is a pickle. The hint says how to save its tensors as safetensors. The error's
 * text does not name the file. */
Status refuse_pickle(const char *path, Error *err);

/* Fails with ERR_CORRUPT: the open file of `size` bytes is of no kind that is read here. The hint goes by the file's first bytes. */
Status refuse_unknown_kind(int fd, uint64_t size, const char *path, Error *err);

#endif
