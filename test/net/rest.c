/* rest.c -- a library preloaded into ranks that share a few cores. Open MPI calls sched_yield again and again while it
 * waits; here the process sleeps instead, so that the ranks which work have the cores. */
#include <sched.h>
#include <time.h>

int sched_yield(void)
{
    return nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
}
