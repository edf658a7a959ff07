/* host.h -- the machine's CPU and operating system, and the versions of the loaded libraries. */
#ifndef ATOMO_HOST_H
#define ATOMO_HOST_H

#include "base/arena.h"

/* Searches a small text file for the first line of the form "KEY<blanks>SEPARATOR VALUE". Returns VALUE without
 * quotes. Returns NULL if no line has this form. */
char *host_value(const char *path, const char *key, const char *separator, Arena *a);

uint64_t host_memory(void); /* returns the bytes of this machine's memory; 2 GiB if unknown */

/* How many more bytes of memory this process can take (UINT64_MAX: unknown), and the name of the limit that
 * decides. It is the smallest of three: the bytes left under the limit on address space, the bytes left under
 * the memory limits of the control groups, and the machine's available memory plus free swap space. */
typedef struct {
    uint64_t bytes;
    const char *by;
} HostRoom;
HostRoom host_room(void);
/* Returns the same from the files in `root`/proc and `root`/sys; tests pass a folder of their own. */
HostRoom host_room_under(const char *root);

/* Adds a hint to an error about too little memory or too many open files, processes or bytes in a file. The
 * hint names the limits (ulimit -v, -d, -n, -u and -f) that are set and may be the reason; a hint that the error has follows
 * it. Does nothing if no limit is set, if the hint names one, or if it is about memory and has a hint. */
void host_limit_hint(Error *err);

char *host_cpu(Arena *a); /* returns the CPU's model; NULL: unknown */
char *host_os(Arena *a);  /* returns distribution, kernel and architecture; NULL: unknown */

/* Return the version of a library, such as "3.3.10"; NULL: out of memory. linalg_blas_info returns the version
 * of BLAS, hdf5_version that of HDF5. */
char *library_fftw(Arena *a);
char *library_zstd(Arena *a);
char *library_blosc(Arena *a);
/* "none" if the library is not in this build */
char *library_zfp(Arena *a);
char *library_fpzip(Arena *a);

#endif
