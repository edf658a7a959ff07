/* array_file.h -- files of arrays other than HDF5: safetensors, .npy and .npz (docs/FORMAT.md). The reader process
 * lists and reads them; nothing here knows of that process.
 *
 * Every size and offset is checked against the file before it is used, and all memory is taken from the arena. Error
 * texts do not name the file. */
#ifndef ATOMO_ARRAY_FILE_H
#define ATOMO_ARRAY_FILE_H

#include "dump/extent.h"
#include "dump/file_kind.h"
#include "dump/tensor.h"

typedef enum { ARRAY_F16, ARRAY_BF16, ARRAY_F32, ARRAY_F64 } ArrayType;

typedef struct {
    const char *path; /* as TensorInfo.path */
    Shape shape;
    ArrayType type;
    bool big_endian;
    bool fortran;  /* the first axis is contiguous */
    Extent extent; /* `head` bytes of a header, then the elements */
    uint32_t head;
} Array;

/* An attribute of the array or group at the path `object`; "": of the root. */
typedef struct {
    const char *object;
    Attr attr;
} Note;

typedef struct {
    int fd;
    const char *file; /* its path */
    uint64_t size;
    Arena *arena;
    Array *array; /* in the file's order */
    size_t count, room;
    size_t skipped; /* arrays of other than floats */
    Note *note;     /* sorted by object, then by name */
    size_t notes;
} ArrayFile;

/* Lists the arrays of an open file of the kind: safetensors, .npy or zip. ERR_CORRUPT, ERR_USAGE or ERR_MEMORY, with the reason. f->fd, file,
 * size and arena are set; everything else is zero. */
Status arrays_list(ArrayFile *f, FileKind kind, Error *err);

/* Reads array i as float32 into x (shape.n floats), the last axis contiguous. Float64 values beyond float32's range
 * become infinities. */
Status array_read(const ArrayFile *f, size_t i, float *x, Error *err);

/* Returns the file offset of an array of little-endian float32 that is stored in order and has no checksum, so that
 * its bytes are its floats; NOWHERE for any other array. */
uint64_t array_plain_at(const Array *a);

/* ---- for the parsers of formats ---- */

Status safetensors_list(ArrayFile *f, Error *err);
Status npy_list(ArrayFile *f, Error *err);
Status npz_list(ArrayFile *f, Error *err);

/* Sorts names; returns one that occurs twice, or NULL. */
const char *sort_names(const char **name, size_t count);

/* Returns the paths of all arrays, sorted; NULL: out of memory. */
const char **arrays_sorted(const ArrayFile *f);

/* Appends an array, after checks of its path, size and rank. */
Status array_add(ArrayFile *f, const Array *array, Error *err);

/* Reads the header of a .npy array at the start of an extent. Sets everything of *a but path and extent; `floats` is
 * false for an array of another type, of which nothing is set. */
Status npy_header(ExtentStream *from, Array *a, bool *floats, Arena *arena, Error *err);

/* Returns the bytes of an element. */
size_t array_item(ArrayType type);

#endif
