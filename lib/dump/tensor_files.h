/* tensor_files.h -- several files as one dump: the shards of a model, or a file for each step, for each worker, or for both. Only
 * tensor_hdf5.c includes it. */
#ifndef ATOMO_TENSOR_FILES_H
#define ATOMO_TENSOR_FILES_H

#include "dump/tensor_stream.h"

typedef struct Files Files;

/* Returns true if `path` stands for several files: a folder, or an index of shards, "*.index.json"; or if the hints name several. */
bool files_several(const char *path, const DumpHints *hints);

/* Opens the files and completes the listing, of which arena and hints are set. Shards are told by names such as
 * "model-00001-of-00003.safetensors", steps and workers by names such as "step_100.npz" and "grads_rank0.h5", or by the hints. */
Status files_open(Files **out, const char *path, Listing *l, Error *err);
void files_close(Files *f); /* NULL is fine */

/* Reads tensor `place` of file `part` (Listed). */
Status files_read(Files *f, size_t part, size_t place, float *x, Error *err);

const char *files_path(const Files *f, size_t part);
size_t files_count(const Files *f, const char **as); /* as dump_files */

#endif
