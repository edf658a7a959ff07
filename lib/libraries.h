/* libraries.h -- which foreign libraries this program really runs on. */
#ifndef ATOMO_LIBRARIES_H
#define ATOMO_LIBRARIES_H

#include "arena.h"

/* Versions as text, "0.3.21"; NULL: out of memory. */
char *library_hdf5(Arena *a);
char *library_openblas(Arena *a);
char *library_lapack(Arena *a);
char *library_fftw(Arena *a);

/* The set of kernels OpenBLAS chose for this CPU: "SkylakeX", "Zen", "Prescott". */
const char *library_blas_core(void);

/* The file that the dynamic linker took a function from ("sgemm_", "sgesdd_"); NULL: linked in or unknown. */
const char *library_file(const char *function);

#endif
