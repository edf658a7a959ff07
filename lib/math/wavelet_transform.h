/* wavelet_transform.h -- orthonormal wavelet transforms of any length.
 *
 * One level of the transform turns m elements x into h = floor(m / 2) smooth and h detail coefficients,
 *
 *     smooth_k = sum over t of s_t x_((2k + t) mod 2h)    detail_k = sum over t of d_t x_((2k + t) mod 2h)
 *
 * with the filters s and d_t = (-1)^t s_(taps - 1 - t), where `taps` is the length of s. If m is odd, the last
 * element is kept as a coefficient. The next level transforms the smooth coefficients, as long as there are at
 * least two. With two elements left, all families of filters equal Haar's. The smooth coefficients come first,
 * then the detail coefficients from the coarsest level to the finest:
 *
 *     level of m:   smooth 0 .. h-1   detail h .. 2h-1   [ last element m-1 ] */
#ifndef ATOMO_WAVELET_H
#define ATOMO_WAVELET_H

#include "base/arena.h"
#include "math/vec/kernels.h"

/* Daubechies' extremal-phase filters with 1, 2 and 4 vanishing moments. */
enum { WAVELET_HAAR, WAVELET_DB2, WAVELET_DB4, WAVELETS };
extern const char *const wavelet_families[]; /* ends in NULL */

/* Returns the filters s and d of a family. */
WaveletFilter wavelet_filter(int family);

/* Writes y, the transform of x; `levels` 0: as many levels as possible. Takes 2 bytes of scratch for each
 * element; returns false when there is not enough memory. The result is the same on every machine and for any
 * number of threads. */
bool wavelet(int family, int levels, const float *x, float *y, size_t n, int threads, Arena *scratch);

/* Writes x, the inverse transform of y. Overwrites up to the first n / 2 elements of y. */
void wavelet_back(int family, int levels, float *y, float *x, size_t n, int threads);

/* The results of both transforms are finite if the norm |x|_2 is at most this number. The arrays x and y must
 * not overlap. */
#define WAVELET_MOST 0x1p125f

#endif
