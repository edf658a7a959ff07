/* pareto.h -- the Pareto front of points, each with a size and an error, which may be uncertain. */
#ifndef ATOMO_PARETO_H
#define ATOMO_PARETO_H

#include "base/base.h"

typedef struct {
    double size, error; /* less is better; a point with a NaN is on no front and is ignored */
    int kind;           /* only points of the same kind are compared */
    bool front;         /* set by pareto_mark */
    bool certain; /* set by pareto_mark: `front` is the same for all true values that the margins allow */
    /* uncertainty: the true size is in size +- size_margin, the true error in error +- error_margin; 0: exact */
    double size_margin, error_margin;
} ParetoPoint;

/* Sets `front` and `certain` of each point. A point of the same kind removes it from the front if it is
 * smaller and does not have more error, or has less error and is not larger. Two numbers differ if they are
 * further apart than the root of the sum of their squared margins. If an uncertain number does not differ
 * from another, it is unknown which is less; then neither point removes the other. Equal points are all on
 * the front, or none is. A point on the front is not certain if its comparison with another point of its
 * kind leaves open whether that point removes it. Takes O(n^2) time. */
void pareto_mark(ParetoPoint *point, size_t count);

#endif
