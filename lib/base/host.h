/* host.h -- this machine as the kernel describes it, and the versions of the libraries that are loaded. */
#ifndef ATOMO_HOST_H
#define ATOMO_HOST_H

#include "base/arena.h"

/* The value in the first line "KEY<blanks>SEPARATOR VALUE" of a small text file, without quotes; NULL: no such
 * line. */
char *host_value(const char *path, const char *key, const char *separator, Arena *a);

char *host_cpu(Arena *a); /* the CPU's model; NULL: unknown */
char *host_os(Arena *a);  /* distribution, kernel, architecture; NULL: unknown */

/* "1.10.8"; NULL: out of memory. What is known about BLAS is in linalg.h. */
char *library_hdf5(Arena *a);
char *library_fftw(Arena *a);
char *library_zstd(Arena *a);
char *library_blosc(Arena *a);

#endif
