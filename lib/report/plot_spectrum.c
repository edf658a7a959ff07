/* plot_spectrum.c -- the data of the singular-value figure: the singular values of each tensor in a result of
 * inspect. If there are many tensors, there is also a band: for each index i the quartiles, over the tensors,
 * of singular value i divided by the tensor's largest singular value. */
#include "report/plot_curves.h"

#include <math.h>

static const PlotColumn columns[] = {
    {"index", PLOT_NEEDED | PLOT_NUMBER},
    {"value", PLOT_NEEDED | PLOT_NUMBER},
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

/* Values below this share of the largest are rounding errors, and not drawn. */
static const double FLOOR = 1e-4;

static PlotPoint point(const Curves *all, const Curve *c, size_t row, bool alone)
{
    const double top = all->column[VALUE][c->row], v = all->column[VALUE][row];
    return point_at(all->column[INDEX][row], v < FLOOR * top ? NAN : alone ? v : v / top);
}

/* The band ends at the last index at which at least half of the curves have a value. */
static bool band(PlotLine *line, const Curves *all, double *room, Arena *a)
{
    const double *value = all->column[VALUE];
    for (size_t i = 0;; i++) {
        size_t count = 0;
        for (size_t k = 0; k < all->count; k++)
            if (i < all->curve[k].rows)
                room[count++] = value[all->curve[k].row + i] / value[all->curve[k].row];
        if (2 * count < all->count || count == 0)
            return true;
        if (!curves_band(line, (double)i + 1, room, count, a))
            return false;
    }
}

static const CurveKind curves = {
    .column = read_columns,
    .follows = follows,
    .check = check_curve,
    .none = "no tensor has a singular value above 0",
    .typical = is_curve,
    .point = point,
    .band = band,
    .least = "steepest",
    .most = "flattest",
};

static Status make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    double most = 0;
    text_add(&f->caption, "Singular values");
    TRY(curves_make(f, &curves, data, a, err));
    for (size_t k = 0; k < f->count; k++)
        most = fmax(most, f->line[k].point[f->line[k].count - 1].x);
    const bool alone = f->count && f->line[0].look.colour && f->line[0].style == LINE_PLAIN && f->line[0].point[0].y != 1;
    f->x = (PlotAxis){.title = "i", .tex = "$i$", .log = most > 12};
    f->y = (PlotAxis){.title = alone ? "σ_{i}" : "σ_{i} / σ_{1}", .tex = alone ? "$\\sigma_i$" : "$\\sigma_i / \\sigma_1$", .log = true};
    return OK;
}

const PlotKind plot_spectrum = {
    .name = "spectrum",
    .brief = "how singular values fall, from inspect --spectrum; of many tensors the median, the middle half and the two extremes",
    .source = "atomo-bench inspect writes with --spectrum -o FILE.csv",
    .of_gradients = "inspect --spectrum",
    .columns = columns,
    .of_tensors = true,
    .make = make,
};
