/* blockwise.h -- fills long vectors, finds their largest magnitudes and what is not finite, and adds their squares on several threads. */
#ifndef ATOMO_BLOCKWISE_H
#define ATOMO_BLOCKWISE_H

#include "base/base.h"

/* Fills the n elements of `out` with calls of `fill`, each of which sets the `count` elements from index `from` on;
 * `to` is out + from. Returns false if an element of `out` is then not finite. */
typedef void BlockwiseFill(const void *data, size_t from, size_t count, float *to);
bool blockwise_fill(float *out, size_t n, int threads, BlockwiseFill *fill, const void *data);

/* Sets sum = a + factor b, with float32 arithmetic; `sum` may be a or b. Returns false if an element of the sum is
 * not finite. */
bool blockwise_add(const float *a, const float *b, float factor, size_t n, int threads, float *sum);

/* Copies n little-endian float32 from `bytes` to x. Returns false if an element is not finite. */
bool blockwise_load(const uint8_t *bytes, size_t n, int threads, float *x);

/* Returns the largest magnitude of the n elements of x; 0 if n is 0. NaN counts as larger than infinity. */
float blockwise_most(const float *x, size_t n, int threads);

/* Returns the sum of the squares of the n elements of x. */
double blockwise_squares(const float *x, size_t n, int threads);

/* Sets *sum and *squares to the sums of the n elements of x and of their squares, and *most to the largest magnitude. `sum`
 * and `most` may be NULL. */
void blockwise_moments(const float *x, size_t n, int threads, double *sum, double *squares, float *most);

/* Returns the index of the first NaN or infinity among the n elements of x; n if there is none. Sets
 * `*count`, if `count` is not NULL, to the number of NaN and infinities. */
size_t first_nonfinite(const float *x, size_t n, size_t *count);

#endif
