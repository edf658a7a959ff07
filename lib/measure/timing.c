/* timing.c -- measures the time of a call with the monotonic clock. */
#include "measure/timing.h"

#include <time.h>

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double clock_resolution(void)
{
    enum { READINGS = 1000 };
    int64_t smallest = INT64_MAX, before = nanoseconds();
    for (int i = 0; i < READINGS || smallest == INT64_MAX; i++) {
        const int64_t now = nanoseconds();
        if (now > before && now - before < smallest)
            smallest = now - before;
        before = now;
    }
    return 1e-9 * (double)smallest;
}

Status time_loop(Status (*fn)(void *arg), void *arg, double least, double *seconds)
{
    const double start = clock_now();
    double elapsed, calls = 0;
    size_t batch = 1;
    do {
        for (size_t i = 0; i < batch; i++)
            TRY(fn(arg));
        calls += (double)batch;
        batch *= 2;
        elapsed = clock_now() - start;
    } while (elapsed < least);
    *seconds = elapsed / calls;
    return OK;
}
