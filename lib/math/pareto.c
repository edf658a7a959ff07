/* pareto.c -- finds which points (size, error) are on the Pareto front. */
#include "math/pareto.h"

#include <math.h>

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

typedef enum { NEVER, PERHAPS, SURELY } Beats;

static Beats beats(const ParetoPoint *p, const ParetoPoint *q)
{
    if (p->kind != q->kind || isnan(p->size) || isnan(p->error))
        return NEVER;
    const Sign size = compare(p->size, p->size_margin, q->size, q->size_margin),
               error = compare(p->error, p->error_margin, q->error, q->error_margin);
    if (size == MORE || error == MORE || (size == EQUAL && error == EQUAL))
        return NEVER;
    return size == UNCLEAR || error == UNCLEAR ? PERHAPS : SURELY;
}

void pareto_mark(ParetoPoint *point, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ParetoPoint *p = &point[i];
        Beats most = isnan(p->size) || isnan(p->error) ? SURELY : NEVER;
        for (size_t k = 0; k < count && most < SURELY; k++) {
            const Beats by = k == i ? NEVER : beats(&point[k], p);
            most = by > most ? by : most;
        }
        p->front = most < SURELY;
        p->certain = most != PERHAPS;
    }
}
