/* candidates.h -- the elements of a large vector that a draw may keep, found in one pass over memory.
 *
 * Candidates(t) is what survives element i's coin at level t. The coin uses the same random word at every
 * level, so the candidates of a lower level include those of a higher one. They are held as lists where they
 * are few; of a dense draw only a bit for each element is, set once it is kept. For atoms_draw.c. */
#ifndef ATOMO_CANDIDATES_H
#define ATOMO_CANDIDATES_H

#include "compress/atoms/atoms.h"
#include "base/coin.h"

enum { WAVE = 16 }; /* blocks that fill slots at once */

typedef struct Candidates Candidates;
typedef void BlockDraw(const Candidates *d, size_t block,
                       AtomPiece *slot); /* fills the slot, room for a block */

struct Candidates {
    const Call *call;
    const float *x;
    size_t n, blocks;
    Rng rng;
    Coin coin;
    bool dense;
    AtomPiece *piece; /* (blocks); in a dense draw without lists */
    uint64_t *kept;   /* a dense draw's bits, as in indices.h */
    AtomPiece slot[WAVE];
    size_t wave;       /* the block that slot 0 stands for */
    BlockDraw *filler; /* of the slots */
    uint64_t *mass;    /* (blocks): p before each block, in 2^-64 and modulo 1; systematic draws only */
    uint64_t offset;
    size_t first; /* elements before it are out: draws that were empty once */
};

Status candidates_open(Candidates *d, const Call *c, const float *x, size_t n);

/* Fills every block's piece, or bits. */
Status candidates_collect(Candidates *d, BlockDraw *filler);

/* What survives the coin as it stands. */
void candidates_sift(const Candidates *d, size_t block, AtomPiece *slot);

/* Settles the plan's level and, unless the draw is dense, leaves a superset of what its coins keep; the
 * level's own coin is d->coin then. The level does not depend on how it was found: neither on the sample nor
 * on threads or instruction set. */
Status candidates_of_plan(Candidates *d, const AtomPlan *plan, float *tau);

#endif
