/* noise.h -- normal noise by address, added to a vector: the same floats on any machine and any number of threads. */
#ifndef ATOMO_NOISE_H
#define ATOMO_NOISE_H

#include "base/rng.h"

/* Where N(0, 1) has the lower tail u, 0 < u < 1, to rounding error: sums, products, quotients and a root alone, so
 * that no mathematical library has a say. Faster than normal_lower_quantile. */
double noise_quantile(double u);

/* x_i += scale * N(0, 1), each normal of the element's own 52 random bits. */
void noise_add(float *x, size_t n, double scale, const Rng *rng, int threads);

#endif
