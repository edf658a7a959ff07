/* team.h -- whose gradients a merge is of: the workers of a dump, and as many made-up ones as are missing.
 *
 * A dump with worker groups is merged step by step, each step's workers; in one without, the steps stand for workers.
 * Where a vector has F gradients, worker p >= F gets g + noise rms(g) N(0, 1), g the gradient of worker p mod F and
 * the noise by address (seed, p, step, tensor). Vectors of one name and shape belong together. */
#ifndef ATOMO_TEAM_H
#define ATOMO_TEAM_H

#include "dump/groups.h"

typedef struct {
    size_t index;   /* into the dump's vectors */
    size_t reals;   /* how many gradients there are of it */
    size_t *source; /* (reals) indices into the dump's vectors */
    double *rms;    /* (reals) NaN: not needed yet */
} Member;

typedef struct {
    Dump *dump;
    VectorList from; /* as the dump has them */
    VectorList list; /* as they are merged: without worker, and without step where steps stand for workers */
    Member *member;  /* (list.count) */
    uint64_t seed;
    double noise;
    int threads;
} Team;

Status team_make(Team *out, Dump *dump, const VectorList *from, Arena *a, Error *err);

/* The gradient of a worker; v is one of the team's list. */
Status team_load(Team *c, const Vector *v, size_t worker, float *x, Error *err);

/* How many of so many workers' gradients are made up. */
size_t team_made(const Team *c, const Vector *v, size_t workers);

#endif
