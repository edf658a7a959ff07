/* short_cosine.h -- the orthonormal DCT-II of a short vector, in place, and its inverse.
 *
 *     y_k = w_k sum over i of x_i cos(pi (2 i + 1) k / (2 n)),   w_0 = sqrt(1 / n), else sqrt(2 / n)
 *
 * Takes about 2 n^2 products of doubles in a fixed order. Of the C mathematics library it uses only sqrt,
 * which is rounded correctly, so all machines give the same bytes. cosine.h is for longer vectors. */
#ifndef ATOMO_SHORT_COSINE_H
#define ATOMO_SHORT_COSINE_H

#include "base/base.h"

enum { SHORT_COSINE_MOST = 512 };

/* Sets c (n, n) to the matrix of the transform, y = c x; n <= SHORT_COSINE_MOST. Its transpose is the inverse. */
void short_cosine_matrix(double *c, size_t n);

/* Both work in place; n <= SHORT_COSINE_MOST. */
void short_cosine(float *x, size_t n);
void short_cosine_back(float *x, size_t n);

#endif
