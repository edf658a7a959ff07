/* plot_curves.c -- the figures `spectrum` (the singular values of each tensor) and `histogram` (the distribution of each tensor's
 * elements).
 *
 * The rows of a curve are consecutive in the data. A tensor has one curve for each step and worker. The figure names all tensors if
 * there are at most NAMED_MAX. Of more it shows the median, the middle half, and the curves with the least and the greatest
 * trait, a number by which the curves of a kind of figure are ordered. */
#include "math/stats.h"
#include "report/plot_figure.h"

#include <math.h>
#include <string.h>

enum { NAMED_MAX = 8, CURVE_COLUMNS = 3 };

typedef struct {
    const char *tensor; /* its path in the data */
    const char *cell;   /* the step and worker, as in "step 200 worker 3"; "": unknown */
    size_t row, rows;   /* first row and number of rows in the data */
    double trait;       /* NaN: the curve is not drawn */
    bool typical;       /* if false, drawn only if false for all curves */
    double n, mean, std; /* number, mean and standard deviation of the tensor's elements, by its histogram */
    bool least, most;   /* the extremes of over NAMED_MAX tensors, which alone are named */
} Curve;

typedef struct {
    Curve *curve;
    size_t count, tensors;
    double *column[CURVE_COLUMNS]; /* the columns of the data that CurveKind.column names */
} Curves;

/* What one kind of figure reads, and how it checks its curves. */
typedef struct {
    /* names of columns: the first rises along a curve, the last has its height */
    const char *column[CURVE_COLUMNS];
    size_t columns;
    void (*measure)(const Curves *all, Curve *c); /* sets `trait` and `typical` */
    const char *none;                             /* the message if no curve can be drawn */

    /* The point of a row. `alone`: the figure has one tensor only. */
    PlotPoint (*point)(const Curves *all, const Curve *c, size_t row, bool alone);
    /* Adds the points of the band of quartiles, for a figure of many curves; false: out of memory. `room`: for a number of each
     * curve. */
    bool (*band)(PlotLine *line, const Curves *all, double *room, Arena *a);
    const char *least, *most; /* "steepest", "flattest": the extremes of many curves */
} CurveKind;

static Status read_columns(Curves *out, const Csv *data, const CurveKind *kind, Arena *a, Error *err)
{
    for (size_t k = 0; k < kind->columns; k++) {
        out->column[k] = NEW(a, double, data->rows);
        TRY(arena_check(out->column[k], a, err));
        for (size_t row = 0; row < data->rows; row++)
            out->column[k][row] = plot_real(data, row, kind->column[k]);
    }
    return OK;
}

/* Returns the step and worker of a row. */
static const char *cell_of(const Csv *data, size_t row, Arena *a)
{
    const char *step = csv_cell(data, row, "step"), *worker = csv_cell(data, row, "worker");
    return text_format(a, "%s%s%s%s%s", *step ? "step " : "", step, *step && *worker ? " " : "", *worker ? "worker " : "", worker);
}

static Status split(Curves *out, const Csv *data, const CurveKind *kind, Arena *a, Error *err)
{
    *out = (Curves){.curve = NEW(a, Curve, data->rows)};
    TRY(arena_check(out->curve, a, err));
    TRY(read_columns(out, data, kind, a, err));
    const double *along = out->column[0], *height = out->column[kind->columns - 1];
    Curve *last = NULL;
    for (size_t row = 0; row < data->rows; row++) {
        const char *tensor = csv_cell(data, row, "tensor");
        if (isnan(height[row])) {
            last = NULL;
        } else if (last && !strcmp(last->tensor, tensor) && along[row] > along[row - 1]) {
            last->rows++;
        } else {
            last = &out->curve[out->count++];
            *last = (Curve){.tensor = tensor, .cell = cell_of(data, row, a), .row = row, .rows = 1};
            TRY(arena_check(last->cell, a, err));
        }
    }
    return out->count ? OK : FAIL(err, ERR_CORRUPT, "it has nothing to draw");
}

