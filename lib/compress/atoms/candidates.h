/* candidates.h -- the water level of a draw, and the elements that the draw may keep, found in one pass over
 * memory.
 *
 * The candidates of a level t are the elements that their coins (coin.h) keep at t. An element's coin uses the
 * same random word at every level, so the candidates of a lower level include those of a higher one. If there are
 * few candidates, they are held in lists. A dense draw has no lists, only a bit for each element, set if it is
 * kept. For atoms_draw.c. */
#ifndef ATOMO_CANDIDATES_H
#define ATOMO_CANDIDATES_H

#include "compress/atoms/atoms.h"
#include "base/coin.h"

enum { WAVE = 16 }; /* number of blocks that are drawn at once */

typedef struct Candidates Candidates;

/* Draws a block's atoms into `slot`, which has room for a whole block. */
typedef void BlockDraw(const Candidates *d, size_t block, AtomPiece *slot);

struct Candidates {
    const Call *call;
    const float *x;
    size_t n, blocks;
    Rng rng;
    Coin coin;
    bool dense;
    AtomPiece *piece; /* one for each block; a dense draw has counts and sums only */
    uint64_t *kept;   /* a dense draw's bits: bit i % 64 of word i / 64 is set if element i is kept */
    AtomPiece slot[WAVE];
    size_t wave;       /* number of the block that slot 0 holds */
    BlockDraw *filler; /* the function that draws a block's atoms into a slot */
    /* for each block: sum of p before it, modulo 1, in units of 2^-64; only for systematic draws */
    uint64_t *mass;
    uint64_t offset; /* the offset of a systematic draw, in units of 2^-64 */
    size_t first;    /* the first atom kept, in a draw that must keep at least one */
};

/* Allocates memory in c->scratch, which must outlive the draw. x (n) must outlive it too. */
Status candidates_open(Candidates *d, const Call *c, const float *x, size_t n);

/* Draws every block by `filler`, into d->piece, or, if the draw is dense, into the bits d->kept. */
Status candidates_collect(Candidates *d, BlockDraw *filler);

/* A BlockDraw: keeps the elements that d->coin keeps. */
void candidates_sift(const Candidates *d, size_t block, AtomPiece *slot);

/* Finds the plan's water level, and sets d->coin to the coin of that level. Unless the draw is dense, the pieces
 * then hold a superset of the elements that this coin keeps. The level depends neither on the sample nor on the
 * threads or the instruction set. */
Status candidates_of_plan(Candidates *d, const AtomPlan *plan, float *tau);

#endif
