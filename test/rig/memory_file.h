/* memory_file.h -- puts the input of a fuzz target into a file in memory, for functions that read a path. */
#ifndef ATOMO_MEMORY_FILE_H
#define ATOMO_MEMORY_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY_PATH = 32 };

/* Returns the descriptor of a new file with these bytes, which the caller closes. Sets `path` to its path. */
static inline int memory_file(const uint8_t *data, size_t size, char path[MEMORY_PATH])
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, MEMORY_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