static bool are_many(const Curves *c)
{
    return c->tensors > NAMED_MAX;
}

/* Counts the tensors, and finds the extremes of many. */
static void choose(Curves *c)
{
    size_t least = 0, most = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t k = 0;
        while (strcmp(c->curve[k].tensor, c->curve[i].tensor) != 0)
            k++;
        c->tensors += k == i;
        least = c->curve[i].trait < c->curve[least].trait ? i : least;
        most = c->curve[i].trait > c->curve[most].trait ? i : most;
    }
    c->curve[least].least = are_many(c);
    c->curve[most].most = are_many(c) && most != least;
}

static Status find_curves(Curves *out, const Csv *data, const CurveKind *kind, Arena *a, Error *err)
{
    bool typical = false;
    size_t kept = 0;
    TRY(split(out, data, kind, a, err));
    for (Curve *c = out->curve; c < out->curve + out->count; c++) {
        kind->measure(out, c);
        typical |= c->typical && !isnan(c->trait);
    }
    for (size_t i = 0; i < out->count; i++)
        if (!isnan(out->curve[i].trait) && (out->curve[i].typical || !typical))
            out->curve[kept++] = out->curve[i];
    out->count = kept;
    if (!kept)
        return FAIL(err, ERR_CORRUPT, "%s", kind->none);
    choose(out);
    return OK;
}

/* ---- lines ---- */

/* Adds the quartiles of the numbers v, which are sorted in place, at the position x. */
static bool add_quartiles(PlotLine *line, double x, double *v, size_t values, Arena *a)
{
    stats_sort(v, values);
    return line_add(line, (PlotPoint){.x = x, .y = stats_quantile(v, values, 0.5), .low = stats_quantile(v, values, 0.25),
                                      .high = stats_quantile(v, values, 0.75)}, a);
}

/* The blue of curve i of n of one tensor, from light to dark. */
static const char *ramp(size_t i, size_t n, Arena *a)
{
    const double s = n < 2 ? 1 : (double)i / (double)(n - 1);
    return text_format(a, "#%02x%02x%02x", (int)(0x40 + s * (0x08 - 0x40)), (int)(0x78 + s * (0x20 - 0x78)), (int)(0xb0 + s * (0x50 - 0xb0)));
}

/* Gives the line of curve i its name and look: of one tensor, the step; of few, the tensor at its last step; of many, the extremes. */
static Status name_curve(PlotLine *l, const CurveKind *kind, const Curves *all, size_t i, Arena *a, Error *err)
{
    const Curve *c = &all->curve[i];
    const bool alone = all->tensors == 1;
    bool last = true;
    for (size_t k = i + 1; k < all->count && last && !are_many(all); k++)
        last = strcmp(all->curve[k].tensor, c->tensor) != 0;
    if (alone) {
        l->look = (Look){ramp(i, all->count, a), 0, 0};
        l->label = all->count == 1 ? c->tensor : all->count <= 6 || i == 0 || last ? (*c->cell ? c->cell : text_format(a, "no. %zu", i + 1)) : NULL;
    } else if (c->least || c->most) {
        l->look = c->least ? (Look){HUE_LEVELS, 0, 1} : (Look){HUE_SPARSE, 0, 3};
        l->label = text_format(a, "%s: %s", c->least ? kind->least : kind->most, c->tensor);
    } else if (!last) {
        l->style = LINE_FAINT;
        return OK;
    }
    l->name = text_printable(a, l->label ? l->label : c->tensor);
    if (l->look.colour && l->label)
        l->label = l->name;
    return arena_check(l->name, a, err);
}

