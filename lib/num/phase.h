/* phase.h -- rounds complex numbers to one of 64 directions, without bias: the phases of Fourier atoms of small
 * norm.
 *
 * The directions are the corners of a 64-gon in the unit circle. z = gauge(z) e, with e on the polygon's edge between
 * two corners. Drawing one of the two with the probabilities that make e their mean, and keeping it with probability
 * gauge(z) / tau at length tau, gives z on average, exactly. gauge(z) = |z| / rho is at most 0.12 % above |z|, as the
 * edge's distance rho from the centre is at least cos(pi / 64). Where z has the direction of a corner, gauge(z) = |z|
 * and nothing is random: a real number keeps its sign. No trigonometry, so the same on every machine. */
#ifndef ATOMO_PHASE_H
#define ATOMO_PHASE_H

#include "base/base.h"

enum { PHASE_BITS = 6, PHASES = 1 << PHASE_BITS };

/* A lower bound of |z| / gauge(z), with a margin for rounding. */
#define PHASE_LEAST_RHO 0.9987

/* Multiplies the `count` pairs z by scale in place and sets gauge[i] to the gauge of the i-th product. */
void phase_gauges(float *z, size_t count, float scale, float *gauge);

/* Returns k of the corner exp(2 pi i k / 64) that a uniform u in [0, 1) selects for z = re + i im, whose gauge is not
 * 0. */
unsigned phase_draw(float re, float im, float gauge, double u);

/* Writes the real and imaginary part of corner k to z. */
void phase_corner(unsigned k, double z[2]);

#endif
