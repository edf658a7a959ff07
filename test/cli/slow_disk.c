/* slow_disk.c -- a library preloaded into commands whose output shall go to a slow disk: each piece of it takes 0.4 s. Each
 * call appends a byte to the file that the variable SLOW_DISK names. */
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int sync_file_range(int fd, off64_t from, off64_t size, unsigned flags)
{
    (void)fd, (void)from, (void)size;
    if (!(flags & SYNC_FILE_RANGE_WAIT_AFTER))
        return 0;
    const int calls = open(getenv("SLOW_DISK"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const int failed = write(calls, "s", 1) != 1;
    close(calls);
    struct timespec left = {.tv_nsec = 400000000};
    while (!failed && nanosleep(&left, &left)) /* a signal does not interrupt a disk */
        ;
    return failed ? -1 : 0;
}
