/* parts.h -- puts a vector that is handed on part by part together again. */
#ifndef ATOMO_TEST_PARTS_H
#define ATOMO_TEST_PARTS_H

#include "rig/check.h"

typedef struct {
    float *x;
    size_t next; /* the element with which the next part must begin */
} Parts;

static inline void put_part(void *data, size_t at, const float *x, size_t n)
{
    Parts *p = data;
    check(at == p->next && n > 0);
    memcpy(p->x + at, x, n * sizeof *x);
    p->next = at + n;
}

#endif
