/* cosine.h -- the orthonormal DCT-II of a matrix, and its inverse, the DCT-III.
 *
 *     y_k = sqrt((1 + [k > 0]) / n) sum_i x_i cos(pi (2 i + 1) k / (2 n))       along rows, then along columns
 *
 * The matrix may have any size. A side of length 1 is not transformed. x and y are rows * cols floats,
 * row-major, and may be the same array. Scratch memory is at most about as large as x. Results are the same
 * for any number of threads. */
#ifndef ATOMO_COSINE_H
#define ATOMO_COSINE_H

#include "base/arena.h"

Status cosine_forward(const float *x, size_t rows, size_t cols, float *y, int threads, Arena *scratch,
                      Error *err);
Status cosine_back(const float *y, size_t rows, size_t cols, float *x, int threads, Arena *scratch,
                   Error *err);

#endif
