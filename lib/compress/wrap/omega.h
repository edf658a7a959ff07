/* omega.h -- the relative variance omega of an unbiased codec Q: the smallest number with E|Q(x) - x|^2 <=
 * omega |x|^2 for all x. */
#ifndef ATOMO_OMEGA_H
#define ATOMO_OMEGA_H

#include "compress/compressor.h"

/* Sets *rate to 1/(1 + omega), where omega is an estimate of the codec's relative variance. Rounds 1/(1 +
 * omega) down to eight significant bits, so that rounding errors of LAPACK do not change *rate. */
Status omega_rate(const Call *c, double *rate);

#endif
