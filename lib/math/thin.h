/* thin.h -- for low-rank codecs: products of a matrix with a few vectors, and orthonormalisation of a few
 * vectors.
 *
 * Results have the same bytes for any number of threads and on any machine: BLAS is not used, and sums are
 * computed in double in an order that depends only on the shape. */
#ifndef ATOMO_THIN_H
#define ATOMO_THIN_H

#include "base/arena.h"
#include "base/rng.h"

/* Writes p_k = M q_k, where M is (rows, cols), p_k is row k of p (count, rows), and q_k is row k of q (count,
 * cols). A result that exceeds float32's range becomes an infinity. */
void thin_right(const float *m, size_t rows, size_t cols, const float *q, size_t count, int threads,
                float *p);

/* Writes q_k = M' p_k, where q_k is row k of q (count, cols), and p_k is row k of p (count, rows). */
Status thin_left(const float *m, size_t rows, size_t cols, const float *p, size_t count, int threads,
                 float *q, Arena *scratch, Error *err);

/* Makes the rows of v (count, n), count <= n, orthonormal, in place, by Gram-Schmidt in two passes, in
 * double. If less than a millionth of a row's length is orthogonal to the previous rows, a random normal
 * vector replaces the row. */
Status thin_orthonormal(float *v, size_t count, size_t n, const Rng *rng, Arena *scratch, Error *err);

/* Sets v_i, i < n, to `scale` times element first + i of the sequence of standard normal numbers of `rng`. */
void thin_normal(const Rng *rng, uint64_t first, size_t n, double scale, int threads, float *v);

#endif
