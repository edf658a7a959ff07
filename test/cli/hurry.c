/* hurry.c -- a library preloaded into a program whose progress bar is tested: the monotonic clock runs thirty times as
 * fast from its first reading on, so that work of some hundredths of a second lasts longer than the bar's patience. */
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int64_t first;
    const int code = (int)syscall(SYS_clock_gettime, clock, t);
    if (code == 0 && clock == CLOCK_MONOTONIC) {
        const int64_t now = 1000000000 * (int64_t)t->tv_sec + t->tv_nsec;
        first = first ? first : now;
        const int64_t shown = first + 30 * (now - first);
        t->tv_sec = (time_t)(shown / 1000000000);
        t->tv_nsec = (long)(shown % 1000000000);
    }
    return code;
}
