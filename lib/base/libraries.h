/* libraries.h -- versions of the foreign libraries this program really runs on, as text: "1.10.8". What is
 * known about BLAS is in linalg.h. Each gives NULL when out of memory. */
#ifndef ATOMO_LIBRARIES_H
#define ATOMO_LIBRARIES_H

#include "base/arena.h"

char *library_hdf5(Arena *a);
char *library_fftw(Arena *a);
char *library_zstd(Arena *a);
char *library_blosc(Arena *a);

#endif
