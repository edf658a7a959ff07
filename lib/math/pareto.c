/* pareto.c -- finds which points (size, error) are on the Pareto front. */
#include "math/pareto.h"

#include <math.h>
#include <stdlib.h>

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

static int by_kind_and_size(const void *left, const void *right)
{
    const ParetoPoint *p = *(ParetoPoint *const *)left, *q = *(ParetoPoint *const *)right;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    if (p->size != q->size)
        return p->size < q->size ? -1 : 1;
    return (p->error > q->error) - (p->error < q->error);
}

Status pareto_mark_exact(ParetoPoint *point, size_t count, Arena *a, Error *err)
{
    ParetoPoint **order = NEW(a, ParetoPoint *, count);
    TRY(arena_check(order, a, err));
    size_t numbers = 0;
    for (size_t i = 0; i < count; i++) {
        point[i].front = false;
        point[i].certain = true;
        if (!isnan(point[i].size) && !isnan(point[i].error))
            order[numbers++] = &point[i];
    }
    qsort(order, numbers, sizeof *order, by_kind_and_size);
    const ParetoPoint *last = NULL; /* the last point on the front: the least error so far of the kind */
    for (size_t i = 0; i < numbers; i++) {
        ParetoPoint *p = order[i];
        const bool same = last && last->size == p->size && last->error == p->error;
        p->front = !last || last->kind != p->kind || p->error < last->error || same;
        last = p->front ? p : last;
    }
    return OK;
}
