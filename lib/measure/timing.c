/* timing.c -- measures the time of a call with the monotonic clock. */
#include "measure/timing.h"

#include <math.h>

double clock_resolution(void)
{
    enum { READINGS = 1000 };
    double smallest = INFINITY, before = clock_now();
    for (int i = 0; i < READINGS || isinf(smallest); i++) {
        const double now = clock_now();
        smallest = now > before ? fmin(smallest, now - before) : smallest;
        before = now;
    }
    return smallest;
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
