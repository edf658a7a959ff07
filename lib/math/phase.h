/* phase.h -- rounds complex numbers z at random, without bias, to one of 64 phases. Fourier ATOMO (gradient
 * compression by sampled Fourier coefficients) codes the phase of a small coefficient this way.
 *
 * The 64 directions are the corners of a regular 64-gon in the unit circle. Write z = gauge(z) e, where e lies
 * on the edge between two corners. One of the two corners is drawn, with probabilities that make e the mean.
 * The corner, scaled to the codec's threshold tau >= gauge(z), is kept with probability gauge(z) / tau;
 * otherwise the result is 0. So the mean of the result is z.
 *
 * gauge(z) = |z| / |e| is at most 0.12 % above |z|, since |e| is at least cos(pi / 64). If z has the direction
 * of a corner, such as a real number, the phase is not random. No trigonometric function is used, so results
 * are the same on every machine. */
#ifndef ATOMO_PHASE_H
#define ATOMO_PHASE_H

#include "base/base.h"

enum { PHASE_BITS = 6, PHASES = 1 << PHASE_BITS };

/* A lower bound on |z| / gauge(z). The exact minimum is cos(pi / 64) = 0.99880; the difference is a margin
 * for rounding. */
#define PHASE_LEAST_RHO 0.9987

/* Multiplies `count` complex numbers z (pairs re, im) by `scale` in place, and sets gauge[i] to the gauge of
 * product i. */
void phase_gauges(float *z, size_t count, float scale, float *gauge);

/* Draws one of the two corners between which z = re + i im points, for a uniform random number u in [0, 1).
 * Returns its index k; the corner is exp(2 pi i k / 64). `gauge` is the gauge of z and must not be 0. */
unsigned phase_draw(float re, float im, float gauge, double u);

/* Writes the real and imaginary part of corner k to z. */
void phase_corner(unsigned k, double z[2]);

#endif
