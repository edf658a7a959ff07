/* confine.h -- limits a child process that opens an untrusted file with a foreign library, so that a damaged or
 * hostile file can harm no other process. All functions are called in the child. */
#ifndef ATOMO_CONFINE_H
#define ATOMO_CONFINE_H

#include "base/base.h"

enum { CONFINE_FD = 3, CONFINE_NO_FILES = 3 /* an exit code */ };

/* Renumbers the `count` descriptors to CONFINE_FD, CONFINE_FD + 1, ..., closes all other descriptors, and discards
 * what the library writes to stdout and stderr. Exits with CONFINE_NO_FILES where the limit on open files leaves no
 * room. */
void confine_keep(const int *fd, size_t count);

/* Returns the bytes of address space in use; 0: unknown. Call it before confine_files. */
uint64_t confine_space(void);

/* From now on the process is killed when its parent ends or when it crashes, writes no core file and cannot extend
 * files. */
void confine_start(void);

/* Limits address space to `more` bytes beyond `used`, the result of confine_space; used = 0: no limit. */
void confine_memory(uint64_t used, uint64_t more);
void confine_seconds(uint64_t seconds); /* limits processor time from now on */
void confine_files(void);               /* from now on no file can be opened */

#endif
