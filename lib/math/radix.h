/* radix.h -- sorts floats by their bits, and computes order statistics.
 *
 * The sort key of a float is its bits with the sign bit flipped if it is positive, with all bits flipped if it
 * is negative. As unsigned integers the keys have the order of the floats; -0 comes before +0. NaN must not
 * occur. */
#ifndef ATOMO_RADIX_H
#define ATOMO_RADIX_H

#include "base/arena.h"
#include "base/bytes.h"

/* Returns the sort key of a float. */
static inline uint32_t radix_key(float x)
{
    const uint32_t u = float_bits(x);
    return u ^ ((0u - (u >> 31)) | 0x80000000u);
}
/* Returns the float that has this sort key. */
static inline float radix_float(uint32_t key)
{
    return bits_float(key ^ (((key >> 31) - 1u) | 0x80000000u));
}

/* Writes the n elements of x, sorted, to `out`, which may be x itself. Overwrites n elements of `spare`. */
Status radix_sort(const float *x, size_t n, float *out, uint32_t *spare, int threads, Arena *scratch,
                  Error *err);

/* Sets *gap = (1/n) sum |x_i - y_i|; n > 0. */
Status radix_mean_gap(const float *x, const float *y, size_t n, int threads, double *gap, Arena *scratch,
                      Error *err);

/* Sets *w1 to the Wasserstein distance W1 between the empirical distributions of x's and y's entries: the
 * mean |x_i - y_i| of the two sorted vectors. n > 0; `work` has room for 2 n floats, and y is sorted in
 * place. */
Status radix_wasserstein(const float *x, float *y, size_t n, float *work, int threads, double *w1,
                         Arena *scratch, Error *err);

/* Returns the (k+1)-th smallest magnitude of x, for k < n, and sets *upto to the number of magnitudes that
 * are at most as large. x is not reordered. */
float radix_magnitude(const float *x, size_t n, size_t k, int threads, size_t *upto);

/* Returns the q-quantile of |x| by linear interpolation at (n - 1) q; n > 0. x is not reordered. */
double radix_magnitude_quantile(const float *x, size_t n, double q, int threads);

#endif
