/* pareto.c -- see pareto.h. Quadratic: points are codecs, of which there are tens. */
#include "pareto.h"

#include <math.h>

static bool beats(const ParetoPoint *p, const ParetoPoint *q)
{
    const bool no_worse = p->size <= q->size && p->error <= q->error;
    return p->kind == q->kind && no_worse && (p->size < q->size || p->error < q->error);
}

void pareto_mark(ParetoPoint *point, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        point[i].front = !isnan(point[i].size) && !isnan(point[i].error);
        for (size_t j = 0; j < count && point[i].front; j++)
            point[i].front = !beats(&point[j], &point[i]);
    }
}
