/* noise.h -- adds normally distributed noise to a vector. The noise depends only on the key of the generator
 * `rng` (seed, repeat, worker, step, tensor; rng.h). It is the same on any machine and for any number of
 * threads. */
#ifndef ATOMO_NOISE_H
#define ATOMO_NOISE_H

#include "base/rng.h"

/* Returns the z with P(N(0, 1) < z) = u, 0 < u < 1, accurate up to rounding errors. Uses only sums, products,
 * quotients and a square root, so the result does not depend on the C library. */
double noise_quantile(double u);

/* Adds `scale` times a standard normal random number, made from 52 random bits, to elements at .. at + n - 1 of a
 * vector. x has these elements; each element's number does not depend on `at`. */
void noise_add(float *x, size_t at, size_t n, double scale, const Rng *rng, int threads);

#endif
