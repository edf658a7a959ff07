/* die.c -- a library preloaded into a program: SIGKILL comes when the program has written DIE_AFTER lines to FILE.part. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int fd, const void *data, size_t size)
{
    static int lines;
    char link[40], path[4096];
    const ssize_t done = syscall(SYS_write, fd, data, size);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    const char *after = getenv("DIE_AFTER");
    if (length > 5 && !memcmp(path + length - 5, ".part", 5) && after && ++lines == atoi(after))
        raise(SIGKILL);
    return done;
}
