/* omega.h -- omega, the relative variance of an unbiased codec Q: the smallest number with E|Q(x) - x|^2 <= omega
 * |x|^2 for all x. */
#ifndef ATOMO_OMEGA_H
#define ATOMO_OMEGA_H

#include "codec/compressor.h"

/* Computes 1/(1 + omega), from an estimate of omega, rounded down to eight significant bits, so that rounding errors
 * of LAPACK cannot change it. */
Status omega_rate(const Call *c, double *rate);

#endif
