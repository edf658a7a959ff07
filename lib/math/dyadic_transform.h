/* dyadic_transform.h -- orthonormal transforms of any length by halves: Walsh-Hadamard and wavelets. */
#ifndef ATOMO_DYADIC_TRANSFORM_H
#define ATOMO_DYADIC_TRANSFORM_H

#include "base/base.h"
#include "base/arena.h"
#include "math/vec/kernels.h"

/* ---- Walsh-Hadamard ---- */

/* The orthonormal Walsh-Hadamard transform of any length n.
 *
 * A vector is cut into blocks whose lengths are powers of two and add up to n: one for each 1 in the binary
 * form of n, the largest first. Nothing is padded. In a block of 2^L elements
 *
 *     y_k = 2^(-L/2) sum over i of (-1)^popcount(i & k) x_i
 *
 * and the transform is its own inverse. Butterflies are applied by rising stride, so all machines and any
 * number of threads give the same bytes. */

/* Writes the transform of x to y; y is x or does not overlap x. y is finite if |x|_2 is at most
 * HADAMARD_MOST. */
void hadamard_of(const float *x, float *y, size_t n, int threads);

#define HADAMARD_MOST 0x1p119f

static inline void hadamard(float *x, size_t n, int threads)
{
    hadamard_of(x, x, n, threads);
}

/* ---- wavelets ---- */

/* Orthonormal wavelet transforms of any length.
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

/* Daubechies' extremal-phase filters with 1, 2 and 4 vanishing moments. */
enum { WAVELET_HAAR, WAVELET_DB2, WAVELET_DB4, WAVELETS };

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
