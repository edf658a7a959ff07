/* plot_sort.c -- rows of a figure in the order in which its lines are drawn. */
#include "plot/plot.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    double x;
    size_t line, row;
} Place;

static int compare(const void *left, const void *right)
{
    const Place *l = left, *r = right;
    if (l->line != r->line)
        return l->line < r->line ? -1 : 1;
    if (l->x != r->x)
        return l->x < r->x ? -1 : 1;
    return l->row < r->row ? -1 : 1;
}

static double number(const Value *v)
{
    return v->type == VALUE_INT ? (double)v->whole : v->real;
}

/* The line is the first row that has the same text; rows of one line mostly follow each other. */
static size_t line_of(const Value *rows, const Place *place, size_t row, size_t columns, size_t by)
{
    const char *text = rows[row * columns + by].text;
    if (row > 0 && !strcmp(rows[(row - 1) * columns + by].text, text))
        return place[row - 1].line;
    size_t first = 0;
    while (strcmp(rows[first * columns + by].text, text) != 0)
        first++;
    return first;
}

Status plot_sort(const PlotKind *kind, Value *rows, size_t count, size_t by, size_t x, Arena *a, Error *err)
{
    const size_t columns = plot_columns(kind);
    Place *place = NEW(a, Place, count);
    Value *old = NEW(a, Value, count * columns);
    if (!place || !old)
        return arena_fail(a, err);
    memcpy(old, rows, count * columns * sizeof *rows);
    for (size_t i = 0; i < count; i++)
        place[i] = (Place){number(&rows[i * columns + x]), line_of(rows, place, i, columns, by), i};
    qsort(place, count, sizeof *place, compare);
    for (size_t i = 0; i < count; i++)
        memcpy(rows + i * columns, old + place[i].row * columns, columns * sizeof *rows);
    return OK;
}
