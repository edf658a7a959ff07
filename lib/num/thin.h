/* thin.h -- for low-rank codecs: products of a matrix with a few vectors, and orthonormalisation of a few vectors.
 *
 * Vectors are stored one after another. BLAS is not used: sums are taken in double in an order that depends on the
 * shape alone, so results are the same bytes for any number of threads and on any machine. */
#ifndef ATOMO_THIN_H
#define ATOMO_THIN_H

#include "base/arena.h"
#include "base/rng.h"

/* Writes p_k = M q_k, where p_k and q_k are the rows of p (count, rows) and q (count, cols), and m holds M (rows,
 * cols) row by row. Results beyond float32's range become infinities. */
void thin_right(const float *m, size_t rows, size_t cols, const float *q, size_t count, int threads,
                float *p);

/* Writes q_k = M' p_k, where q_k and p_k are the rows of q (count, cols) and p (count, rows). */
Status thin_left(const float *m, size_t rows, size_t cols, const float *p, size_t count, int threads,
                 float *q, Arena *scratch, Error *err);

/* Makes the rows v_k of v (count, n), count <= n, orthonormal, in place (Gram-Schmidt, two passes, in double). If the
 * part of v_k that is orthogonal to the rows before it is shorter than a millionth of v_k, it is mostly rounding
 * error, and a random normal vector replaces v_k. */
Status thin_orthonormal(float *v, size_t count, size_t n, const Rng *rng, Arena *scratch, Error *err);

/* Sets v_i for i < n to `scale` times the standard normal number of `rng` for element first + i. */
void thin_normal(const Rng *rng, uint64_t first, size_t n, double scale, int threads, float *v);

#endif
