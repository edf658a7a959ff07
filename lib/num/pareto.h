/* pareto.h -- the Pareto front of points, each with a size and an error. */
#ifndef ATOMO_PARETO_H
#define ATOMO_PARETO_H

#include "base/arena.h"

typedef struct {
    double size, error; /* less is better; a point with a NaN is on no front and is ignored */
    int kind;           /* only points of the same kind are compared */
    bool front;         /* set by pareto_mark */
} ParetoPoint;

/* Sets `front` of each point. A point is on the front of its kind unless another point of the kind is smaller without
 * having more error, or has less error without being larger. Of equal points, all are on the front or none is. Takes
 * O(n log n) time; the arena is rewound. */
Status pareto_mark(ParetoPoint *point, size_t count, Arena *a, Error *err);

#endif
