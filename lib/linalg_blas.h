/* linalg_blas.h -- what the linalg files share: sizes as BLAS wants them, and one thread. */
#ifndef ATOMO_LINALG_BLAS_H
#define ATOMO_LINALG_BLAS_H

#include "linalg.h"

#include <assert.h>
#include <cblas.h>
#include <limits.h>

static inline int blas_int(size_t n)
{
    assert(n <= INT_MAX);
    return (int)n;
}

/* Cheap once it is so. */
static inline void blas_one_thread(void)
{
    if (openblas_get_num_threads() != 1)
        openblas_set_num_threads(1);
}

#endif
