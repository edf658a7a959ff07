/* lloyd.h -- the quantiser levels with the least mean squared error for standard normal numbers (Lloyd 1957, Max
 * 1960). */
#ifndef ATOMO_LLOYD_H
#define ATOMO_LLOYD_H

#include "vec/kernels.h"

enum { LLOYD_BITS_MAX = LEVEL_SCALE_BITS + 1 };

/* Returns the 2^(bits - 1) positive levels, rising; the negative levels mirror them. 1 <= bits <= LLOYD_BITS_MAX. */
const float *lloyd_levels(int bits);

/* Returns a scale whose thresholds apply to numbers of standard deviation `unit`, and whose levels are those for
 * standard normal numbers. */
LevelScale lloyd_scale(int bits, float unit);

#endif
