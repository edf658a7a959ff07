/* tensor.h -- gradient dumps: HDF5 files whose float datasets are tensors
 * (docs/FORMAT.md).
 *
 * A dump is read one tensor at a time, so memory stays near the size of the largest tensor. The HDF5 library
 * is not safe on untrusted files. So a separate process (the reader process) parses the file under resource
 * limits, and sends back only lists of tensors and groups, floats, or an error. */
#ifndef ATOMO_TENSOR_H
#define ATOMO_TENSOR_H

#include "base/arena.h"
#include "base/shape.h"
#include "base/text.h"

#include <time.h>

/* The order of the axes of a convolution kernel in the file: [out, in, h, w] as in PyTorch, or [h, w, in, out] as in Keras,
 * TensorFlow and Flax. Here every kernel has the axes [out, in, h, w]: others are transposed when they are read. LAYOUT_AUTO: the
 * file's attributes say, else [out, in, h, w]. */
typedef enum { LAYOUT_AUTO, LAYOUT_OIHW, LAYOUT_HWIO } KernelLayout;
extern const char *const layout_names[]; /* "auto", "oihw", "hwio", NULL */

/* ---- attributes of HDF5 objects; payload containers have attributes of the same types ---- */

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

/* Returns the attribute called `name`; NULL if there is none. `list` NULL: no attributes. */
const Attr *attr_find(const AttrList *list, const char *name);

static inline Attr attr_whole(const char *name, uint64_t v)
{
    return (Attr){.name = name, .type = ATTR_INT, .whole = (int64_t)v};
}

static inline Attr attr_real(const char *name, double v)
{
    return (Attr){.name = name, .type = ATTR_REAL, .real = v};
}

static inline Attr attr_text(const char *name, const char *v)
{
    return (Attr){.name = name, .type = ATTR_TEXT, .text = v};
}

/* ---- reading ---- */

/* The types of elements in files. F8_E4M3 has no infinities: its largest number is 448, as in the OCP's format and PyTorch's
 * float8_e4m3fn. F8_E5M2 is the upper half of F16. */
typedef enum { ARRAY_F16, ARRAY_BF16, ARRAY_F32, ARRAY_F64, ARRAY_F8_E4M3, ARRAY_F8_E5M2, ARRAY_OTHER } ArrayType;
extern const char *const array_type_names[]; /* as safetensors calls them; "" for ARRAY_OTHER */
extern const uint8_t array_item_bytes[];     /* 0 for ARRAY_OTHER */

typedef struct {
    /* path in the file without the leading '/', for example "step_000100/worker_0/conv1.weight" */
    const char *path;
    /* the path below the step and worker groups, such as "conv1.weight". A tensor named "*" gets the name
     * slash and star, because results use "*" for all tensors together. */
    const char *name;
    const char *display; /* the name without "module." and "_orig_mod." at its beginning */
    /* names such as "step_000100", "worker_0"; NULL where the file has none */
    const char *step_group, *worker_group;
    int64_t step;   /* the step group's attribute `step`, else the number in its name; 0: no step group */
    int64_t worker; /* the number in the worker group's name; 0: no worker group */
    /* Numbers that select the random numbers of this tensor's step and worker (rng.h). They equal `step` and
     * `worker`, unless an earlier group has the same number ("step_1", "step_01"). Then they are negative, a hash of
     * the group's name. */
    int64_t step_address, worker_address;
    Kind kind;
    ArrayType type; /* in the file */
    /* the layout of a kernel in the file; LAYOUT_AUTO: the file does not say, or the tensor is no kernel.
     * Shape and elements of a kernel are always those of [out, in, h, w]. */
    KernelLayout layout;
    bool
        untransposed; /* a kernel of three or five axes, read as it is stored although its layout may be that of Keras */
    Shape shape;
    size_t whole;   /* elements in the file: shape.n, or more where a sample is read (DumpHints.sample) */
    AttrList attrs; /* the dataset's attributes */
} TensorInfo;

/* True for a kernel whose layout the file does not say, and whose name has the word "kernel", as in Keras. */
bool layout_doubtful(const TensorInfo *t);

typedef struct Dump Dump;

/* Opens, checks and lists the file. Fails if the file has external links, or a dataset of floats that is
 * virtual, is stored in another file, or needs a plug-in to be unpacked.
 * Datasets that are not floats, and floats whose values are in doubt, are skipped and counted. The list of tensors is stored in the arena, which
 * must not be rewound or closed before the dump is closed. */
Status dump_open(Dump **out, const char *path, Arena *a, Error *err);

/* Properties of a file that the user states. All zero: the user states none. */
typedef struct {
    int layout; /* a KernelLayout: of all kernels; LAYOUT_AUTO: as their attributes say */
    const char
        *steps_from; /* glob that names the groups of the steps (tensor_names.c); NULL: groups called "step" */
    bool integers;   /* datasets of integers are tensors, too; HDF5 files only */
    const char *workers_from; /* glob that names the groups of workers; NULL: groups called "worker" or "rank" */
    TextList files;           /* all files, where there are several; the first is the dump's path */
    int steps_as, workers_as; /* 1: each of several files is a step, a worker; 0: as their names say */
    int steps_axis;           /* 1: the first axis of every tensor counts steps */
    int64_t sample;  /* of each tensor only so many slices along the first axis are read, of a vector 256 times as many elements in a
                        row; 0: all. Kernels that are transposed are read whole. */
    int64_t thin;    /* above 1: of a sample, only each thin-th slice, of a vector the first elements */
    int voids;       /* what elements of two bytes without a type are: an index into void_names */
} DumpHints;

