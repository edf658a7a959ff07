/* normal_table.h -- vectors of normal numbers, copied from one table: fuzz targets would spend most of their time drawing
 * them. */
#ifndef ATOMO_RIG_NORMAL_TABLE_H
#define ATOMO_RIG_NORMAL_TABLE_H

#include "base/rng.h"

#include <assert.h>
#include <string.h>

enum { NORMAL_TABLE = 1 << 17 };

/* Fills x (n <= NORMAL_TABLE) from the place in the table that the two numbers select. */
static inline void normal_table_take(float *x, size_t n, uint32_t a, uint32_t b)
{
    static float table[NORMAL_TABLE];
    if (table[0] == 0) {
        const Rng rng = rng_open(1, 0, 0, 0, 1);
        rng_normals(&rng, USE_TEST, 0, NORMAL_TABLE, 1, table);
    }
    assert(n <= NORMAL_TABLE);
    memcpy(x, table + rng_mix(a, b) % (NORMAL_TABLE - n + 1), n * sizeof *x);
}

#endif
