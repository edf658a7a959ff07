/* host.h -- this machine and what the kernel says about it. */
#ifndef ATOMO_HOST_H
#define ATOMO_HOST_H

#include "base/arena.h"

/* The value of the first line "KEY<blanks>SEPARATOR VALUE" of a small text file, without quotes; NULL: none. */
char *host_value(const char *path, const char *key, const char *separator, Arena *a);

char *host_cpu(Arena *a); /* the CPU's model; NULL: unknown */
char *host_os(Arena *a);  /* distribution, kernel, architecture; NULL: unknown */

#endif
