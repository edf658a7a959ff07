/* noise.h -- normal noise by address, added to a vector: the same floats on any machine and any number of threads. */
#ifndef ATOMO_NOISE_H
#define ATOMO_NOISE_H

#include "base/rng.h"

/* The z with P(N(0, 1) < z) = u, 0 < u < 1, to rounding error. Only sums, products, quotients and a square root are
 * used, so the result does not depend on the mathematical library. Faster than normal_lower_quantile. */
double noise_quantile(double u);

/* x_i += scale * N(0, 1), each normal of the element's own 52 random bits. */
void noise_add(float *x, size_t n, double scale, const Rng *rng, int threads);

#endif
