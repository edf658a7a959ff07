/* array_file.h -- files of arrays other than HDF5: safetensors, .npy and .npz (docs/FORMAT.md).
 *
 * Every size and offset is checked against the file's size before it is used. All memory is taken from the
 * arena. Error texts do not name the file. */
#ifndef ATOMO_ARRAY_FILE_H
#define ATOMO_ARRAY_FILE_H

#include "dump/extent.h"
#include "dump/file_kind.h"
#include "dump/tensor.h"

typedef struct {
    const char *path; /* group and name, as in TensorInfo.path */
    Shape shape;
    ArrayType type;
    bool big_endian;
    bool fortran;  /* true: the first axis is contiguous; false: the last axis is */
    Extent extent; /* where the array is in the file: a header of `head` bytes, then the elements */
    uint32_t head, head_sum; /* head_sum: CRC-32 of the header */
} Array;

/* An attribute of the array or group at the path `object`, or of the root if the path is "". */
typedef struct {
    const char *object;
    bool group; /* the object is a group, perhaps besides an array */
    Attr attr;
} Note;

/* An array that is left out. */
typedef struct {
    const char *path, *type; /* type: "" for integers, texts and the like; else as in LeftOut */
    uint64_t n;
} Skipped;

typedef struct {
    int fd;
    const char *file; /* path of the file */
    uint64_t size;
    Arena *arena;
    Array *array; /* the arrays in the order of the file */
    size_t count, room;
    Skipped *skip; /* the arrays that are left out */
    size_t skipped, skip_room;
    int voids;      /* DumpHints.voids */
    Note *note;     /* the attributes, sorted by object, then by name */
    size_t notes;
} ArrayFile;

/* Lists the arrays of an open safetensors, .npy or zip file. Fails with ERR_IO, ERR_CORRUPT, ERR_USAGE or
 * ERR_MEMORY. The caller has set `fd`, `file`, `size` and `arena`, and all other fields to zero. */
Status arrays_list(ArrayFile *f, FileKind kind, Error *err);

/* Reads array i into x as float32, in C order. Float64 values beyond float32's range become infinities. */
Status array_read(const ArrayFile *f, size_t i, float *x, Error *err);

/* In the reader process: sends the listing to the parent (tensor_stream.h): a message 'G' for the root and for every
 * group that has attributes, then 'T' for every array of floats, 'S' for every other array, and 'Z'. */
Status arrays_send(int socket, const ArrayFile *f, Error *err);

/* Returns the attributes of an object as a list in `room`, which has room for f->notes items. */
AttrList notes_of(const ArrayFile *f, const char *object, Attr *room);

/* Returns the value of an attribute's pair in the metadata of safetensors, or NULL if memory runs out. */
char *note_value(const Attr *attr, Arena *a);

/* ---- for the parsers of formats ---- */

Status safetensors_list(ArrayFile *f, Error *err);
Status npy_list(ArrayFile *f, Error *err);
Status npz_list(ArrayFile *f, Error *err);

/* Sorts the names. Returns a name that occurs twice, or NULL if all names differ. */
const char *sort_names(const char **name, size_t count);
/* Returns true if the sorted list has the name. */
bool name_found(const char *const *name, size_t count, const char *wanted);

/* Appends an array to the list, after checking its path and size. */
Status array_add(ArrayFile *f, const Array *array, Error *err);

/* Appends to the arrays that are left out. */
Status array_skip(ArrayFile *f, Skipped skipped, Error *err);

/* Converts n raw elements to floats, after it has brought them to little-endian order in place. x may begin where raw does, minus
 * the difference of the sizes of n floats and n raw elements: raw then lies at the end of x. */
void array_convert(ArrayType type, bool big_endian, uint8_t *raw, size_t n, float *x);

#endif
