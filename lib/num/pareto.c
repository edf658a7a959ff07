/* pareto.c -- see pareto.h. */
#include "num/pareto.h"

#include <math.h>

/* How a number compares with another. */
typedef enum { LESS, EQUAL, MORE, UNCLEAR } Sign;

static Sign compare(double x, double x_margin, double y, double y_margin)
{
    const double margin = hypot(x_margin, y_margin);
    if (x == y)
        return margin > 0 ? UNCLEAR : EQUAL;
    if (fabs(x - y) <= margin)
        return UNCLEAR;
    return x < y ? LESS : MORE;
}

/* True when p takes q off the front. */
static bool beats(const ParetoPoint *p, const ParetoPoint *q)
{
    const Sign size = compare(p->size, p->size_margin, q->size, q->size_margin),
               error = compare(p->error, p->error_margin, q->error, q->error_margin);
    return p->kind == q->kind && ((size == LESS && error == LESS) || (size == LESS && error == EQUAL) ||
                                  (size == EQUAL && error == LESS));
}

void pareto_mark(ParetoPoint *point, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ParetoPoint *p = &point[i];
        p->front = !isnan(p->size) && !isnan(p->error);
        for (size_t k = 0; k < count && p->front; k++)
            p->front = !beats(&point[k], p);
    }
}
