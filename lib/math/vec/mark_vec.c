/* mark_vec.c -- makes a bit mask of the elements whose magnitude is at or above a threshold. */
#include "math/vec/lane.h"

#include <math.h>

size_t ISA_NAME(mark_from)(const float *x, size_t n, float least, uint64_t *bits)
{
    const VecF low = set_f(least);
    size_t i = 0, count = 0;
    for (; i + 64 <= n; i += 64) {
        uint64_t word = 0;
        for (int at = 0; at < 64; at += LANES)
            word |= lane_bits((VecI)(abs_f(load_f(x + i + at)) >= low)) << at;
        bits[i / 64] = word;
        count += (size_t)__builtin_popcountll(word);
    }
    if (i < n) {
        uint64_t word = 0;
        for (size_t l = 0; l < n - i; l++)
            word |= (uint64_t)(fabsf(x[i + l]) >= least) << l;
        bits[i / 64] = word;
        count += (size_t)__builtin_popcountll(word);
    }
    return count;
}
