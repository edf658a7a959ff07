/* omega.h -- the relative variance of an unbiased codec: the least omega with E|Q(x) - x|^2 <= omega |x|^2 for
 * all x. */
#ifndef ATOMO_OMEGA_H
#define ATOMO_OMEGA_H

#include "codec/compressor.h"

/* 1/(1 + omega) rounded down to eight bits, so that rounding errors of LAPACK cannot change it. */
Status omega_rate(const Call *c, double *rate);

#endif
