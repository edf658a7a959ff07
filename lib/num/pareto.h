/* pareto.h -- the Pareto front of points of size and error. */
#ifndef ATOMO_PARETO_H
#define ATOMO_PARETO_H

#include "base/arena.h"

typedef struct {
    double size, error; /* less is better; a point with a NaN is on no front and is ignored */
    int kind;           /* points of one kind compete among themselves */
    bool front;         /* set by pareto_mark */
} ParetoPoint;

/* Sets `front` of each point. A point is on the front of its kind unless another of that kind is smaller without more
 * error, or has less error without being larger. Equal points are both on it or both not. O(n log n); the arena is
 * rewound. */
Status pareto_mark(ParetoPoint *point, size_t count, Arena *a, Error *err);

#endif
