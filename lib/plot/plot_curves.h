/* plot_curves.h -- finds the curves in a result of `inspect`, for figures with one curve per tensor. The rows
 * of a curve are consecutive.
 *
 * If the result has several steps or workers, a tensor has one curve for each of them. The rows do not say to
 * which step or worker a curve belongs. If there are at most NAMED_MAX tensors, the figure names all of them. If
 * there are more, it names only two curves: the one with the least trait and the one with the largest. A trait is
 * a number by which the curves of a figure are ordered. */
#ifndef ATOMO_PLOT_CURVES_H
#define ATOMO_PLOT_CURVES_H

#include "base/csv.h"

enum { NAMED_MAX = 8, DRAWN_MAX = 150, CURVE_COLUMNS = 4 };

typedef struct {
    const char *tensor, *name; /* the tensor's path in the data; its name for gnuplot */
    size_t row, rows;          /* first row and number of rows in the data */
    double trait;
    double n, mean, std; /* number, mean and standard deviation of the tensor's elements, by its histogram */
    bool drawn;
    /* "named": one of at most NAMED_MAX tensors, so the figure names it. If there are more tensors: "least" or
     * "most" for the curve with the least or the largest trait, which the figure names; "other": not named. */
    const char *role;
} Curve;

typedef struct {
    Curve *curve;
    size_t count, tensors;
    double *column[CURVE_COLUMNS]; /* the columns of the data that CurveKind.column names */
} Curves;

/* The columns of one type of figure, and the functions that check its curves. */
typedef struct {
    const char *const *column;                    /* names of up to CURVE_COLUMNS columns; ends in NULL */
    bool (*follows)(const Curves *c, size_t row); /* true: the row belongs to the curve of the row before */

    /* Refuses values that `inspect` cannot have written. Sets the curve's trait, the number by which curves are
     * ordered; NaN: the curve is not drawn. */
    Status (*check)(const Curves *all, Curve *c, Error *err);
    const char *none;                /* the message if no curve can be drawn */
    bool (*typical)(const Curve *c); /* false: the curve is not drawn, unless this is false for all curves */
} CurveKind;

/* Finds the curves and chooses those to draw: all curves with a name, and at most DRAWN_MAX others, evenly
 * spaced in the order of traits. Ignores rows without a number in the last column. Also ignores the rows of a
 * FIGURE.plot.csv that describe the band of quartiles. */
Status curves_find(Curves *out, const Csv *data, const CurveKind *kind, Arena *a, Error *err);

/* quartiles_of sorts v in place, and returns the quartiles of its numbers. */
typedef struct {
    double low, middle, high;
} Quartiles;
Quartiles quartiles_of(double *v, size_t count);

static inline bool curves_are_many(const Curves *c)
{
    return c->tensors > NAMED_MAX;
}

#endif
