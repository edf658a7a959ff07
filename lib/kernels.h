/* kernels.h -- the hot loops, each compiled for several instruction sets that give the same bytes.
 *
 * The sources stand in lib/vec/; the Makefile compiles them once per instruction set and each compilation fills one
 * table. kernels() gives the best table this CPU can run. Sums are taken in 16 fixed lanes that end in a fixed
 * tree, so they do not depend on the vector width. */
#ifndef ATOMO_KERNELS_H
#define ATOMO_KERNELS_H

#include "base.h"
#include "rng.h"

typedef enum { ISA_BASE, ISA_AVX2, ISA_AVX512, ISA_COUNT } Isa;

typedef struct {
    const char *name; /* "avx512" */

    /* Sum of x_i^2, exact products added in double. */
    double (*sum_squares)(const float *x, size_t n);
} Kernels;

const Kernels *kernels(void);
const Kernels *kernels_of(Isa isa); /* NULL: not in this build, or not on this CPU; for tests */

#endif
