/* plot_curves.h -- results that hold one curve after another, as inspect's figures do: where each begins, which
 * ones a figure names, and the band that all lie in.
 *
 * A tensor that comes again is another step or worker of it; inspect's rows say no more than that. Up to
 * NAMED_MAX tensors are all named; of more, only the two with the least and the most of a trait, and the rest
 * are drawn without names. */
#ifndef ATOMO_PLOT_CURVES_H
#define ATOMO_PLOT_CURVES_H

#include "base/csv.h"

enum { NAMED_MAX = 8, DRAWN_MAX = 150, CURVE_COLUMNS = 4 };

typedef struct {
    const char *tensor, *name; /* as the data and as gnuplot have it */
    size_t row, rows;          /* of the data */
    double trait;
    double n, mean, std; /* of a tensor's elements, as its histogram tells them */
    bool drawn;
    const char *role; /* "named", "least", "most", "other" */
} Curve;

typedef struct {
    Curve *curve;
    size_t count, tensors;
    double *column[CURVE_COLUMNS]; /* (rows of the data) */
} Curves;

/* Which numbers a figure needs beside the tensor, and what holds of a curve of them. */
typedef struct {
    const char *const *column;                    /* up to CURVE_COLUMNS, NULL-ended */
    bool (*follows)(const Curves *c, size_t row); /* the row goes on with the curve of the row before it */

    /* Refuses what inspect does not write, and finds the trait; NaN: there is nothing to draw. */
    Status (*check)(const Curves *all, Curve *c, Error *err);
    const char *none;                /* what is said where that holds of all */
    bool (*typical)(const Curve *c); /* others are left out, unless all are such */
} CurveKind;

/* The curves to go by, their roles, and which are drawn: at most DRAWN_MAX without a name, evenly chosen. Rows
 * without a number in the last column belong to no curve, nor do those of a band: a figure's own data may draw
 * it again. */
Status curves_find(Curves *out, const Csv *data, const CurveKind *kind, Arena *a, Error *err);

/* Quartiles of v, which this sorts. */
typedef struct {
    double low, middle, high;
} Quartiles;
Quartiles quartiles_of(double *v, size_t count);

static inline bool curves_are_many(const Curves *c)
{
    return c->tensors > NAMED_MAX;
}

#endif
