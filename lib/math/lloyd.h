/* lloyd.h -- the quantisation levels with the least mean squared error for standard normal numbers (Lloyd 1957,
 * Max 1960). */
#ifndef ATOMO_LLOYD_H
#define ATOMO_LLOYD_H

#include "math/vec/kernels.h"

enum { LLOYD_BITS_MAX = LEVEL_SCALE_BITS + 1 };

/* Returns the 2^(bits - 1) positive levels in rising order. The negative levels are their negatives. 1 <= bits
 * <= LLOYD_BITS_MAX. */
const float *lloyd_levels(int bits);

/* Returns a quantiser of normal numbers with standard deviation `unit`: its thresholds are scaled by `unit`,
 * its levels are not. */
LevelScale lloyd_scale(int bits, float unit);

#endif
