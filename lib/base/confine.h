/* confine.h -- limits on a child process that runs a foreign library over a file that is not trusted, so that a damaged
 * or hostile file can harm no other process. All functions are called in the child. */
#ifndef ATOMO_CONFINE_H
#define ATOMO_CONFINE_H

#include "base/base.h"

enum { CONFINE_FD = 3 };

/* The `count` descriptors become CONFINE_FD, CONFINE_FD + 1, ...; no other one stays open. The library's stdout and stderr are
 * discarded. */
void confine_keep(const int *fd, size_t count);

/* Address space in use now, in bytes; 0: unknown. To be called before confine_files. */
uint64_t confine_space(void);

/* From now on the process dies with its parent and by its own faults, leaves no core, makes no file longer. */
void confine_start(void);

/* Allows `more` bytes beyond `used`, which confine_space returned; used = 0: no limit. */
void confine_memory(uint64_t used, uint64_t more);
void confine_seconds(uint64_t seconds); /* of processor time, from now */
void confine_files(void);               /* no further file can be opened */

#endif
