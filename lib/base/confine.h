/* confine.h -- limits on a child process that runs a foreign library over a file that is not trusted, so that a
 * damaged or hostile file can harm no other process. All functions are called in the child. */
#ifndef ATOMO_CONFINE_H
#define ATOMO_CONFINE_H

#include "base/base.h"

enum { CONFINE_FD = 3 };

/* Renumbers the `count` descriptors to CONFINE_FD, CONFINE_FD + 1, ... and closes all others. The library's stdout
 * and stderr are discarded. */
void confine_keep(const int *fd, size_t count);

/* Returns the bytes of address space in use; 0: unknown. Call it before confine_files. */
uint64_t confine_space(void);

/* From now on the process dies with its parent, dies of its own faults, dumps no core and extends no file. */
void confine_start(void);

/* Allows `more` bytes beyond `used`, which confine_space returned; used = 0: no limit. */
void confine_memory(uint64_t used, uint64_t more);
void confine_seconds(uint64_t seconds); /* of processor time, from now */
void confine_files(void);               /* no further file can be opened */

#endif
