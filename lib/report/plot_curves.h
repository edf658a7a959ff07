/* plot_curves.h -- finds the curves in a result of `inspect`, for figures with one curve per tensor. The rows
 * of a curve are consecutive. A tensor has one curve for each step and worker.
 *
 * The figure names all tensors if there are at most NAMED_MAX. Otherwise it names only the curves with the
 * least and the greatest trait, a number by which the curves of a kind of figure are ordered. */
#ifndef ATOMO_PLOT_CURVES_H
#define ATOMO_PLOT_CURVES_H

#include "base/csv.h"
#include "report/report.h"

enum { NAMED_MAX = 8, DRAWN_MAX = 150, CURVE_COLUMNS = 4 };

typedef struct {
    const char *tensor, *name; /* the tensor's path in the data; its name for gnuplot */
    const char *cell;          /* the step and worker, as in "step 200 worker 3"; "": unknown */
    size_t row, rows;          /* first row and number of rows in the data */
    double trait;
    double n, mean, std; /* number, mean and standard deviation of the tensor's elements, by its histogram */
    bool drawn;
    /* "named": the figure has at most NAMED_MAX tensors and names them all. Otherwise "least", "most" (least
     * or greatest trait, named in the figure) or "other" (not named). */
    const char *role;
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

    /* Writes the rows of the band of quartiles, for a figure of many curves; returns the end of the rows.
     * `room`: memory for a number of each curve. */
    Value *(*band)(Value *row, const Curves *all, double *room);
    size_t band_rows; /* the most rows of the band; 0: as many as the data have */
} CurveKind;

/* Picks the rows of a figure of curves: of more than DRAWN_MAX curves, DRAWN_MAX that are evenly spaced, and
 * always the curves with the roles "least" and "most". Ignores rows without a number in the last column of
 * `kind`, and in a FIGURE.plot.csv the rows with role "band". The columns are role, `CurveKind.column`, low,
 * high, the curve's step and worker, and the tensor's name; `low` and `high` are only in rows of the band. */
Status curves_pick(const CurveKind *kind, const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);

/* Writes a row of the band at the position x (`count` numbers): the quartiles of the numbers v, which are
 * sorted in place. Returns the next row. */
Value *curves_put_band(Value *row, const double *x, size_t count, double *v, size_t values);

#endif
