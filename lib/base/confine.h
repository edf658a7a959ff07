/* confine.h -- limits on a child process that runs a foreign library over a stranger's file, so that whatever a damaged or
 * hostile file makes the library do ends there. All of it is called in the child. */
#ifndef ATOMO_CONFINE_H
#define ATOMO_CONFINE_H

#include "base/base.h"

enum { CONFINE_FD = 3 };

/* The `count` descriptors become CONFINE_FD, CONFINE_FD + 1, ...; nothing else stays open, and the library's cries go
 * nowhere. */
void confine_keep(const int *fd, size_t count);

/* Address space in bytes, now; 0: unknown. Asked before files can no longer be opened. */
uint64_t confine_space(void);

/* Dies with its parent and by its own faults, leaves no core, makes no file longer. */
void confine_start(void);

/* `used` is what confine_space said; 0: no limit. */
void confine_memory(uint64_t used, uint64_t more);
void confine_seconds(uint64_t seconds); /* of processor time, from now */
void confine_files(void);               /* no further one is opened */

#endif
