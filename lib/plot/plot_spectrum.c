/* plot_spectrum.c -- the data of the singular-value figure: the singular values of each tensor in a result of
 * inspect. If there are many tensors, there is also a band: for each index i the quartiles, over the tensors,
 * of singular value i divided by the tensor's largest singular value.
 *
 * The column `role` is `named` for every tensor if there are few. Else it is `least` (steepest decay), `most`
 * (flattest decay), `other` or `band`. In a row of the band, `value` is the median, and `low` and `high` are
 * the quartiles. */
#include "plot/plot.h"
#include "plot/plot_curves.h"

#include <math.h>

static const Column columns[] = {
    {"role", false},
    {"index", false},
    {"value", false},
    {"low", false},
    {"high", false},
    {"tensor", false},
    {0},
};
enum { COLUMNS = countof(columns) - 1 };

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

static const char *const needs[] = {"tensor", "index", "value", NULL};
static const char *const numbers[] = {"index", "value", "low", "high", NULL};

static const CurveKind curves = {
    .column = needs + 1,
    .follows = follows,
    .check = check_curve,
    .none = "no tensor has a singular value above 0",
    .typical = is_curve,
};

static Value *put_curve(Value *row, const Curves *all, const Curve *c)
{
    for (size_t i = 0; i < c->rows; i++, row += COLUMNS) {
        row[0] = value_text(c->role);
        row[1] = value_int((int64_t)i + 1);
        row[2] = value_real(all->column[VALUE][c->row + i]);
        row[3] = row[4] = value_none();
        row[5] = value_text(c->name);
    }
    return row;
}

/* The band ends at the last index at which at least half of the curves have a value. */
static Value *put_band(Value *row, const Curves *all, size_t longest, double *room)
{
    const double *value = all->column[VALUE];
    for (size_t i = 0; i < longest; i++) {
        size_t count = 0;
        for (size_t k = 0; k < all->count; k++)
            if (i < all->curve[k].rows)
                room[count++] = value[all->curve[k].row + i] / value[all->curve[k].row];
        if (2 * count < all->count)
            break;
        const Quartiles q = quartiles_of(room, count);
        row[0] = value_text("band");
        row[1] = value_int((int64_t)i + 1);
        row[2] = value_real(q.middle);
        row[3] = value_real(q.low);
        row[4] = value_real(q.high);
        row[5] = value_none();
        row += COLUMNS;
    }
    return row;
}

static Status pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    Curves all;
    size_t longest = 0;
    TRY(curves_find(&all, data, &curves, a, err));
    for (size_t i = 0; i < all.count; i++)
        longest = all.curve[i].rows > longest ? all.curve[i].rows : longest;
    double *room = NEW(a, double, all.count);
    *rows = NEW(a, Value, (data->rows + longest) * COLUMNS);
    TRY(arena_check(room && *rows, a, err));
    Value *row = *rows;
    for (size_t i = 0; i < all.count; i++)
        if (all.curve[i].drawn)
            row = put_curve(row, &all, &all.curve[i]);
    if (curves_are_many(&all))
        row = put_band(row, &all, longest, room);
    *count = (size_t)(row - *rows) / COLUMNS;
    return OK;
}

const PlotKind plot_spectrum = {
    .name = "spectrum",
    .brief = "how singular values fall, from inspect --spectrum",
    .source = "atomo-bench inspect writes with --spectrum -o FILE.csv",
    .needs = needs,
    .columns = columns,
    .numbers = numbers,
    .pick = pick,
};
