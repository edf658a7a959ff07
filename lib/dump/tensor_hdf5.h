/* tensor_hdf5.h -- shared by both sides of reading a dump and by the writer. Only tensor_hdf5*.c include it. */
#ifndef ATOMO_TENSOR_HDF5_H
#define ATOMO_TENSOR_HDF5_H

#define H5_USE_110_API
#include <hdf5.h>

#include "dump/tensor_stream.h"

enum { HDF5_REASON = 256 };

/* The reason of the library's last failure: the system's error where there is one, else the library's innermost
 * message. */
const char *hdf5_reason(char out[HDF5_REASON]);

/* ---- the reader process ---- */

/* A tensor that the walk found. */
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
    bool has_user_block; /* addresses are then not relative to the file's first byte */
    hid_t id;
    Arena *arena;
    Found *found;
    size_t count, room;
} Source;

/* Lists everything below the root: sends 'G', 'T' and 'S' messages and remembers the tensors. */
Status walk_file(Source *s, Error *err);

/* Appends an object's attributes that are one number or one text each; other ones are left out. */
Status attrs_put(hid_t object, hid_t creation, Buf *out, Error *err);

/* Whether the object has an attribute of this name and text, each of up to 64 bytes. */
bool attr_says(hid_t object, const char *name, const char *text);

/* Whether the dataset is float (or bfloat16 in uint16); an error where it is not stored in the file or its filters
 * are not built in. */
typedef enum { NOT_FLOATS, FLOATS, BFLOATS } Content;
Status dataset_check(hid_t dataset, uint64_t file_size, Content *content, Shape *shape, size_t *bytes,
                     Error *err);

/* The file offset of a dataset of contiguous little-endian float32; NOWHERE for any other layout or type, or no
 * data. */
uint64_t dataset_plain_at(hid_t dataset);

/* Sends the message in `b`, whose first 4 bytes are free for its size. */
Status message_send(int socket, Buf *b, Error *err);

/* Never returns. `socket` and `memory` are its only ties to the parent. */
_Noreturn void reader_run(int socket, int memory, const char *file, uint64_t file_size);

#endif
