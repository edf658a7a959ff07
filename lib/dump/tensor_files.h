/* tensor_files.h -- several files as one dump: the shards of a model, or a file for each step, for each worker, or for both. Only
 * tensor_hdf5.c, which opens them and joins their tensors, includes it. */
#ifndef ATOMO_TENSOR_FILES_H
#define ATOMO_TENSOR_FILES_H

#include "dump/tensor.h"

typedef struct {
    const char *path;
    Dump *dump;   /* NULL: closed now */
    Arena *arena; /* of a dump that was opened again; NULL: the listing's */
    uint64_t used;
    const char *group[2]; /* of a step and of a worker, from the file's name; NULL: none */
    int64_t number[2];
} Part;

typedef struct {
    Part *part;
    size_t count, room, open; /* open: the parts whose dump is open */
    const char *index;        /* path of the index of shards; NULL: there is none */
    size_t named;             /* tensors that it names */
    uint64_t clock;
    DumpHints hints;
    const char *as; /* "shards", "steps", "workers" or "steps and workers" */
    Arena *arena;
    Error *err;
} Files;

/* Returns true if `path` stands for several files: a folder, or an index of shards, "*.index.json"; or if the hints name several. */
bool files_several(const char *path, const DumpHints *hints);

/* Sets the parts and `as`; f->hints and f->arena are set, all else is zero. Shards are told by names such as
 * "model-00001-of-00003.safetensors", steps and workers by names such as "step_100.npz" and "grads_rank0.h5", or by the hints. */
Status files_find(Files *f, const char *path, Error *err);

#endif
