/* omega.h -- the relative variance of an unbiased codec: the least omega with E|Q(x) - x|^2 <= omega |x|^2 for
 * all x. */
#ifndef ATOMO_OMEGA_H
#define ATOMO_OMEGA_H

#include "codec/compressor.h"

/* The largest E|Q(x) - x|^2 / |x|^2 over four vectors, each hard for some codecs: a lower bound of omega. It
 * depends on spec and shape only, so all workers compute the same number. */
Status omega_find(const Call *c, double *omega);

/* 1/(1 + omega) rounded down to eight bits, so that rounding errors of LAPACK cannot change it. */
Status omega_rate(const Call *c, double *rate);

#endif
