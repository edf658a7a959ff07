/* thin.h -- for low-rank codecs: a matrix times a few vectors, and orthonormalisation of a few vectors.
 *
 * Vectors are stored one after another. No BLAS: sums are taken in double in an order that depends on the shape
 * alone, so results are the same to the byte for any number of threads and on any machine. */
#ifndef ATOMO_THIN_H
#define ATOMO_THIN_H

#include "base/arena.h"
#include "base/rng.h"

/* Writes p (count, rows), p_k = M q_k, for q (count, cols); m holds M (rows, cols) row by row. Results beyond
 * float32 become infinities. */
void thin_right(const float *m, size_t rows, size_t cols, const float *q, size_t count, int threads,
                float *p);

/* Writes q (count, cols), q_k = M' p_k, for p (count, rows). */
Status thin_left(const float *m, size_t rows, size_t cols, const float *p, size_t count, int threads,
                 float *q, Arena *scratch, Error *err);

/* Makes v (count, n), count <= n, orthonormal, in place (Gram-Schmidt, two passes, in double). Where the part of v_k
 * orthogonal to the vectors before it is less than a millionth of v_k, and so mostly rounding error, a normal vector
 * drawn at `rng` replaces v_k. */
Status thin_orthonormal(float *v, size_t count, size_t n, const Rng *rng, Arena *scratch, Error *err);

/* Fills v_i for i < n with N(0, 1) times `scale`, drawn at `rng` from element `first` on. */
void thin_normal(const Rng *rng, uint64_t first, size_t n, double scale, int threads, float *v);

#endif
