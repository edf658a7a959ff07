/* yardstick.h -- CPU time, elapsed time, and the time of a memcpy of a vector, with which benchmarks compare the time of a
 * codec on the same vector. */
#ifndef ATOMO_BENCH_YARDSTICK_H
#define ATOMO_BENCH_YARDSTICK_H

#include "base/rng.h"

#include <math.h>
#include <string.h>
#include <time.h>

static inline double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static inline double cpu_seconds(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}
static inline double wall_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

/* Returns the least CPU time, in seconds, of `times` copies of n floats. */
static inline double best_copy(float *to, const float *from, size_t n, int times)
{
    double best = INFINITY;
    for (int i = 0; i < times; i++) {
        const double start = cpu_seconds();
        memcpy(to, from, n * sizeof *to);
        __asm__ volatile("" : : "r"(to) : "memory");
        best = fmin(best, cpu_seconds() - start);
    }
    return best;
}

/* Fills x with gradient-like numbers: normal, with a scale that changes every 1024 elements. */
static inline void fill(float *x, size_t n)
{
    enum { EACH = 1024 };
    const Rng rng = rng_open(1, 0, 0, 0, rng_hash("bench"));
    for (size_t i = 0; i < n; i += EACH)
        rng_normals(&rng, USE_DATA, i, n - i < EACH ? n - i : EACH,
                    1e-3 * pow(100, -rng_unit(&rng, USE_DATA, n + i / EACH)), x + i);
}

#endif
