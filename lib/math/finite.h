/* finite.h -- finds and counts NaN and infinities. */
#ifndef ATOMO_FINITE_H
#define ATOMO_FINITE_H

#include <stddef.h>

/* Returns the index of the first NaN or infinity among the n elements of x; n if there is none. Sets
 * `*count`, if `count` is not NULL, to the number of NaN and infinities. */
size_t first_nonfinite(const float *x, size_t n, size_t *count);

#endif
