/* groups.h -- selects tensors of a dump, and joins tensors that are compressed as one vector.
 *
 * A Vector is the input of one call of a codec. A Vector is one tensor, all tensors of one kind of layer (conv,
 * fc, other), or the whole gradient, of one step and worker. Joined tensors are in file order. */
#ifndef ATOMO_GROUPS_H
#define ATOMO_GROUPS_H

#include "base/rng.h"
#include "dump/tensor.h"

typedef enum { GROUP_TENSOR, GROUP_KIND, GROUP_ALL } Grouping;
extern const char *const grouping_names[]; /* names in the order of Grouping: "tensor", "kind", "all", NULL */

typedef struct {
    Selection selection;
    Grouping grouping;
    /* tensors with fewer elements are not compressed: each is sent alone as floats */
    size_t min_elements;
    bool skip_nonfinite; /* leave out tensors with NaN or Inf; every selected tensor is then read twice */
} GroupSpec;

typedef struct {
    const char *name; /* the tensor's name; or "conv", "fc", "other" (by kind); or "all" */
    /* names of the groups (of a step and of a worker) that contain the tensors; NULL if there is no such
     * group */
    const char *step_group, *worker_group;
    int64_t step, worker; /* the numbers of these groups (TensorInfo); 0 without a group */
    /* numbers from which random numbers are derived, one for the step and one for the worker (TensorInfo) */
    int64_t step_address, worker_address;
    /* kind of the members; KIND_OTHER if the members differ in kind */
    Kind kind;
    bool raw; /* true: fewer than min_elements elements, so sent with the codec `none` */
    /* true: all tensors of one kind of layer, or the whole gradient; false: one tensor */
    bool joined;
    Shape shape;          /* the tensor's shape; if joined, a vector of all elements */
    size_t whole;         /* elements of the members in the file: shape.n, or more where a sample is read (DumpHints.sample) */
    const size_t *member; /* indices of the member tensors in the dump, in file order */
    size_t members;
} Vector;

typedef struct {
    Vector *item; /* sorted by step, then by worker, then by the position of the first member in the file */
    size_t count;
    size_t largest;  /* number of elements of the longest vector */
    size_t tensors;  /* number of members of all vectors */
    size_t skipped;  /* number of tensors left out for NaN or Inf */
    size_t elements; /* number of elements of all vectors */
} VectorList;

/* Makes the vectors that `spec` describes. Fails if no tensor is selected, or if all selected tensors have
 * NaN or Inf and are left out. */
Status groups_make(VectorList *out, Dump *d, const GroupSpec *spec, Arena *a, Error *err);

/* Reads the vector's members, one after the other, into x (shape.n floats). Returns ERR_NUMERIC if a member has
 * NaN or Inf. The message states the member's name, the number of its elements that are not finite, and the
 * index of the first. */
Status vector_load(Dump *d, const Vector *v, float *x, Error *err);

/* Sets the vector's random numbers, rng_open(seed, repeat, worker, step, tensor), where `tensor` is the hash of the
 * vector's name: `own` are those of its worker, `shared` those of all workers (RNG_EVERYONE). */
void vector_rng(const Vector *v, uint64_t seed, uint64_t repeat, Rng *own, Rng *shared);

/* ---- the gradients of P workers, whose payloads are then merged ----
 *
 * If the dump has worker groups, the payloads of the workers of one step are merged. If not, each step
 * counts as a worker, so the payloads of all steps are merged. Only vectors with the same name and shape are
 * merged.
 *
 * Let F be the number of workers whose gradient of a vector the dump has. A worker p >= F gets g + noise
 * rms(g) z. Here g is the gradient of worker p mod F, and z is a vector of standard normal numbers. z depends
 * only on seed, p, step and tensor. */

typedef struct {
    size_t index;   /* index, among the dump's vectors, of the first gradient of this vector */
    size_t reals;   /* how many gradients of the vector the dump holds */
    size_t *source; /* (reals) indices of these gradients among the dump's vectors */
} Member;

typedef struct {
    Dump *dump;
    VectorList from; /* the dump's vectors */
    VectorList
        list; /* the vectors to merge; they name no worker, and no step if several steps count as workers */
    Member *member; /* (list.count) */
    uint64_t seed;
    double noise;
    int threads;
} Team;

Status team_make(Team *out, Dump *dump, const VectorList *from, Arena *a, Error *err);

/* Reads the gradient of v of worker `worker`, real or made up, into x (v->shape.n). `v` must point into
 * `c->list`. */
Status team_load(Team *c, const Vector *v, size_t worker, float *x, Error *err);

/* Returns how many of the workers 0 .. workers - 1 have a made-up gradient of v. */
size_t team_made(const Team *c, const Vector *v, size_t workers);

#endif
