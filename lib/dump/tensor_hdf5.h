/* tensor_hdf5.h -- declarations that the reader process, its parent and the writer of dumps share. Only
 * tensor_hdf5*.c include it. */
#ifndef ATOMO_TENSOR_HDF5_H
#define ATOMO_TENSOR_HDF5_H

#define H5_USE_110_API
#include <hdf5.h>

#include "dump/array_file.h"
#include "dump/tensor_stream.h"

enum { HDF5_REASON = 256 };

/* If the shared memory has more bytes than this, its pages are freed as soon as they have been copied. */
enum { SHARED_KEEP = 1 << 26 };

/* Returns why the HDF5 library's last call failed: the system's error if there is one, else the library's
 * innermost message. */
const char *hdf5_reason(char out[HDF5_REASON]);

/* ---- functions of the reader process ---- */

typedef struct {
    const char *path;
    uint64_t n;
    size_t bytes;  /* number of bytes of each element in the file */
    bool bfloat16; /* true: the elements are bfloat16, stored as uint16 */
} Found;

typedef struct {
    int socket;
    const char *file; /* its path */
    uint64_t file_size;
    bool integers; /* DumpHints.integers */
    FileKind kind;
    ArrayFile arrays;    /* not for HDF5 */
    bool has_user_block; /* true: HDF5's addresses do not count from the file's first byte */
    hid_t id;
    Arena *arena;
    Found *found;
    size_t count, room;
} Source;

/* Lists all groups and datasets: sends messages 'G', 'T', 'S' and 'Z' (tensor_stream.h) and stores the
 * tensors in `s->found`. */
Status walk_file(Source *s, Error *err);

/* Appends to `out` the attributes of an object that hold one number or one text; leaves out all other
 * attributes. */
Status attrs_put(hid_t object, hid_t creation, Buf *out, Error *err);

/* Returns true if the object has an attribute of this name with this text. `name` and `text` have at most 64
 * bytes each. */
bool attr_says(hid_t object, const char *name, const char *text);

/* Finds out whether the dataset holds floats (or bfloat16 as uint16, or integers if s->integers), and its shape. Fails if the dataset is
 * not stored in this file or needs a filter that is not built in. */
typedef enum { NOT_FLOATS, FLOATS, BFLOATS, INTEGERS } Content;
Status dataset_check(hid_t dataset, const Source *s, Content *content, Shape *shape, size_t *bytes,
                     Error *err);

/* Returns the file offset of a dataset that is stored as contiguous float32 in the byte order of this
 * machine; NOWHERE for any other layout or type, or without data. */
uint64_t dataset_plain_at(hid_t dataset);

/* Runs the reader process; never returns. `socket` and `memory` (shared memory) are the reader's only
 * connections to the parent process. */
_Noreturn void reader_run(int socket, int memory, const char *file, FileKind kind, uint64_t file_size,
                          bool integers);

#endif
