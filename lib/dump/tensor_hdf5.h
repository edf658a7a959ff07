/* tensor_hdf5.h -- what the two sides of reading a dump, and its writer, share. Only tensor_hdf5*.c include it. */
#ifndef ATOMO_TENSOR_HDF5_H
#define ATOMO_TENSOR_HDF5_H

#define H5_USE_110_API
#include <hdf5.h>

#include "dump/tensor_stream.h"

enum { HDF5_REASON = 256 };

/* What went wrong inside the library: the system's error where there is one, else its innermost message. */
const char *hdf5_reason(char out[HDF5_REASON]);

/* ---- the reader process ---- */

/* A tensor as the walk found it. */
typedef struct {
    const char *path;
    uint64_t n;
    size_t bytes;  /* of an element in the file */
    bool bfloat16; /* kept as uint16 */
} Found;

typedef struct {
    int socket;
    const char *file; /* its path */
    uint64_t file_size;
    uint64_t used;       /* address space before the file was opened */
    bool has_user_block; /* then addresses are not counted from the file's first byte */
    hid_t id;
    Arena *arena;
    Found *found;
    size_t count, room;
} Source;

/* Lists everything below the root: sends 'G', 'T' and 'S' messages and remembers the tensors. */
Status walk_file(Source *s, Error *err);

/* Carries an object's attributes: one number or one text each; others are left out. */
Status attrs_put(hid_t object, hid_t creation, Buf *out, Error *err);

/* Has the object an attribute of this name and text, each of up to 64 bytes? */
bool attr_says(hid_t object, const char *name, const char *text);

/* Is the dataset float (or bfloat16 in uint16), does it lie in the file, are its filters built in? */
typedef enum { NOT_FLOATS, FLOATS, BFLOATS } Content;
Status dataset_check(hid_t dataset, uint64_t file_size, Content *content, Shape *shape, size_t *bytes,
                     Error *err);

/* Where a dataset of little-endian float32 stands in one piece as it is, NOWHERE: packed, converted, not there. */
uint64_t dataset_plain_at(hid_t dataset);

/* Sends a message that stands in `b` behind 4 bytes left for its size. */
Status message_send(int socket, Buf *b, Error *err);

/* Never returns. `socket` and `memory` are its only ties to the parent. */
_Noreturn void reader_run(int socket, int memory, const char *file, uint64_t file_size);

#endif
