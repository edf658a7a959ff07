/* phase.h -- rounds complex numbers z at random, without bias, so that their phases are one of 64
 * directions. Fourier ATOMO codes the phase of an atom of small norm this way.
 *
 * The directions are the corners of a regular 64-gon in the unit circle. Write z = gauge(z) e, where e lies
 * on the edge between two corners. One of the two corners is drawn, with probabilities that make e their
 * mean. It is kept with probability gauge(z) / tau, as a number of length tau, else 0 is kept. So the mean
 * of the result is exactly z.
 * gauge(z) = |z| / |e| is at most 0.12 % above |z|, since |e| is at least cos(pi / 64). If z has the
 * direction of a corner, gauge(z) = |z| and the phase is not random: a real number keeps its sign. No
 * trigonometric function is used, so results are the same on every machine. */
#ifndef ATOMO_PHASE_H
#define ATOMO_PHASE_H

#include "base/base.h"

enum { PHASE_BITS = 6, PHASES = 1 << PHASE_BITS };

/* A lower bound on |z| / gauge(z). The exact minimum is cos(pi / 64); this value leaves a margin for
 * rounding. */
#define PHASE_LEAST_RHO 0.9987

/* Multiplies `count` complex numbers z (pairs re, im) by `scale` in place, and sets gauge[i] to the gauge of
 * product i. */
void phase_gauges(float *z, size_t count, float scale, float *gauge);

/* Draws a corner for z = re + i im, and returns its index k; the corner is exp(2 pi i k / 64). u is a
 * uniform random number in [0, 1). `gauge` is the gauge of z and must not be 0. */
unsigned phase_draw(float re, float im, float gauge, double u);

/* Writes the real and imaginary part of corner k to z. */
void phase_corner(unsigned k, double z[2]);

#endif