enum { VOIDS_LEFT_OUT, VOIDS_BFLOAT16, VOIDS_FLOAT16 };
extern const char *const void_names[]; /* "leave", "bfloat16", "float16", NULL */

/* Return a glob for the groups of a path that look like steps, as "epoch3" and "iter17" do, and for the group of a tensor's name that
 * looks like a worker, as "gpu0" does. "": there are none; NULL: out of memory. */
const char *steps_guess(const char *path, Arena *a);
const char *workers_guess(const char *name, Arena *a);

extern const char *const axis_names[];   /* "none", "0", NULL */
extern const char *const origin_names[]; /* "groups", "files", NULL: what is a step, or a worker */

/* As dump_open. ERR_USAGE: no tensor is in a group that matches `steps_from`. */
/* Also opens a folder, an index of shards (*.index.json), or hints->files, as one dump. */
Status dump_open_as(Dump **out, const char *path, const DumpHints *hints, Arena *a, Error *err);
void dump_close(Dump *d); /* NULL is fine */

const char *dump_file(const Dump *d); /* returns the path given to dump_open */
/* Returns the number of files of a dump of several, and sets *as to what they are: "shards", "steps", "workers" or "steps and
 * workers"; 0: one file. */
size_t dump_files(const Dump *d, const char **as);
const char *dump_tensor_file(const Dump *d, size_t i); /* returns the path of the file with tensor i */
/* Sets the bytes of all files of the dump, and when the last of them changed. */
Status dump_stat(const Dump *d, int64_t *bytes, struct timespec *changed, Error *err);
size_t dump_count(const Dump *d);
/* returns tensor i; tensors are sorted by step, then worker, then order in the file */
const TensorInfo *dump_tensor(const Dump *d, size_t i);
/* Returns the index of the tensor at `path`, looking from index `near` on first; dump_count: there is none. */
size_t dump_find(const Dump *d, const char *path, size_t near);
#define NOWHERE UINT64_MAX
/* Returns the file offset of tensor i's elements if they are plain: of the type `type`, little-endian and contiguous, without a
 * checksum of their own; else, and in a dump of several files, NOWHERE. */
uint64_t dump_plain_at(const Dump *d, size_t i);
int dump_descriptor(const Dump *d); /* returns that of the open file; -1: a dump of several */
/* returns the number of datasets that hold no floats */
size_t dump_skipped(const Dump *d);

/* Those of them that hold numbers other than integers, such as complex numbers or floats of 4 bits. */
typedef struct {
    size_t count;
    uint64_t elements;
    const char *type, *path; /* of the first: the type as the file names it, such as "F4" or "V2"; NULL: none */
} LeftOut;
const LeftOut *dump_left_out(const Dump *d);
/* Returns the attributes of a group, "step_000100" or "step_000100/worker_0", or of the root, ""; NULL: no such group. */
const AttrList *dump_attrs(const Dump *d, const char *group);

/* `dump_groups` returns the number of groups. `dump_group` returns the path of group i and sets `*attrs` to
 * its attributes. Groups are in file order, the root ("") first. */
size_t dump_groups(const Dump *d);
const char *dump_group(const Dump *d, size_t i, const AttrList **attrs);

/* Reads tensor i as float32 into x (shape.n floats). Float64 values beyond float32's range become
 * infinities. */
Status dump_read(Dump *d, size_t i, float *x, Error *err);
/* Draws the samples that dump_read reads from now on, anew for each number; 0 at first. */
void dump_draw(Dump *d, uint64_t number);

/* ---- selecting ---- */

typedef struct {
    /* globs that select tensors by path or name; '.' and '/' are the same; empty: all tensors */
    TextList tensors;
    const char *step, *worker; /* globs that select groups by name or number; NULL: all groups */
    const char *kind;          /* glob that selects kinds by name; NULL: all kinds */
} Selection;

/* Returns the indices of the selected tensors, ascending. ERR_USAGE if a glob matches nothing; the message
 * has the nearest name, or the first few names. */
Status dump_select(const Dump *d, const Selection *s, Arena *a, size_t **index, size_t *count, Error *err);

/* ---- writing ---- */

typedef struct DumpWriter DumpWriter;

/* Creates a file in HDF5's format 1.10, with metadata checksums. The same calls give the same bytes. The
 * data are written to a temporary file in the directory of `path`. `dump_finish` flushes the temporary file
 * and renames it to `path`. */
Status dump_create(DumpWriter **out, const char *path, Error *err);
Status dump_write(DumpWriter *w, const char *path, const Shape *shape, const float *x, const AttrList *attrs,
                  Error *err); /* writes a tensor; creates missing groups of its path */
/* Writes the name of a command, such as "atomo-bench synth", as the comment of the root group. A failure is
 * ignored: the file is complete without a comment. */
void dump_sign(DumpWriter *w, const char *command);
Status dump_write_attrs(DumpWriter *w, const char *group, const AttrList *attrs,
                        Error *err);           /* writes attributes of a group; "" is the root */
/* Completes the file if `written` is OK, else removes it; closes the writer, also if this fails. Returns `written` or why the
 * file could not be completed. */
Status dump_finish(DumpWriter *w, Status written, Error *err);

/* ---- the HDF5 library ---- */

/* Returns the version of HDF5 whose headers this build used, such as "1.10.8". Does not load the library. */
const char *hdf5_version(void);

/* Loads the HDF5 library unless it has been loaded, and sets *version to the library's version. Fails if the library
 * cannot be loaded. */
Status hdf5_library(const char **version, Error *err);

#endif
