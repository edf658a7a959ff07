/* phase.h -- rounds the phases of complex numbers at random, without bias, to one of 64 directions. Fourier ATOMO
 * codes the phase of an atom of small norm this way.
 *
 * The directions are the corners of a regular 64-gon in the unit circle. Write z = gauge(z) e, where e lies on the
 * edge between two corners. One of the two corners is drawn, with probabilities that make e their mean, and kept with
 * probability gauge(z) / tau at length tau; the mean of the result is exactly z. gauge(z) = |z| / |e| is at most 0.12
 * % above |z|, as |e| is at least cos(pi / 64). When z has the direction of a corner, gauge(z) = |z| and its phase is
 * not random: a real number keeps its sign. No trigonometric function is used, so results are the same on every
 * machine. */
#ifndef ATOMO_PHASE_H
#define ATOMO_PHASE_H

#include "base/base.h"

enum { PHASE_BITS = 6, PHASES = 1 << PHASE_BITS };

/* A lower bound on |z| / gauge(z), where gauge(z) is |z| divided by the length of the 64-gon's point in the
 * direction of z. The exact minimum is cos(pi / 64); this value leaves a margin for rounding. */
#define PHASE_LEAST_RHO 0.9987

/* Multiplies `count` complex numbers z (pairs re, im) by `scale` in place, and sets gauge[i] to the gauge of
 * product i: the product's length divided by the length of the 64-gon's point in the same direction. */
void phase_gauges(float *z, size_t count, float scale, float *gauge);

/* Returns the index k of the corner exp(2 pi i k / 64) that a uniform number u in [0, 1) selects for z = re + i
 * im; `gauge` is the gauge of z (see phase_gauges) and not 0. */
unsigned phase_draw(float re, float im, float gauge, double u);

/* Writes the real and imaginary part of corner k to z. */
void phase_corner(unsigned k, double z[2]);

#endif
