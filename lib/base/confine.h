/* confine.h -- restricts a child process that opens an untrusted file with a foreign library. A hostile file
 * may take control of the child, but it cannot harm other processes. The child calls all functions here, except
 * those that say otherwise. */
#ifndef ATOMO_CONFINE_H
#define ATOMO_CONFINE_H

#include "base/base.h"

#include <sys/types.h>

enum { CONFINE_FD = 3, CONFINE_NO_FILES = 3 /* exit code if confine_begin fails */ };

/* Renumbers the `count` file descriptors to CONFINE_FD, CONFINE_FD + 1, ... and closes all other descriptors
 * except stdin, stdout and stderr, which become /dev/null. Exits with status CONFINE_NO_FILES if this fails,
 * for example because the limit on open files is too low for the new numbers. From now on the process heeds none of its
 * parent's signal handlers, writes no core file if it crashes, and cannot make files longer. It outlives the thread that
 * made it; it ends by itself, as when its socket has no other end. */
void confine_begin(const int *fd, size_t count);

/* Limits, from now on, the growth of the address space to so many bytes and processor time to so many seconds. At most one
 * further file can be open at once. */
void confine_limit(uint64_t bytes, uint64_t seconds);

/* From now on all system calls fail with EPERM, except those that read open files, exchange messages, use
 * memory, wait, get the time or random bytes, or end the process. If `opens` is true, files can still be
 * opened for reading. A second call with `opens` = false forbids opening, too. Returns false if the operating
 * system cannot filter system calls (seccomp). */
bool confine_calls(bool opens);
/* Returns whether confine_calls works on this system. Any process may call this. */
bool confine_can_filter(void);

/* The parent process calls the next two functions to set limits on its child. After confine_calls, the child
 * itself cannot change its limits. */
uint64_t confine_space(void); /* returns how many bytes of address space this process uses; 0: unknown */
/* Limits the child's address space to `most` bytes, which the child cannot raise (0: no limit), and its processor time from now
 * on. */
void confine_child(pid_t child, uint64_t most, uint64_t seconds);

#endif
