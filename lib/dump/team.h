/* team.h -- reads the gradients of P workers from a dump; their payloads are then merged. If the dump has
 * gradients of fewer workers, the missing ones are made up.
 *
 * If the dump has worker groups, the payloads of the workers of one step are merged. If not, each step
 * counts as a worker, so the payloads of all steps are merged. Only vectors with the same name and shape are
 * merged.
 *
 * Let F be the number of workers whose gradient of a vector the dump has. A worker p >= F gets g + noise
 * rms(g) z. Here g is the gradient of worker p mod F, and z is a vector of standard normal numbers. z depends
 * only on seed, p, step and tensor. */
#ifndef ATOMO_TEAM_H
#define ATOMO_TEAM_H

#include "dump/groups.h"

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
