/* plot_curves.h -- finds the curves in a result of `inspect`, for figures with one curve per tensor. The rows
 * of a curve are consecutive. A tensor has one curve for each step and worker.
 *
 * The figure names all tensors if there are at most NAMED_MAX. Otherwise it names only the curves with the
 * least and the greatest trait, a number by which the curves of a kind of figure are ordered. */
#ifndef ATOMO_PLOT_CURVES_H
#define ATOMO_PLOT_CURVES_H

#include "base/csv.h"
#include "report/plot_figure.h"

enum { NAMED_MAX = 8, DRAWN_MAX = 150, CURVE_COLUMNS = 4 };

typedef struct {
    const char *tensor; /* its path in the data */
    const char *cell;          /* the step and worker, as in "step 200 worker 3"; "": unknown */
    size_t row, rows;          /* first row and number of rows in the data */
    double trait;
    double n, mean, std; /* number, mean and standard deviation of the tensor's elements, by its histogram */
    bool drawn;
    bool least, most; /* the extremes of over NAMED_MAX tensors, which alone are named */
} Curve;

typedef struct {
    Curve *curve;
    size_t count, tensors;
    double *column[CURVE_COLUMNS]; /* the columns of the data that CurveKind.column names */
} Curves;

/* What one kind of figure reads, and how it checks its curves. */
typedef struct {
    /* names of up to CURVE_COLUMNS columns; ends in NULL. The last has the curve's height. */
    const char *const *column;
    bool (*follows)(const Curves *c, size_t row); /* true: the row continues the curve of the previous row */

    /* Refuses values that `inspect` cannot have written. Sets `trait`; NaN: the curve is not drawn. */
    Status (*check)(const Curves *all, Curve *c, Error *err);
    const char *none;                             /* the message if no curve can be drawn */
    bool (*typical)(const Curve *c);              /* if false, drawn only if false for all curves */
    void (*prepare)(const Curves *all, Curve *c); /* changes a curve before it is drawn; NULL: no change */

    /* The point of a row. `alone`: the figure has one tensor only. */
    PlotPoint (*point)(const Curves *all, const Curve *c, size_t row, bool alone);
    /* Adds the points of the band of quartiles, for a figure of many curves; false: out of memory. `room`: for a number of each
     * curve. */
    bool (*band)(PlotLine *line, const Curves *all, double *room, Arena *a);
    const char *least, *most; /* "steepest", "flattest": the extremes of many curves */
} CurveKind;

/* Fills a figure of curves: of more than DRAWN_MAX curves, DRAWN_MAX that are evenly spaced, and always the two extremes.
 * Ignores rows without a number in the last column of `kind`. */
Status curves_make(PlotFigure *f, const CurveKind *kind, const Csv *data, Arena *a, Error *err);

/* Adds the quartiles of the numbers v, which are sorted in place, at the position x. */
bool curves_band(PlotLine *line, double x, double *v, size_t values, Arena *a);

#endif
