/* candidates.h -- the level of a draw and the elements that it may keep, found in one pass over memory.
 *
 * The candidates of a level t are the elements that element i's coin keeps at t. The coin uses the same random word
 * at every level, so the candidates of a lower level include those of a higher one. Few candidates are held as lists;
 * a dense draw has no lists, only a bit for each element that is kept. For atoms_draw.c. */
#ifndef ATOMO_CANDIDATES_H
#define ATOMO_CANDIDATES_H

#include "compress/atoms/atoms.h"
#include "base/coin.h"

enum { WAVE = 16 }; /* blocks that are drawn at once */

typedef struct Candidates Candidates;

/* Draws a block into the slot, which has room for a whole block. */
typedef void BlockDraw(const Candidates *d, size_t block, AtomPiece *slot);

struct Candidates {
    const Call *call;
    const float *x;
    size_t n, blocks;
    Rng rng;
    Coin coin;
    bool dense;
    AtomPiece *piece; /* (blocks); a dense draw has counts and sums only */
    uint64_t *kept;   /* a dense draw's bits: element i is bit i % 64 of word i / 64 */
    AtomPiece slot[WAVE];
    size_t wave;       /* the block of slot 0 */
    BlockDraw *filler; /* fills a slot */
    uint64_t
        *mass; /* (blocks) sum of p before each block, modulo 1 in units of 2^-64; systematic draws only */
    uint64_t offset; /* of a systematic draw, in units of 2^-64 */
    size_t first;    /* the first atom kept, in a draw given that one is kept */
};

/* Allocates in c->scratch, which must outlive the draw. x (n) is borrowed. */
Status candidates_open(Candidates *d, const Call *c, const float *x, size_t n);

/* Draws every block by `filler`, into its piece or its bits. */
Status candidates_collect(Candidates *d, BlockDraw *filler);

/* A BlockDraw: the elements that d->coin keeps. */
void candidates_sift(const Candidates *d, size_t block, AtomPiece *slot);

/* Finds the plan's level and sets d->coin to its coin. Unless the draw is dense, the pieces then hold a superset of the
 * elements that this coin keeps. The level depends neither on the sample nor on threads or instruction set. */
Status candidates_of_plan(Candidates *d, const AtomPlan *plan, float *tau);

#endif
