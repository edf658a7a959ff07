/* timing.c -- measures the time of a call with the monotonic clock. */
#include "measure/timing.h"

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
