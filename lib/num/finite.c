/* finite.c -- finds and counts NaN and infinities. */
#include "num/finite.h"

#include "base/bytes.h"

enum { CHUNK = 4096 };

/* True if x has a NaN or an infinity. Tests the bits of the floats, because the compiler vectorises this. */
static bool any_nonfinite(const float *x, size_t n)
{
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= (float_bits(x[i]) & 0x7fffffff) >= 0x7f800000;
    return any;
}

size_t first_nonfinite(const float *x, size_t n, size_t *count)
{
    size_t first = n, bad = 0;
    for (size_t at = 0; at < n; at += CHUNK) {
        const size_t end = n - at < CHUNK ? n : at + CHUNK;
        if (!any_nonfinite(x + at, end - at))
            continue;
        for (size_t i = at; i < end; i++)
            if ((float_bits(x[i]) & 0x7fffffff) >= 0x7f800000 && !bad++)
                first = i;
        if (!count)
            break;
    }
    if (count)
        *count = bad;
    return first;
}
