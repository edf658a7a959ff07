/* hurry.c -- a library preloaded into a program whose progress bar is tested: each reading of the monotonic clock is a fiftieth of a
 * second later than it was, so that work of a few readings lasts longer than the bar's patience on every machine. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static atomic_long readings;
    const int code = (int)syscall(SYS_clock_gettime, clock, t);
    if (code == 0 && clock == CLOCK_MONOTONIC) {
        const long n = atomic_fetch_add(&readings, 1);
        t->tv_sec += n / 50;
        t->tv_nsec += n % 50 * 20000000;
        t->tv_sec += t->tv_nsec / 1000000000;
        t->tv_nsec %= 1000000000;
    }
    return code;
}
