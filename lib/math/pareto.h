/* pareto.h -- the Pareto front of points, each with a size and an error, which may be uncertain. */
#ifndef ATOMO_PARETO_H
#define ATOMO_PARETO_H

#include "base/base.h"

typedef struct {
    double size, error; /* less is better; a point with a NaN is on no front and is ignored */
    int kind;           /* only points of the same kind are compared */
    bool front;         /* set by pareto_mark */
    bool certain; /* set by pareto_mark: `front` does not depend on a comparison with an uncertain result */
    /* uncertainty: the true size is in size +- size_margin, the true error in error +- error_margin; 0:
     * exact */
    double size_margin, error_margin;
} ParetoPoint;

/* Sets `front` and `certain` of each point, in O(n^2) time. A point removes another of its kind from the
 * front if one of its two numbers is less and the other is not more. Uncertain numbers that differ by at most
 * the root of the sum of their squared margins could have either order. Then neither point removes the other,
 * and a point on the front that might be removed is not certain. */
void pareto_mark(ParetoPoint *point, size_t count);

#endif
