/* pareto.h -- the Pareto front of points, each with a size and an error, which may be uncertain. */
#ifndef ATOMO_PARETO_H
#define ATOMO_PARETO_H

#include "base/base.h"

typedef struct {
    double size, error; /* less is better; a point with a NaN is on no front and is ignored */
    int kind;           /* only points of the same kind are compared */
    bool front;         /* set by pareto_mark */
    /* half the width of an interval around the size and around the error; 0: the number is exact */
    double size_margin, error_margin;
} ParetoPoint;

/* Sets `front` of each point. A point is on the front of its kind unless another point of the kind is smaller without
 * having more error, or has less error without being larger. Two numbers of which one is uncertain differ if they are
 * further apart than the root of their squared margins, else it is unknown which is less, and then neither of the points
 * takes the other off the front. Of equal points, all are on the front or none is. Takes O(n^2) time. */
void pareto_mark(ParetoPoint *point, size_t count);

#endif
