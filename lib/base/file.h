/* file.h -- reads a whole file into memory. Error messages do not name the file: callers put its path in front
 * (error_at). */
#ifndef ATOMO_FILE_H
#define ATOMO_FILE_H

#include "base/arena.h"

/* Reads the file's bytes into the arena and puts a NUL behind them; pipes are read to their end. ERR_IO when the file
 * cannot be opened or read, ERR_CORRUPT when it has more than `most` bytes. */
Status file_load(char **data, size_t *size, const char *path, size_t most, Arena *a, Error *err);

/* Like file_load, for an open file, which is read from its present position on. */
Status file_read(char **data, size_t *size, int fd, size_t most, Arena *a, Error *err);

#endif
