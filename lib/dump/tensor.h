/* tensor.h -- shapes, matrix views, and gradient dumps: HDF5 files whose float datasets are tensors (docs/FORMAT.md).
 *
 * A dump is read one tensor at a time, so memory stays near the largest tensor. The HDF5 library is not
 * safe on untrusted files, so a separate reader process parses them under resource limits; this process
 * only receives floats or an error. */
#ifndef ATOMO_TENSOR_H
#define ATOMO_TENSOR_H

#include "base/arena.h"
#include "base/text.h"

enum { RANK_MAX = 8 };

typedef struct {
    int rank;
    size_t dim[RANK_MAX]; /* row-major: the last axis is contiguous */
    size_t n;             /* number of elements: the product of dim; 1 for rank 0 */
} Shape;

/* Fills a shape; false when the product of `dim` overflows or the rank is out of range. */
bool shape_make(Shape *shape, int rank, const size_t *dim);
Shape shape_vector(size_t n);

/* Views the tensor's elements, in order, as a rows x cols matrix, rows * cols == n. PAPER: rank 2 as it is; [x, y,
 * k1, k2] as xy/2 by 2 k1 k2, or xy by k1 k2 when xy is odd; 1x1 kernels as x by y; rank 1 as n/2 by 2, or n by 1
 * when n is odd; other ranks as in ROWS. ROWS: the first axis by all the others. SQUARE: sides as equal as n's
 * factors permit, rows >= cols. */
typedef enum { RESHAPE_PAPER, RESHAPE_ROWS, RESHAPE_SQUARE } Reshape;
extern const char *const reshape_names[];
void matrix_view(const Shape *shape, Reshape reshape, size_t *rows, size_t *cols);

typedef enum { KIND_CONV, KIND_FC, KIND_NORM, KIND_BIAS, KIND_EMBEDDING, KIND_OTHER } Kind;
extern const char *const kind_names[];
/* Guesses the kind from rank and name, for files without the attribute `kind`. */
Kind kind_guess(const char *name, const Shape *shape);

/* ---- attributes of HDF5 objects; payload containers carry them too ---- */

typedef struct {
    const char *name;
    enum { ATTR_INT, ATTR_REAL, ATTR_TEXT } type;
    int64_t whole;
    double real;
    const char *text;
} Attr;

typedef struct {
    Attr *item;
    size_t count;
} AttrList;

/* ---- reading ---- */

typedef struct {
    const char *path;    /* path in the file without the leading '/': "step_000100/worker_0/conv1.weight" */
    const char *name;    /* path below the step and worker groups: "conv1.weight"; a star alone gets a '/' in front */
    const char *display; /* name without "module." and "_orig_mod." */
    const char *step_group, *worker_group; /* "step_000100", "worker_0"; NULL where the file has none */
    int64_t step;   /* the step group's attribute `step`, else the number in its name; 0: no step group */
    int64_t worker; /* the number in the worker group's name; 0: no worker group */
    /* The numbers that stand for the step and the worker in addresses of random numbers (rng.h). They equal `step`
     * and `worker`, except for twins (dump_twins): a twin has a negative number made from its group's name. */
    int64_t step_address, worker_address;
    Kind kind;
    Shape shape;
    AttrList attrs; /* the dataset's attributes */
} TensorInfo;

typedef struct Dump Dump;

/* Opens, checks and lists the file. External links, external storage, virtual datasets, filters that need a plug-in
 * and floats of more than 64 bits are errors; datasets that are not floats are skipped and counted. The listing is
 * stored in the arena, which must not be rewound or closed before the dump is closed. */
Status dump_open(Dump **out, const char *path, Arena *a, Error *err);
void dump_close(Dump *d); /* NULL is fine */

const char *dump_file(const Dump *d); /* the path given to dump_open */
size_t dump_count(const Dump *d);
const TensorInfo *dump_tensor(const Dump *d, size_t i); /* by step, worker, then order in the file */
size_t dump_skipped(const Dump *d);                     /* datasets that hold no floats */
/* Returns the number of twins: step groups (or worker groups in one step) whose number an earlier group has too
 * ("step_1", "step_01"), or is 0 when other tensors have no such group, since their number is 0 as well. Sets *first
 * to the path of a tensor in the first twin; NULL: there is none. */
size_t dump_twins(const Dump *d, const char **first);
const AttrList *dump_attrs(const Dump *d); /* attributes of the root group */
/* Returns the attributes of a group, "step_000100" or "step_000100/worker_0"; NULL: no such group. */
const AttrList *dump_step_attrs(const Dump *d, const char *group);

/* Return the number of groups; path and attributes of group i, in file order, the root ("") first. */
size_t dump_groups(const Dump *d);
const char *dump_group(const Dump *d, size_t i, const AttrList **attrs);

/* Reads tensor i as float32 into x (shape.n floats). Float64 values beyond float32's range become infinities. */
Status dump_read(Dump *d, size_t i, float *x, Error *err);

/* ---- selecting ---- */

typedef struct {
    TextList tensors;          /* globs on path or name; '.' and '/' are the same; empty: all */
    const char *step, *worker; /* globs on the group's name or its number; NULL: all */
    const char *kind;          /* glob on the kind's name; NULL: all */
} Selection;

/* Returns the indices of the selected tensors, ascending. A glob that matches nothing is ERR_USAGE; the message has
 * the nearest name, or the first few names. */
Status dump_select(const Dump *d, const Selection *s, Arena *a, size_t **index, size_t *count, Error *err);

/* ---- writing ---- */

typedef struct DumpWriter DumpWriter;

/* Writes to a temporary file beside `path`, which dump_commit flushes and renames to `path`; until then `path` is not
 * touched. Format 1.10 with metadata checksums; the same calls give the same bytes. */
Status dump_create(DumpWriter **out, const char *path, Error *err);
Status dump_write(DumpWriter *w, const char *path, const Shape *shape, const float *x, const AttrList *attrs,
                  Error *err); /* creates missing groups of the path */
Status dump_write_attrs(DumpWriter *w, const char *group, const AttrList *attrs,
                        Error *err);                           /* "" is the root */
Status dump_commit(DumpWriter *w, Error *err);                 /* closes the writer in any case */
void dump_abandon(DumpWriter *w);                              /* removes the temporary file; NULL is fine */
Status dump_finish(DumpWriter *w, Status written, Error *err); /* commits if `written` is OK, else abandons */

#endif