/* Fills a figure of curves. Ignores rows without a number in the last column of `kind`. */
static Status curves_make(PlotFigure *f, const CurveKind *kind, const Csv *data, Arena *a, Error *err)
{
    Curves all;
    TRY(find_curves(&all, data, kind, a, err));
    double *room = NEW(a, double, all.count);
    TRY(arena_check(room, a, err));
    for (size_t i = 0; i < all.count; i++) {
        Curve *c = &all.curve[i];
        if (are_many(&all) && !c->least && !c->most)
            continue;
        PlotLine *l = figure_guide(f, LINE_PLAIN, a);
        TRY(arena_check(l, a, err));
        l->look = (Look){0};
        TRY(name_curve(l, kind, &all, i, a, err));
        for (size_t row = c->row; row < c->row + c->rows; row++)
            TRY(arena_check(line_add(l, kind->point(&all, c, row, all.tensors == 1), a), a, err));
    }
    if (!are_many(&all))
        return OK;
    PlotLine *l = figure_guide(f, LINE_PLAIN, a);
    TRY(arena_check(l, a, err));
    *l = (PlotLine){.name = "median", .label = "median", .style = LINE_PLAIN, .band = true, .look = {HUE_ATOMS, 0, 0}};
    text_addf(&f->caption, " of %zu tensors: median, middle half and extremes", all.tensors);
    return arena_check(kind->band(l, &all, room, a), a, err);
}

/* ---- singular values ---- */

static const char *const spectrum_columns[] = {"index", "value", "tensor", NULL};

enum { INDEX, VALUE };

enum { START = 10 };

/* `trait` is the mean of the first START values, divided by the largest value; a large trait is a slow decay. */
static void spectrum_measure(const Curves *all, Curve *c)
{
    const double *value = all->column[VALUE] + c->row;
    double sum = 0;
    for (size_t i = 0; i < c->rows && i < START; i++)
        sum += value[i];
    c->trait = value[0] > 0 ? sum / value[0] / fmin(START, (double)c->rows) : NAN;
    c->typical = c->rows > 2; /* a vector, viewed as a matrix of two columns, has only two singular values */
}

/* Values below this share of the largest are rounding errors, and not drawn. */
static const double FLOOR = 1e-4;

static PlotPoint spectrum_point(const Curves *all, const Curve *c, size_t row, bool alone)
{
    const double top = all->column[VALUE][c->row], v = all->column[VALUE][row];
    return point_at(all->column[INDEX][row], v < FLOOR * top ? NAN : alone ? v : v / top);
}

/* The band ends at the last index at which at least half of the curves have a value. */
static bool spectrum_band(PlotLine *line, const Curves *all, double *room, Arena *a)
{
    const double *value = all->column[VALUE];
    for (size_t i = 0;; i++) {
        size_t count = 0;
        for (size_t k = 0; k < all->count; k++)
            if (i < all->curve[k].rows)
                room[count++] = value[all->curve[k].row + i] / value[all->curve[k].row];
        if (2 * count < all->count || count == 0)
            return true;
        if (!add_quartiles(line, (double)i + 1, room, count, a))
            return false;
    }
}

static const CurveKind spectrum_curves = {
    .column = {"index", "value"},
    .columns = 2,
    .measure = spectrum_measure,
    .none = "no tensor has a singular value above 0",
    .point = spectrum_point,
    .band = spectrum_band,
    .least = "steepest",
    .most = "flattest",
};

static Status spectrum_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    double most = 0;
    text_add(&f->caption, "Singular values");
    TRY(curves_make(f, &spectrum_curves, data, a, err));
    for (size_t k = 0; k < f->count; k++)
        most = fmax(most, f->line[k].point[f->line[k].count - 1].x);
    const bool alone = f->count && f->line[0].look.colour && f->line[0].style == LINE_PLAIN && f->line[0].point[0].y != 1;
    f->x = (PlotAxis){.title = "i", .tex = "$i$", .log = most > 12};
    f->y = (PlotAxis){.title = alone ? "σ_{i}" : "σ_{i} / σ_{1}", .tex = alone ? "$\\sigma_i$" : "$\\sigma_i / \\sigma_1$", .log = true};
    return OK;
}

/* ---- distribution of elements ---- */

static const char *const histogram_columns[] = {"bin_low", "bin_high", "count", "tensor", NULL};

