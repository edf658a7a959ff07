/* rotation.h -- random rotations of vectors of 64 elements or more: rounds of random signs and an orthonormal
 * transform, after which every coordinate is close to normal, whatever the vector was.
 *
 * A vector is cut into pieces of BLOCK elements, the last of which takes a rest of fewer than ROTATION_LEAST with
 * it, and a piece into blocks. A block is as long as a power of two can be that leaves nothing or ROTATION_LEAST
 * elements, and is transformed by Walsh-Hadamard (hadamard.h); what no such power divides is one last block of fewer
 * than 2 ROTATION_LEAST, transformed by a cosine transform (short_cosine.h). Nothing is padded. A block is rotated
 * by itself. All machines give the same bytes.
 *
 * Two rounds of Hadamard leave a bias to a quantiser of signs: of two spikes alike about 6 / n of the norm, which
 * is why short blocks get a third. */
#ifndef ATOMO_ROTATION_H
#define ATOMO_ROTATION_H

#include "base/rng.h"

enum {
    ROTATION_SHORTEST = 64,
    ROTATION_LEAST = 256,
    ROTATION_ENOUGH = 4096, /* a Hadamard block as long needs no round more than was asked for */
    ROTATION_LONGEST = BLOCK,
    ROTATION_ROUNDS_MAX = 4
};

/* A vector of n has this many pieces; piece p begins at p BLOCK. */
size_t rotation_pieces(size_t n);
size_t rotation_piece(size_t n, size_t piece); /* elements in it */

/* Elements of the block with which `left` elements of a piece begin; 0 for none. */
size_t rotation_block(size_t left);

/* Where a block's signs come from: word at / 32 + 4096 round of the piece's key. */
typedef struct {
    RngKey key;
    size_t at; /* where the block begins in its piece, a multiple of 32 */
    int rounds;
} Rotation;

Rotation rotation_open(const Rng *rng, size_t piece, size_t at, int rounds);

/* y = scale times the rotated block; x and y may be the same. */
void rotation_turn(const Rotation *r, const float *x, size_t n, float scale, float *y);
void rotation_turn_back(const Rotation *r, float *x, size_t n); /* in place */

#endif
