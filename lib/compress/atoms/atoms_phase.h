/* atoms_phase.h -- a draw of complex atoms as bytes: heavy ones as they are, light ones as a direction.
 *
 *     payload    kind:8  heavy:set  { re:f32 im:f32 } x heavy  light:set  [ tau:f32  { phase:6 } x light ]
 *
 * A real atom has no im. A light one stands for tau times its corner of phase.h's polygon (0 or 32 where it is
 * real); phases fill bytes from the high bit on, zeros the last one. What is drawn is the vector of gauges: p =
 * min(1, gauge / tau). */
#ifndef ATOMO_ATOMS_PHASE_H
#define ATOMO_ATOMS_PHASE_H

#include "compress/atoms/atoms.h"
#include "compress/atoms/spectrum.h"

size_t phases_bound(size_t n);

/* Mean payload bits of n atoms with `heavy` always kept and `light` of the others on average. */
double phases_bits(size_t n, double heavy, double light);

Status phases_put(const Call *c, const Spectrum *s, const AtomDraw *draw, Buf *out);
Status phases_get(const Call *c, Bytes in, Spectrum *s, float *x);

#endif
