/* plot_curves.h -- results of inspect with one curve after another: the rows of each curve, and the names in the figure.
 *
 * A further curve of a tensor is another step or worker; rows do not say which. Up to NAMED_MAX tensors are all named. Of
 * more tensors, only the two with the least and the largest trait are named. */
#ifndef ATOMO_PLOT_CURVES_H
#define ATOMO_PLOT_CURVES_H

#include "base/csv.h"

enum { NAMED_MAX = 8, DRAWN_MAX = 150, CURVE_COLUMNS = 4 };

typedef struct {
    const char *tensor, *name; /* in the data, and for gnuplot */
    size_t row, rows;          /* of the data */
    double trait;
    double n, mean, std; /* of a tensor's elements, from its histogram */
    bool drawn;
    const char *role; /* "named", "least", "most", "other" */
} Curve;

typedef struct {
    Curve *curve;
    size_t count, tensors;
    double *column[CURVE_COLUMNS]; /* (rows of the data) */
} Curves;

/* The columns of a figure's curves, and the functions that check them. */
typedef struct {
    const char *const *column;                    /* up to CURVE_COLUMNS, NULL-ended */
    bool (*follows)(const Curves *c, size_t row); /* the row continues the curve of the row before */

    /* Refuses values that inspect does not write, and sets the trait; NaN: the curve is not drawn. */
    Status (*check)(const Curves *all, Curve *c, Error *err);
    const char *none;                /* the message if no curve can be drawn */
    bool (*typical)(const Curve *c); /* false: the curve is left out, unless no curve is typical */
} CurveKind;

/* Finds the curves and their roles, and chooses those to draw: at most DRAWN_MAX without a name, evenly spaced. Ignores rows
 * without a number in the last column, and the rows of a band, which FIGURE.plot.csv may have. */
Status curves_find(Curves *out, const Csv *data, const CurveKind *kind, Arena *a, Error *err);

/* Sorts v. */
typedef struct {
    double low, middle, high;
} Quartiles;
Quartiles quartiles_of(double *v, size_t count);

static inline bool curves_are_many(const Curves *c)
{
    return c->tensors > NAMED_MAX;
}

#endif
