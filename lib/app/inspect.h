/* inspect.h -- the rows that `inspect` writes for a tensor. */
#ifndef ATOMO_INSPECT_H
#define ATOMO_INSPECT_H

#include "dump/describe.h"
#include "report/report.h"

/* A tensor that has been read, and the options that describe it. */
typedef struct {
    const TensorInfo *info;
    const float *x;
    double *
        wide; /* NULL, or memory for the spectrum of a large tensor (`spectrum_take`), whose second half is x */
    Description about;
    size_t bins;
    Reshape reshape;
    Error *lost; /* the first error in computing a spectrum, of any tensor; OK: no error */
} Inspected;

/* A table of the report: its columns, and the function that writes one tensor's rows. The function's caller
 * rewinds `scratch` after the call. */
typedef struct {
    Status (*write)(const Inspected *t, Report *to, Arena *scratch, Error *err);
    const Column *columns;
    size_t count;
    size_t cell; /* last columns, step and worker, that are needed only if a tensor occurs more than once */
} InspectView;

enum { INSPECT_RECORD, INSPECT_HISTOGRAM, INSPECT_SPECTRUM };
extern const InspectView inspect_views[];

#endif
