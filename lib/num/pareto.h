/* pareto.h -- which points of size and error nobody beats. */
#ifndef ATOMO_PARETO_H
#define ATOMO_PARETO_H

#include "base/arena.h"

typedef struct {
    double size, error; /* the less, the better; either NaN: on no front, and in nobody's way */
    int kind;           /* points of one kind compete among themselves */
    bool front;         /* set by pareto_mark */
} ParetoPoint;

/* On the front of its kind: nobody is smaller without more error, nor has less error without being larger. Equal
 * points share their fate. O(n log n); the arena is as it was afterwards. */
Status pareto_mark(ParetoPoint *point, size_t count, Arena *a, Error *err);

#endif
