/* omega.h -- how noisy an unbiased codec can be: omega with E|Q(x) - x|^2 <= omega |x|^2 for all x. */
#ifndef ATOMO_OMEGA_H
#define ATOMO_OMEGA_H

#include "codec/compressor.h"

/* The largest |Q(x) - x|^2 / |x|^2 over vectors that are hard for one codec or another, by its closed form where
 * it has one. It depends on spec and shape alone, so that all who know these have the same number. Takes scratch. */
Status omega_find(const Call *c, double *omega);

/* 1/(1 + omega) rounded down to eight bits, so that rounding in LAPACK is not seen. */
Status omega_rate(const Call *c, double *rate);

#endif
