/* candidates.h -- finds the water level of a draw of atoms, and the elements that the draw may keep.
 *
 * At a water level t, element x is kept with probability min(1, |x| / t). The same random word of an element
 * decides at every level (coin.h), so a lower level keeps all elements that a higher level keeps. The
 * candidates of a level t are the elements that are kept at t. A draw with few candidates stores lists of
 * candidates. A draw that keeps many elements (a dense draw) has only a bit for each element, set if the
 * element is kept. Only atoms_draw.c uses these functions. */
#ifndef ATOMO_CANDIDATES_H
#define ATOMO_CANDIDATES_H

#include "compress/atoms/atoms.h"
#include "base/coin.h"

enum { WAVE = ATOM_ROOMS }; /* number of blocks (of 2^16 elements) that are drawn at once */

typedef struct Candidates Candidates;

/* A function that draws a block's atoms and writes them to `slot`, which has room for as many atoms as a block
 * has elements. */
typedef void BlockDraw(const Candidates *d, size_t block, AtomPiece *slot);

struct Candidates {
    const Call *call;
    const float *x;
    size_t n, blocks;
    Rng rng;
    Coin coin;
    bool dense;
    /* the candidates of each block and, after the draw, the kept atoms; in a dense draw only their counts and
     * sums */
    AtomPiece *piece;
    uint64_t *kept; /* the bits of a dense draw: bit i % 64 of word i / 64 is set if element i is kept */
    AtomPiece slot[WAVE];
    size_t wave;       /* index of the block whose atoms slot[0] holds */
    BlockDraw *filler; /* the function that draws a block's atoms into a slot */
    /* for each block: the sum of p over all earlier blocks, modulo 1, in units of 2^-64; set only for
     * systematic sampling */
    uint64_t *mass;
    uint64_t offset; /* the random offset of a systematic draw, in units of 2^-64 */
    size_t first;    /* the index of the first kept atom, in a draw that must keep at least one atom */
};

/* Opens d for the vector x of n elements. Memory comes from c->scratch. x must outlive the draw. */
Status candidates_open(Candidates *d, const Call *c, const float *x, size_t n);

/* Draws all blocks with the function `filler`. The kept atoms go to d->piece; in a dense draw, bits are set in
 * d->kept. */
Status candidates_collect(Candidates *d, BlockDraw *filler);

/* A BlockDraw: keeps the elements that d->coin keeps. */
void candidates_sift(const Candidates *d, size_t block, AtomPiece *slot);

/* Finds the plan's water level, and sets d->coin to the coin of this level. Unless the draw is dense, d->piece
 * then holds all elements that the coin keeps, and perhaps some more. The level does not depend on the sample,
 * the number of threads or the instruction set. */
Status candidates_of_plan(Candidates *d, const AtomPlan *plan, float *tau);

#endif
