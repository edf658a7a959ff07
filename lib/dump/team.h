/* team.h -- the gradients of P workers from a dump, for merging; where the dump has fewer workers, gradients are made
 * up.
 *
 * In a dump with worker groups, the workers of each step are merged. In a dump without, its steps are taken as
 * workers of one step. Where a vector has F gradients, worker p >= F gets g + noise rms(g) N(0, 1), where g is the
 * gradient of worker p mod F and the noise has the address (seed, p, step, tensor). Vectors of the same name and
 * shape are merged. */
#ifndef ATOMO_TEAM_H
#define ATOMO_TEAM_H

#include "dump/groups.h"

typedef struct {
    size_t index;   /* into the dump's vectors */
    size_t reals;   /* how many gradients the dump has of it */
    size_t *source; /* (reals) indices into the dump's vectors */
    double *rms;    /* (reals) of each gradient; NaN: not computed yet */
} Member;

typedef struct {
    Dump *dump;
    VectorList from; /* as the dump has them */
    VectorList
        list; /* the merged vectors: without worker, and without step where steps are taken as workers */
    Member *member; /* (list.count) */
    uint64_t seed;
    double noise;
    int threads;
} Team;

Status team_make(Team *out, Dump *dump, const VectorList *from, Arena *a, Error *err);

/* Reads the gradient of a worker into x (v->shape.n); v is an item of the team's list. */
Status team_load(Team *c, const Vector *v, size_t worker, float *x, Error *err);

/* How many of the `workers` gradients of v are made up. */
size_t team_made(const Team *c, const Vector *v, size_t workers);

#endif
