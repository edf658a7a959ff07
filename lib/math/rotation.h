/* rotation.h -- random rotations of vectors of 64 elements or more: rounds of random signs and an orthonormal
 * transform. Afterwards every coordinate is close to normally distributed, whatever the vector was.
 *
 * A vector is cut into pieces of BLOCK elements; a remainder of fewer than ROTATION_LEAST elements joins the
 * last piece. A piece is cut into blocks, each rotated by itself. If the number of elements left in the piece
 * is a power of two, they are the last block. Otherwise the length of the next block is the largest power of
 * two, at least ROTATION_LEAST, that leaves at least ROTATION_LEAST elements. The transform of these blocks
 * is Walsh-Hadamard (dyadic_transform.h). If there is no such power, the elements left are the last block,
 * with a short cosine transform. All machines give the same bytes.
 *
 * Two rounds with Hadamard transforms leave a bias in an estimate from the signs of the coordinates: about 6
 * / n of the norm for a vector with two equal non-zero elements. So if two rounds or more are asked for,
 * Hadamard blocks of fewer than ROTATION_ENOUGH elements get an additional round. */
#ifndef ATOMO_ROTATION_H
#define ATOMO_ROTATION_H

#include "base/rng.h"

enum {
    ROTATION_SHORTEST = 64,
    ROTATION_LEAST = 256,
    ROTATION_ENOUGH = 4096, /* Hadamard blocks of at least this length need no additional round */
    ROTATION_LONGEST = BLOCK,
    ROTATION_ROUNDS_MAX = 4
};

/* Returns the number of pieces of a vector of n elements; piece p begins at element p BLOCK. */
size_t rotation_pieces(size_t n);
size_t rotation_piece(size_t n, size_t piece); /* returns the length of a piece */

/* Returns the length of the next block when `left` elements of a piece remain; 0 if left is 0. */
size_t rotation_block(size_t left);

/* The random signs of a block. Round r uses the random words of `key` from word at / 32 + 4096 r on. */
typedef struct {
    RngKey key;
    size_t at; /* the block's first element in its piece, a multiple of 32 */
    int rounds;
} Rotation;

static inline Rotation rotation_open(const Rng *rng, size_t piece, size_t at, int rounds)
{
    return (Rotation){rng_key(rng, USE_SIGN, piece), at, rounds};
}

/* Writes y = scale times the rotated block; x and y may be the same. */
void rotation_turn(const Rotation *r, const float *x, size_t n, float scale, float *y);
void rotation_turn_back(const Rotation *r, float *x, size_t n); /* applies the inverse rotation in place */

/* ---- short cosine transforms ---- */

/* The orthonormal DCT-II of a short vector, in place, and its inverse.
 *
 *     y_k = w_k sum over i of x_i cos(pi (2 i + 1) k / (2 n)),   w_0 = sqrt(1 / n), else sqrt(2 / n)
 *
 * Takes about 2 n^2 products of doubles in a fixed order. Of the C mathematics library it uses only sqrt,
 * which is rounded correctly, so all machines give the same bytes. cosine_forward is for longer vectors. */

enum { SHORT_COSINE_MOST = 512 };

/* Sets c (n, n) to the matrix of the transform, y = c x; n <= SHORT_COSINE_MOST. Its transpose is the inverse. */
void short_cosine_matrix(double *c, size_t n);

#endif
