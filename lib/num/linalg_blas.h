/* linalg_blas.h -- what the linalg files share: sizes as BLAS wants them, one thread, panels of doubles. */
#ifndef ATOMO_LINALG_BLAS_H
#define ATOMO_LINALG_BLAS_H

#include "num/linalg.h"

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

static inline Status lapack_failed(const char *routine, int info, Error *err)
{
    return FAIL(err, ERR_NUMERIC, "%s: no convergence (info %d)", routine, info);
}

/* All work arrays are asked for in one way: a first call with size -1 tells the size. */
static inline double *work_of(double told, int *size, Arena *a)
{
    *size = (int)told;
    return NEW(a, double, (size_t)*size);
}

/* Some rows of A in double, as A is stored: (rows, cols), or (cols, rows) when turned. */
typedef struct {
    const Tall *a;
    size_t from, rows, step; /* step: rows of every panel but the last, from the shape alone */
    double *x;
} Panel;

Status panel_open(Panel *p, const Tall *a, Arena *scratch, Error *err);
void panel_load(Panel *p, size_t from);

#endif
