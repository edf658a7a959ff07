/* rest.c -- a library preloaded into ranks that share a few cores. Open MPI calls sched_yield again and again while it
 * waits; here the process sleeps instead, for REST_US microseconds (300), so that the ranks which work have the cores.
 * With long sleeps a run of few steps lasts long enough to be disturbed. */
#include <sched.h>
#include <stdlib.h>
#include <time.h>

int sched_yield(void)
{
    static long us;
    if (!us)
        us = getenv("REST_US") ? atol(getenv("REST_US")) : 300;
    return nanosleep(&(struct timespec){.tv_nsec = 1000 * us}, NULL);
}
