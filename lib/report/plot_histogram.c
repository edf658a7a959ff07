/* plot_histogram.c -- the data of the gradient-distribution figure: each tensor's histogram, with small bins
 * merged. If there are many tensors, the figure also has a band between the quartiles of their densities,
 * where each tensor's elements are divided by its standard deviation. */
#include "report/plot_curves.h"

#include <math.h>
#include <string.h>

static const PlotColumn columns[] = {
    {"bin_low", PLOT_NEEDED | PLOT_NUMBER},
    {"bin_high", PLOT_NEEDED | PLOT_NUMBER},
    {"count", PLOT_NEEDED | PLOT_NUMBER},
    {"tensor", PLOT_NEEDED},
    {0},
};
static const char *const read_columns[] = {"bin_low", "bin_high", "count", NULL};

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

/* The band of quartiles has STEPS points per standard deviation, up to REACH standard deviations on both
 * sides of the mean. */
enum { REACH = 12, STEPS = 4, PLACES = 2 * REACH * STEPS + 1 };

static PlotPoint point(const Curves *all, const Curve *c, size_t row, bool alone)
{
    const double unit = alone ? 1 : c->std, centre = alone ? 0 : c->mean, wide = all->column[HIGH][row] - all->column[LOW][row];
    return point_at((middle(all, row) - centre) / unit, all->column[COUNT][row] / c->n / (wide / unit));
}

static bool band(PlotLine *line, const Curves *all, double *room, Arena *a)
{
    for (int i = 0; i < PLACES; i++) {
        const double place = (double)(i - PLACES / 2) / STEPS;
        size_t count = 0;
        for (size_t k = 0; k < all->count; k++) {
            room[count] = density(all, &all->curve[k], place);
            count += isnan(room[count]) ? 0 : 1;
        }
        if (2 * count >= all->count && count && !curves_band(line, place, room, count, a))
            return false;
    }
    return true;
}

static const CurveKind curves = {
    .column = read_columns,
    .follows = follows,
    .check = check_curve,
    .none = "no tensor has elements of more than one value",
    .typical = has_many,
    .prepare = join_bins,
    .point = point,
    .band = band,
    .least = "shortest tails",
    .most = "longest tails",
};

/* The normal distribution, beside those of several tensors. */
static Status add_normal(PlotFigure *f, Arena *a, Error *err)
{
    static const double PI = 3.14159265358979323846;
    PlotLine *l = figure_guide(f, LINE_GUIDE, a);
    TRY(arena_check(l, a, err));
    for (int i = -40; i <= 40; i++)
        TRY(arena_check(line_add(l, point_at(i / 10.0, exp(-0.005 * i * i) / sqrt(2 * PI)), a), a, err));
    text_add(&f->caption, "; dotted: normal");
    return OK;
}

static Status make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    bool alone = true;
    for (size_t i = 1; i < data->rows && alone; i++)
        alone = !strcmp(csv_cell(data, i, "tensor"), csv_cell(data, 0, "tensor"));
    text_add(&f->caption, "Distribution of elements");
    f->x = (PlotAxis){.title = alone ? "g_{i}" : "(g_{i} − mean) / std", .tex = alone ? "$g_i$" : "$(g_i - \\mathrm{mean}) / \\mathrm{std}$"};
    f->y = (PlotAxis){.title = "density", .log = true};
    TRY(curves_make(f, &curves, data, a, err));
    return alone ? OK : add_normal(f, a, err);
}

const PlotKind plot_histogram = {
    .name = "histogram",
    .brief = "how elements are distributed, from inspect --histogram; of many "
             "tensors the median, the middle half and the two extremes",
    .source = "atomo-bench inspect writes with --histogram -o FILE.csv",
    .of_gradients = "inspect --histogram",
    .columns = columns,
    .of_tensors = true,
    .make = make,
};
