/* plot_spectrum.c -- the data of the singular-value figure: the singular values of each tensor in a result of
 * inspect. If there are many tensors, there is also a band: for each index i the quartiles, over the tensors,
 * of singular value i divided by the tensor's largest singular value.
 *
 * The column `role` is `named` for every tensor if there are few. Else it is `least` (steepest decay), `most`
 * (flattest decay), `other` or `band`. In a row of the band, `value` is the median, and `low` and `high` are
 * the quartiles. */
#include "report/plot.h"
#include "report/plot_curves.h"

#include <math.h>

static const PlotColumn columns[] = {
    {"role", 0},
    {"index", PLOT_NEEDED | PLOT_NUMBER},
    {"value", PLOT_NEEDED | PLOT_NUMBER},
    {"low", PLOT_NUMBER},
    {"high", PLOT_NUMBER},
    {"cell", 0},
    {"tensor", PLOT_NEEDED},
    {0},
};
static const char *const read_columns[] = {"index", "value", NULL};

enum { INDEX, VALUE };

static bool follows(const Curves *c, size_t row)
{
    return c->column[INDEX][row] > c->column[INDEX][row - 1];
}

enum { START = 10 };

/* Requires finite values >= 0 and the indices 1, 2, ... `trait` is the mean of the first START values,
 * divided by the largest value; a large trait is a slow decay. */
static Status check_curve(const Curves *all, Curve *c, Error *err)
{
    const double *value = all->column[VALUE] + c->row, *index = all->column[INDEX] + c->row;
    double sum = 0;
    for (size_t i = 0; i < c->rows; i++) {
        if (!(value[i] >= 0) || isinf(value[i]) || index[i] != (double)(i + 1))
            return FAIL(err, ERR_CORRUPT, "record %zu is no singular value, or out of order", c->row + i + 1);
        sum += i < START ? value[i] : 0;
    }
    c->trait = value[0] > 0 ? sum / value[0] / fmin(START, (double)c->rows) : NAN;
    return OK;
}

/* A vector, viewed as a matrix of two columns, has only two singular values. */
static bool is_curve(const Curve *c)
{
    return c->rows > 2;
}

/* The band ends at the last index at which at least half of the curves have a value. */
static Value *put_band(Value *row, const Curves *all, double *room)
{
    const double *value = all->column[VALUE];
    for (size_t i = 0;; i++) {
        size_t count = 0;
        for (size_t k = 0; k < all->count; k++)
            if (i < all->curve[k].rows)
                room[count++] = value[all->curve[k].row + i] / value[all->curve[k].row];
        if (2 * count < all->count)
            return row;
        row = curves_put_band(row, &(double){(double)(i + 1)}, 1, room, count);
    }
}

static const CurveKind curves = {
    .column = read_columns,
    .follows = follows,
    .check = check_curve,
    .none = "no tensor has a singular value above 0",
    .typical = is_curve,
    .band = put_band,
};

static Status pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    return curves_pick(&curves, data, rows, count, a, err);
}

const PlotKind plot_spectrum = {
    .name = "spectrum",
    .brief = "how singular values fall, from inspect --spectrum",
    .source = "atomo-bench inspect writes with --spectrum -o FILE.csv",
    .of_gradients = "inspect --spectrum",
    .columns = columns,
    .pick = pick,
};
