/* finite.c -- finds and counts NaN and infinities. */
#include "num/finite.h"

#include <math.h>

size_t first_nonfinite(const float *x, size_t n, size_t *count)
{
    size_t first = n, bad = 0;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) {
            if (!bad++)
                first = i;
            if (!count)
                break;
        }
    if (count)
        *count = bad;
    return first;
}
