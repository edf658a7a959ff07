/* inspect.h -- the rows that `inspect` writes of a tensor. */
#ifndef ATOMO_INSPECT_H
#define ATOMO_INSPECT_H

#include "dump/describe.h"
#include "report/report.h"

/* A tensor that has been read, and how to look at it. */
typedef struct {
    const TensorInfo *info;
    const float *x;
    Description about;
    size_t bins;
    Reshape reshape;
    Error *lost; /* why the first of all tensors has no spectrum that should have one; OK: each has */
} Inspected;

/* One table: its columns, and what writes a tensor's rows. Scratch is the caller's to rewind. */
typedef struct {
    Status (*write)(const Inspected *t, Report *to, Arena *scratch, Error *err);
    const Column *columns;
    size_t count;
} InspectView;

enum { INSPECT_RECORD, INSPECT_HISTOGRAM, INSPECT_SPECTRUM };
extern const InspectView inspect_views[];

#endif
