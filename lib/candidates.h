/* candidates.h -- the elements of a large vector that a draw may keep, found in one pass over memory.
 *
 * Candidates(t) is what survives element i's coin at level t. The coin uses the same random word at every
 * level, so the candidates of a lower level include those of a higher one. For atoms_draw.c. */
#ifndef ATOMO_CANDIDATES_H
#define ATOMO_CANDIDATES_H

#include "atoms.h"
#include "coin.h"

enum { WAVE = 16 }; /* blocks that fill slots at once */

/* What is kept of one block. */
typedef struct {
    uint32_t *at; /* places in the block, in order */
    float *value;
    size_t count;
    double sum; /* of the block's |x| */
} Piece;

typedef struct {
    const Call *call;
    const float *x;
    size_t n, blocks;
    Rng rng;
    Coin coin;
    Piece *piece; /* (blocks) */
    Piece slot[WAVE];
    size_t wave;    /* the block that slot 0 stands for */
    uint64_t *mass; /* (blocks): p before each block, in 2^-64 and modulo 1; systematic draws only */
    uint64_t offset;
    size_t first; /* elements before it are out: draws that were empty once */
} Candidates;

Status candidates_open(Candidates *d, const Call *c, const float *x, size_t n);

/* Fills every block's piece by `block`, which fills slot[slot] for block wave + slot. */
Status candidates_collect(Candidates *d, void (*block)(void *candidates, size_t slot));

/* Settles the plan's level and leaves a superset of what its coins keep; the level's own coin is d->coin
 * then. The level does not depend on how it was found: neither on the sample nor on threads or instruction
 * set. */
Status candidates_of_plan(Candidates *d, const AtomPlan *plan, float *tau);

#endif
