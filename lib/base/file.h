/* file.h -- reads a whole file into memory. Error messages do not name the file; callers
 * add its path (error_at). */
#ifndef ATOMO_FILE_H
#define ATOMO_FILE_H

#include "base/arena.h"

#include <stdio.h>

/* Reads the file's bytes into the arena and appends a NUL. Pipes are read to their end, but no more than
 * 1 GiB, and of devices no more than 1 MiB. ERR_IO: the file cannot
 * be opened or read. ERR_CORRUPT: it has more than `most` bytes. ERR_STOPPED: file_stopped returned true. */
Status file_load(char **data, size_t *size, const char *path, size_t most, Arena *a, Error *err);

/* Reads the rest of an open file into the arena, from its current position, with the errors of file_load. */
Status file_read(char **data, size_t *size, int fd, size_t most, Arena *a, Error *err);

/* Opens a file as open(path, flags) does, to read it or to write it in place. To write a named pipe, waits for its reader,
 * until file_stopped. Returns -1 with errno set; EINTR: stopped. */
int file_open_pipe(const char *path, int flags);

/* Asked while a pipe has no other end or no bytes, and between pieces of a file: true ends the wait or the reading, which
 * fails with ERR_STOPPED. NULL: nothing ends it. It belongs to the process, as the handlers of its signals do; the programs set it. */
extern bool (*file_stopped)(void);

/* Returns true if both paths lead to the same file or folder, which exists. */
bool file_same(const char *path, const char *other);

#endif
