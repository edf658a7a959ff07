/* array_write.h -- writes the tensors of an open dump to a new file, all as little-endian float32. */
#ifndef ATOMO_ARRAY_WRITE_H
#define ATOMO_ARRAY_WRITE_H

#include "dump/tensor.h"

/* Each file says that `convert` wrote it: HDF5 as the comment of the root group, .npz as the archive's comment,
 * safetensors as the value of the key CONVERT_KEY of the metadata. */
#define CONVERT_SIGN "atomo-bench convert"
#define CONVERT_KEY  "written by"

/* A file format for output. `open` begins the file. `write` adds tensor i with the elements x, for i = 0, 1,
 * ... in this order. `finish` completes the file if `written` is OK; otherwise `finish` removes the file and
 * returns `written`. After a failed `open`, `finish` must not be called. */
typedef struct {
    const char *ending; /* the ending of file names, such as ".npz" */
    bool raw;           /* writes the memory of x, which must be little-endian on every machine */
    Status (*open)(void **out, const Dump *d, const char *path, Arena *a, Error *err);
    Status (*write)(void *to, size_t i, const float *x, Error *err);
    Status (*finish)(void *to, Status written, Error *err);
    bool (*holds)(const Attr *attr); /* true if a file of this kind can hold the attribute; NULL: none */
} ArrayWriter;

extern const ArrayWriter npz_array_writer, safetensors_array_writer;

#endif
