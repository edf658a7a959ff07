/* groups.h -- which tensors of a dump are compressed, and which of them together.
 *
 * A Vector is what a codec sees in one call: one tensor, or all of a kind, or the whole gradient of one step
 * and worker, end to end in file order. */
#ifndef ATOMO_GROUPS_H
#define ATOMO_GROUPS_H

#include "dump/tensor.h"

typedef enum { GROUP_TENSOR, GROUP_KIND, GROUP_ALL } Grouping;
extern const char *const grouping_names[]; /* "tensor", "kind", "all", NULL */

typedef struct {
    Selection selection;
    Grouping grouping;
    size_t
        min_elements; /* smaller tensors are sent as floats, each by itself, whatever the codec; 0: no tensor is */
    bool
        skip_nonfinite; /* leave out tensors with NaN or Inf, at the cost of reading every selected tensor twice */
} GroupSpec;

typedef struct {
    const char *name;                      /* the tensor's; or "conv", "fc", "other" (by kind); or "all" */
    const char *step_group, *worker_group; /* NULL where the file has none */
    int64_t step, worker;
    Kind kind;            /* KIND_OTHER where kinds are mixed */
    bool raw;             /* under min_elements: send with the codec `none` */
    bool joined;          /* its members are joined into one vector; else it is one tensor */
    Shape shape;          /* of the one tensor; a vector of n when joined */
    const size_t *member; /* indices into the dump, in file order */
    size_t members;
} Vector;

typedef struct {
    Vector *item; /* by step, then worker, then first member in the file */
    size_t count;
    size_t largest;  /* most elements in one vector */
    size_t tensors;  /* members of all vectors */
    size_t skipped;  /* tensors left out for NaN or Inf */
    size_t elements; /* in all vectors */
} VectorList;

/* The vectors that `spec` asks for. Nothing selected, or nothing left, is an error. */
Status groups_make(VectorList *out, Dump *d, const GroupSpec *spec, Arena *a, Error *err);

/* Reads the members end to end into x (shape.n floats). NaN or Inf in one is ERR_NUMERIC with the member's
 * name, how many there are and where the first stands. The vector's random address is rng_hash(v->name). */
Status vector_load(Dump *d, const Vector *v, float *x, Error *err);

#endif
