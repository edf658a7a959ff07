/* pareto.c -- see pareto.h. When points are sorted by size, a point is on the front when its error is less than the
 * errors of all points before it. */
#include "num/pareto.h"

#include <math.h>
#include <stdlib.h>

static int order(double x, double y)
{
    return (x > y) - (x < y);
}

/* Compares two points by kind, then by size, then by error, for qsort. */
static int by_place(const void *x, const void *y)
{
    const ParetoPoint *p = *(ParetoPoint *const *)x, *q = *(ParetoPoint *const *)y;
    const int kind = (p->kind > q->kind) - (p->kind < q->kind), size = order(p->size, q->size);
    return kind ? kind : size ? size : order(p->error, q->error);
}

/* Marks the front in points sorted by kind, then size, then error. `best` is the last point on the front so far;
 * no earlier point of the same kind has less error. */
static void mark_sorted(ParetoPoint **point, size_t count)
{
    const ParetoPoint *best = NULL;
    for (size_t i = 0; i < count; i++) {
        ParetoPoint *p = point[i];
        const bool first = !best || p->kind != best->kind;
        p->front = first || p->error < best->error || (p->error == best->error && p->size == best->size);
        if (p->front)
            best = p;
    }
}

Status pareto_mark(ParetoPoint *point, size_t count, Arena *a, Error *err)
{
    const ArenaMark mark = arena_mark(a);
    ParetoPoint **sorted = NEW(a, ParetoPoint *, count + 1);
    size_t known = 0;
    TRY(arena_check(sorted, a, err));
    for (size_t i = 0; i < count; i++) {
        point[i].front = false;
        if (!isnan(point[i].size) && !isnan(point[i].error))
            sorted[known++] = &point[i];
    }
    qsort(sorted, known, sizeof(ParetoPoint *), by_place);
    mark_sorted(sorted, known);
    arena_rewind(a, mark);
    return OK;
}
