/* convert.h -- writes the tensors of a dump to a new file. The ending of its name determines the format. */
#ifndef ATOMO_CONVERT_H
#define ATOMO_CONVERT_H

#include "dump/tensor.h"

typedef struct {
    Tick tick; /* called after each tensor, with its path */
    void *tick_data;
} ConvertJob;

typedef struct {
    size_t tensors;
    uint64_t bytes;    /* bytes of all elements */
    size_t left_out;   /* number of attributes that the new file cannot hold */
    size_t nonfinite;  /* number of tensors with NaN or Inf, as float64 beyond float32's range gives */
    const char *first; /* path of the first of them, in the dump */
} ConvertSum;

/* Fails with ERR_USAGE if the path has none of the known endings. */
Status convert_check(const char *path, Error *err);

/* Writes all tensors as float32, and those attributes that the format can hold. On failure no new file is
 * left. */
Status convert_dump(Dump *d, const char *path, const ConvertJob *job, ConvertSum *sum, Arena *a, Error *err);

#endif
