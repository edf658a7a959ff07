/* library_rig.h -- checks of the results of the public interface atomo.h, and the tensor that the tests use. */
#ifndef ATOMO_LIBRARY_RIG_H
#define ATOMO_LIBRARY_RIG_H

#include "atomo.h"
#include "base/rng.h"
#include "rig/check.h"

enum { ROWS = 40, COLS = 30, N = ROWS * COLS };

static inline void good(atomo_status status, const atomo_error *err)
{
    if (status != ATOMO_OK)
        print_error("%s\n", err->text);
    check(status == ATOMO_OK);
}

static inline void refused(atomo_status status, atomo_status want, const atomo_error *err, const char *text)
{
    if (status != want || !strstr(err->text, text))
        print_error("got %d \"%s\", want %d \"%s\"\n", (int)status, err->text, (int)want, text);
    check(status == want && strstr(err->text, text));
}

static inline void draw(float *x, int worker, int64_t step)
{
    const Rng rng = rng_open(8, 0, worker, step, 0);
    rng_normals(&rng, USE_TEST, 0, N, 1, x);
}

#endif
