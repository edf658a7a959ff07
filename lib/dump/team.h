/* team.h -- supplies the gradients of P workers from a dump; the payloads of these gradients are then merged. If
 * the dump has fewer workers, the missing gradients are made up.
 *
 * If the dump has worker groups, the payloads of each step's workers are merged; if not, each step counts as one
 * worker, and the payloads of all steps are merged. Only payloads of vectors with the same name and shape are
 * merged. If the dump holds F gradients of a vector, worker p >= F gets g + noise rms(g) z, where g is the
 * gradient of worker p mod F, and z are standard normal numbers that depend on seed, p, step and tensor alone. */
#ifndef ATOMO_TEAM_H
#define ATOMO_TEAM_H

#include "dump/groups.h"

typedef struct {
    size_t index;   /* index, among the dump's vectors, of the first gradient of this vector */
    size_t reals;   /* how many gradients of the vector the dump holds */
    size_t *source; /* (reals) indices of these gradients among the dump's vectors */
    double *rms;    /* (reals) root mean squares of these gradients; NaN: not computed yet */
} Member;

typedef struct {
    Dump *dump;
    VectorList from; /* the dump's vectors */
    VectorList
        list;       /* the vectors to merge: without worker, and without step if steps are taken as workers */
    Member *member; /* (list.count) */
    uint64_t seed;
    double noise;
    int threads;
} Team;

Status team_make(Team *out, Dump *dump, const VectorList *from, Arena *a, Error *err);

/* Reads the gradient of a worker (0 ..), real or made up, into x (v->shape.n); v is an item of the team's list. */
Status team_load(Team *c, const Vector *v, size_t worker, float *x, Error *err);

/* Returns how many of the gradients of v for workers 0 .. workers - 1 are made up. */
size_t team_made(const Team *c, const Vector *v, size_t workers);

#endif
