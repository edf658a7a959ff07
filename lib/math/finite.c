/* finite.c -- finds and counts NaN and infinities. */
#include "math/finite.h"

#include "math/vec/kernels.h"

#include <math.h>

enum { CHUNK = 4096 };

size_t first_nonfinite(const float *x, size_t n, size_t *count)
{
    size_t first = n, bad = 0;
    for (size_t at = 0; at < n; at += CHUNK) {
        const size_t end = n - at < CHUNK ? n : at + CHUNK;
        if (isfinite(kernels()->abs_max(x + at, end - at)))
            continue;
        for (size_t i = at; i < end; i++)
            if (!isfinite(x[i]) && !bad++)
                first = i;
        if (!count)
            break;
    }
    if (count)
        *count = bad;
    return first;
}
