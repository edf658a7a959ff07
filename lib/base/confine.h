/* confine.h -- limits a child process that opens an untrusted file with a foreign library, so that a damaged or
 * hostile file can harm no other process. All functions are called in the child. */
#ifndef ATOMO_CONFINE_H
#define ATOMO_CONFINE_H

#include "base/base.h"

#include <sys/types.h>

enum { CONFINE_FD = 3, CONFINE_NO_FILES = 3 /* an exit code */ };

/* Renumbers the `count` descriptors to CONFINE_FD, CONFINE_FD + 1, ..., closes all other descriptors, and discards
 * what the library writes to stdout and stderr. Exits with status CONFINE_NO_FILES when the limit on open files is
 * too low to renumber the descriptors. */
void confine_keep(const int *fd, size_t count);

/* Returns the bytes of address space that the process uses; 0: unknown. Call it before confine_files. */
uint64_t confine_space(void);

/* From now on the process is killed when its parent ends or when it crashes, writes no core file and cannot extend
 * files. */
void confine_start(void);

/* Limits address space to `more` bytes beyond `used`, the result of confine_space; used = 0: no limit. */
void confine_memory(uint64_t used, uint64_t more);
void confine_seconds(uint64_t seconds); /* limits processor time from now on */
void confine_files(unsigned more);      /* from now on at most `more` further files can be open at once */

/* From now on all system calls fail with EPERM except the calls needed to read open files, to use memory and to
 * exchange messages; with `opens`, files can still be opened for reading. A second call without `opens` forbids
 * opening, too. Returns false when the operating system cannot filter system calls (seccomp). */
bool confine_calls(bool opens);
/* true when confine_calls works on this system; may be called in any process */
bool confine_can_filter(void);

/* Called by the parent process: limits the memory of the child process, which cannot change its limits once
 * confine_calls filters its calls. */
void confine_child_memory(pid_t child, uint64_t used,
                          uint64_t more);                  /* the child cannot raise the limit again */
void confine_child_seconds(pid_t child, uint64_t seconds); /* limits processor time from now on */

#endif
