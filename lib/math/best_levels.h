/* best_levels.h -- the quantisation levels with the least mean squared error for standard normal numbers (Lloyd 1957,
 * Max 1960). */
#ifndef ATOMO_BEST_LEVELS_H
#define ATOMO_BEST_LEVELS_H

#include "math/vec/kernels.h"

enum { LLOYD_BITS_MAX = LEVEL_SCALE_BITS + 1 };

/* Returns a quantiser of normal numbers with standard deviation `unit`: its thresholds are scaled by `unit`,
 * its levels are not. */
LevelScale lloyd_scale(int bits, float unit);

#endif