enum { LOW, HIGH, COUNT };

static double middle(const Curves *all, size_t row)
{
    return 0.5 * all->column[LOW][row] + 0.5 * all->column[HIGH][row];
}

/* The least number of elements of a bin that is drawn, and of a typical tensor: with fewer, the densities of at most 25 bins are mostly
 * noise. */
enum { ENOUGH = 10, MANY = 25 * ENOUGH };

/* Computes the tensor's mean and standard deviation, with each element at the middle of its bin. `trait` is
 * the distance of the outermost elements from the mean in standard deviations; NaN: all elements are equal. */
static void histogram_measure(const Curves *all, Curve *c)
{
    double sum = 0, squares = 0;
    const size_t end = c->row + c->rows;
    for (size_t i = c->row; i < end; i++) {
        c->n += all->column[COUNT][i];
        sum += all->column[COUNT][i] * middle(all, i);
    }
    c->mean = sum / c->n;
    for (size_t i = c->row; i < end; i++)
        squares += all->column[COUNT][i] * pow(middle(all, i) - c->mean, 2);
    c->std = sqrt(squares / c->n);
    const double least = all->column[LOW][c->row], most = all->column[HIGH][end - 1];
    c->trait = c->std > 0 ? fmax(most - c->mean, c->mean - least) / c->std : NAN;
    c->typical = c->n >= MANY;
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

static PlotPoint histogram_point(const Curves *all, const Curve *c, size_t row, bool alone)
{
    const double unit = alone ? 1 : c->std, centre = alone ? 0 : c->mean, wide = all->column[HIGH][row] - all->column[LOW][row];
    const double count = all->column[COUNT][row];
    return point_at((middle(all, row) - centre) / unit, c->typical && count < ENOUGH ? NAN : count / c->n / (wide / unit));
}

static bool histogram_band(PlotLine *line, const Curves *all, double *room, Arena *a)
{
    for (int i = 0; i < PLACES; i++) {
        const double place = (double)(i - PLACES / 2) / STEPS;
        size_t count = 0;
        for (size_t k = 0; k < all->count; k++) {
            room[count] = density(all, &all->curve[k], place);
            count += isnan(room[count]) ? 0 : 1;
        }
        if (2 * count >= all->count && count && !add_quartiles(line, place, room, count, a))
            return false;
    }
    return true;
}

static const CurveKind histogram_curves = {
    .column = {"bin_low", "bin_high", "count"},
    .columns = 3,
    .measure = histogram_measure,
    .none = "no tensor has elements of more than one value",
    .point = histogram_point,
    .band = histogram_band,
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

static Status histogram_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    bool alone = true;
    for (size_t i = 1; i < data->rows && alone; i++)
        alone = !strcmp(csv_cell(data, i, "tensor"), csv_cell(data, 0, "tensor"));
    text_add(&f->caption, "Distribution of elements");
    f->x = (PlotAxis){.title = alone ? "g_{i}" : "(g_{i} − mean) / std", .tex = alone ? "$g_i$" : "$(g_i - \\mathrm{mean}) / \\mathrm{std}$"};
    f->y = (PlotAxis){.title = "density", .log = true};
    TRY(curves_make(f, &histogram_curves, data, a, err));
    return alone ? OK : add_normal(f, a, err);
}

const PlotKind plot_curves[] = {
    {
        .name = "spectrum",
        .brief = "how singular values fall, from inspect --spectrum; of many tensors the median, the middle half and the two extremes",
        .source = "atomo-bench inspect writes with --spectrum -o FILE.csv",
        .columns = spectrum_columns,
        .of_tensors = true,
        .make = spectrum_make,
    },
    {
        .name = "histogram",
        .brief = "how elements are distributed, from inspect --histogram; of many "
                 "tensors the median, the middle half and the two extremes",
        .source = "atomo-bench inspect writes with --histogram -o FILE.csv",
        .columns = histogram_columns,
        .of_tensors = true,
        .make = histogram_make,
    },
};
