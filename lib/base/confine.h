/* confine.h -- restricts a child process that opens an untrusted file with a foreign library. A hostile file
 * may take control of the child, but it cannot harm other processes. The child calls all functions here, except
 * those that say otherwise. */
#ifndef ATOMO_CONFINE_H
#define ATOMO_CONFINE_H

#include "base/base.h"

#include <sys/types.h>

enum { CONFINE_FD = 3, CONFINE_NO_FILES = 3 /* exit code if confine_keep fails */ };

/* Renumbers the `count` file descriptors to CONFINE_FD, CONFINE_FD + 1, ... and closes all other descriptors
 * except stdin, stdout and stderr, which become /dev/null. Exits with status CONFINE_NO_FILES if this fails,
 * for example because the limit on open files is too low for the new numbers. */
void confine_keep(const int *fd, size_t count);

/* Returns how many bytes of address space the process uses; 0: unknown. Call this before confine_files. */
uint64_t confine_space(void);

/* From now on the process heeds none of its parent's signal handlers, writes no core file if it crashes, and cannot
 * make files longer. It outlives the thread that made it; it ends by itself, as when its socket has no other end. */
void confine_start(void);

/* Limits address space to `used` + `more` bytes, where `used` is the result of confine_space; no limit if
 * `used` is 0. */
void confine_memory(uint64_t used, uint64_t more);
void confine_seconds(uint64_t seconds); /* limits processor time from now on */
void confine_files(unsigned more);      /* from now on at most `more` further files can be open at once */

/* From now on all system calls fail with EPERM, except those that read open files, exchange messages, use
 * memory, wait, get the time or random bytes, or end the process. If `opens` is true, files can still be
 * opened for reading. A second call with `opens` = false forbids opening, too. Returns false if the operating
 * system cannot filter system calls (seccomp). */
bool confine_calls(bool opens);
/* Returns whether confine_calls works on this system. Any process may call this. */
bool confine_can_filter(void);

/* The parent process calls the next two functions to set limits on its child. After confine_calls, the child
 * itself cannot change its limits. */
void confine_child_memory(pid_t child, uint64_t used,
                          uint64_t more);                  /* the child cannot raise the limit again */
void confine_child_seconds(pid_t child, uint64_t seconds); /* limits processor time from now on */

#endif
