/* host.h -- the machine's CPU, clock and operating system, and the versions of the loaded libraries. */
#ifndef ATOMO_HOST_H
#define ATOMO_HOST_H

#include "base/arena.h"

/* Searches a small text file for the first line of the form "KEY<blanks>SEPARATOR VALUE". Returns VALUE without
 * quotes. Returns NULL if no line has this form. */
char *host_value(const char *path, const char *key, const char *separator, Arena *a);

/* Returns the bytes of memory that this process can have at most: the least of this machine's memory and the limits
 * (memory.max) of its control group and of the groups that contain it; 2 GiB if unknown. */
uint64_t host_memory(void);
double clock_now(void);   /* returns seconds since an arbitrary fixed moment */
char *host_cpu(Arena *a); /* returns the CPU's model; NULL: unknown */
char *host_os(Arena *a);  /* returns distribution, kernel and architecture; NULL: unknown */

/* Returns the version of the library called library_names[i], such as "3.3.10", or "none" if it is not in this build;
 * NULL: out of memory. linalg_blas_info returns the version of BLAS, hdf5_version that of HDF5. */
extern const char *const library_names[]; /* ends in NULL */
char *library_version(size_t i, Arena *a);

#endif
