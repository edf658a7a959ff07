/* plot_histogram.c -- the data of the gradient-distribution figure: each tensor's histogram, with small bins
 * merged. If there are many tensors, the figure also has a band between the quartiles of their densities,
 * where each tensor's elements are divided by its standard deviation.
 *
 * The column `role` is `named`, `least` (shortest tails), `most` (longest tails), `other` or `band`. In a row
 * of the band, the bin is a distance from the mean in standard deviations, `count` is the median density at
 * this distance, and `low` and `high` are the quartiles. */
#include "plot/plot.h"
#include "plot/plot_curves.h"

#include <math.h>

static const Column columns[] = {
    {"role", false}, {"bin_low", false}, {"bin_high", false}, {"count", false},
    {"low", false},  {"high", false},    {"tensor", false},   {0},
};
enum { COLUMNS = countof(columns) - 1 };

enum { LOW, HIGH, COUNT };

static bool follows(const Curves *c, size_t row)
{
    return c->column[LOW][row] >= c->column[HIGH][row - 1];
}

static double middle(const Curves *all, size_t row)
{
    return 0.5 * all->column[LOW][row] + 0.5 * all->column[HIGH][row];
}

/* Computes the tensor's mean and standard deviation, with each element at the middle of its bin. `trait` is
 * the distance of the outermost elements from the mean in standard deviations; NaN: all elements are equal. */
static Status check_curve(const Curves *all, Curve *c, Error *err)
{
    double sum = 0, squares = 0;
    const size_t end = c->row + c->rows;
    for (size_t i = c->row; i < end; i++) {
        const double count = all->column[COUNT][i], low = all->column[LOW][i], high = all->column[HIGH][i];
        if (!(count >= 0) || isinf(count) || !(low <= high) || isinf(low) || isinf(high))
            return FAIL(err, ERR_CORRUPT, "record %zu is no bin", i + 1);
        c->n += count;
        sum += count * middle(all, i);
    }
    c->mean = sum / c->n;
    for (size_t i = c->row; i < end; i++)
        squares += all->column[COUNT][i] * pow(middle(all, i) - c->mean, 2);
    c->std = sqrt(squares / c->n);
    const double least = all->column[LOW][c->row], most = all->column[HIGH][end - 1];
    c->trait = c->std > 0 ? fmax(most - c->mean, c->mean - least) / c->std : NAN;
    return OK;
}

enum { ENOUGH = 10 }; /* least number of elements of a bin */

/* With fewer elements there are at most 25 bins of ENOUGH elements, and their densities are mostly noise. */
static bool has_many(const Curve *c)
{
    return c->n >= 25 * ENOUGH;
}

static const char *const needs[] = {"tensor", "bin_low", "bin_high", "count", NULL};
static const char *const numbers[] = {"bin_low", "bin_high", "count", "low", "high", NULL};

static const CurveKind curves = {
    .column = needs + 1,
    .follows = follows,
    .check = check_curve,
    .none = "no tensor has elements of more than one value",
    .typical = has_many,
};

/* Merges neighbouring bins until each has ENOUGH elements, so that tails have no gaps. */
static void join_bins(const Curves *all, Curve *c)
{
    double *low = all->column[LOW] + c->row, *high = all->column[HIGH] + c->row;
    double *count = all->column[COUNT] + c->row;
    size_t last = 0;
    for (size_t i = 1; i < c->rows; i++)
        if (count[last] < ENOUGH) {
            high[last] = high[i];
            count[last] += count[i];
        } else {
            last++;
            low[last] = low[i];
            high[last] = high[i];
            count[last] = count[i];
        }
    /* the last bin may have too few elements */
    if (last > 0 && count[last] < ENOUGH) {
        high[last - 1] = high[last];
        count[last - 1] += count[last];
        last--;
    }
    c->rows = last + 1;
}

/* Returns the density at `place` standard deviations from the mean, as the share of elements per standard
 * deviation; NaN: outside of the histogram. */
static double density(const Curves *all, const Curve *c, double place)
{
    const double *low = all->column[LOW], *high = all->column[HIGH], x = c->mean + place * c->std;
    size_t from = c->row, to = c->row + c->rows;
    if (!(x >= low[from] && x < high[to - 1]))
        return NAN;
    while (to - from > 1) { /* bisection for the bin of x */
        const size_t half = (from + to) / 2;
        if (low[half] <= x)
            from = half;
        else
            to = half;
    }
    return all->column[COUNT][from] / c->n / ((high[from] - low[from]) / c->std);
}

static Value *put_curve(Value *row, const Curves *all, const Curve *c)
{
    for (size_t i = c->row; i < c->row + c->rows; i++, row += COLUMNS) {
        row[0] = value_text(c->role);
        row[1] = value_real(all->column[LOW][i]);
        row[2] = value_real(all->column[HIGH][i]);
        row[3] = value_real(all->column[COUNT][i]);
        row[4] = row[5] = value_none();
        row[6] = value_text(c->name);
    }
    return row;
}

/* The band of quartiles has STEPS points per standard deviation, up to REACH standard deviations on both
 * sides of the mean. */
enum { REACH = 12, STEPS = 4, PLACES = 2 * REACH * STEPS + 1 };

static Value *put_band(Value *row, const Curves *all, double *room)
{
    for (int i = 0; i < PLACES; i++) {
        const double place = (double)(i - PLACES / 2) / STEPS, half = 0.5 / STEPS;
        size_t count = 0;
        for (size_t k = 0; k < all->count; k++) {
            room[count] = density(all, &all->curve[k], place);
            count += isnan(room[count]) ? 0 : 1;
        }
        if (2 * count < all->count)
            continue;
        const Quartiles q = quartiles_of(room, count);
        row[0] = value_text("band");
        row[1] = value_real(place - half);
        row[2] = value_real(place + half);
        row[3] = value_real(q.middle);
        row[4] = value_real(q.low);
        row[5] = value_real(q.high);
        row[6] = value_none();
        row += COLUMNS;
    }
    return row;
}

static Status pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    Curves all;
    TRY(curves_find(&all, data, &curves, a, err));
    for (size_t i = 0; i < all.count; i++)
        join_bins(&all, &all.curve[i]);
    double *room = NEW(a, double, all.count);
    *rows = NEW(a, Value, (data->rows + PLACES) * COLUMNS);
    TRY(arena_check(room && *rows, a, err));
    Value *row = *rows;
    for (size_t i = 0; i < all.count; i++)
        if (all.curve[i].drawn)
            row = put_curve(row, &all, &all.curve[i]);
    if (curves_are_many(&all))
        row = put_band(row, &all, room);
    *count = (size_t)(row - *rows) / COLUMNS;
    return OK;
}

const PlotKind plot_histogram = {
    .name = "histogram",
    .brief = "how elements are distributed, from inspect --histogram; of many\n"
             "tensors the median, the middle half and the two extremes",
    .source = "atomo-bench inspect writes with --histogram -o FILE.csv",
    .needs = needs,
    .columns = columns,
    .numbers = numbers,
    .pick = pick,
};
