/* wavelet_transform.h -- orthonormal wavelet transforms of any length.
 *
 * A level turns m elements into h = floor(m / 2) smooths and h details,
 *
 *     smooth_k = sum over t of s_t x_((2k + t) mod 2h)    detail_k = sum over t of d_t x_((2k + t) mod 2h)
 *
 * with d_t = (-1)^t s_(taps - 1 - t); where m is odd the last element is a coefficient itself. The next level
 * transforms the smooths, as long as there are two. Periodic filters are orthonormal down to two elements, where all
 * families equal Haar's. Coefficients are in the usual order: smooths, then the details of the coarsest level, ...:
 *
 *     level of m:   smooths 0 .. h-1   details h .. 2h-1   [ last element m-1 ] */
#ifndef ATOMO_WAVELET_H
#define ATOMO_WAVELET_H

#include "base/arena.h"
#include "vec/kernels.h"

/* Daubechies' extremal-phase filters with 1, 2 and 4 vanishing moments. */
enum { WAVELET_HAAR, WAVELET_DB2, WAVELET_DB4, WAVELETS };
extern const char *const wavelet_families[]; /* ends in NULL */

/* s and d of a family. */
WaveletFilter wavelet_filter(int family);

/* y = W x; `levels` 0: as many as possible. Takes 2 bytes of scratch for each element; false when scratch has no
 * memory. The same bytes on every machine and for any number of threads. */
bool wavelet(int family, int levels, const float *x, float *y, size_t n, int threads, Arena *scratch);

/* x = W' y, whose smooths it overwrites. */
void wavelet_back(int family, int levels, float *y, float *x, size_t n, int threads);

/* Both are finite where |x|_2 is at most this. x and y do not overlap. */
#define WAVELET_MOST 0x1p125f

#endif
