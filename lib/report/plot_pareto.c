/* plot_pareto.c -- the figure of size, or time, against error: a line for each codec, over its rates. */
#include "compress/spec.h"
#include "math/stats.h"
#include "report/plot_figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"bits_per_element", "relative_error", "compressor", NULL};
static const char *const against[] = {"bits", "time", "encode_ms", "decode_ms", NULL};

/* Returns the field's expected value if the data have it, else its mean over repeats. Sets *se to the
 * standard error of the returned value. */
static double best_known(const Csv *data, size_t row, const char *field, double *se)
{
    char name[64];
    snprintf(name, sizeof name, "%s_expected", field);
    const double v = plot_real(data, row, name);
    snprintf(name, sizeof name, isnan(v) ? "%s_se" : "%s_expected_se", field);
    *se = plot_real(data, row, name);
    if (isnan(v))
        return plot_real(data, row, field);
    *se = isnan(*se) ? 0 : *se;
    return v;
}

/* A point, with its bits, by which a line is in the order of its rates. */
typedef struct {
    const char *spec, *series;
    PlotPoint p;
    double bits, x_se;
    bool biased, left_out;
} Found;

/* Returns whether the compressor is biased: by the data's field `unbiased`, else by the codec. */
static bool is_biased(const Csv *data, size_t row, const char *spec, Arena *a)
{
    Error ignored;
    const Codec *codec;
    const char *said = csv_cell(data, row, "unbiased");
    return *said ? !strcmp(said, "false") : codec_open(&codec, spec, a, &ignored) == OK && !(codec_traits(codec) & UNBIASED);
}

/* What is on the x axis: the bits, or the sum of these columns. */
static const struct {
    const char *name, *title, *column[2];
} axes[] = {{"bits", "bits per element", {0}},
            {"time", "encode and decode, ms", {"encode_ms", "decode_ms"}},
            {"encode_ms", "encode, ms", {"encode_ms"}},
            {"decode_ms", "decode, ms", {"decode_ms"}}};

static size_t axis_of(const char *name)
{
    size_t i = 0;
    while (strcmp(axes[i].name, name) != 0)
        i++;
    return i;
}

static double x_of(const Csv *data, size_t row, size_t axis, double bits, double *se)
{
    double x = axis ? 0 : bits;
    *se = 0;
    for (size_t i = 0; i < 2 && axes[axis].column[i]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_se", axes[axis].column[i]);
        x += plot_real(data, row, axes[axis].column[i]);
        *se = hypot(*se, plot_real(data, row, name));
    }
    return x;
}

static Status find_points(const PlotFigure *f, const Csv *data, Found *found, size_t *count, Arena *a, Error *err)
{
    size_t *row, of;
    TRY(plot_selection(data, &row, &of, a, err));
    *count = 0;
    for (size_t i = 0; i < of; i++) {
        double bits_se, se, x_se;
        const char *spec = csv_cell(data, row[i], "compressor"), *rate;
        const double bits = best_known(data, row[i], "bits_per_element", &bits_se), error = best_known(data, row[i], "relative_error", &se);
        const double x = x_of(data, row[i], axis_of(f->o->x), bits, &x_se);
        if (!(bits > 0) || !(error >= 0) || !(x > 0))
            continue;
        Found *to = &found[(*count)++];
        *to = (Found){.spec = spec, .series = plot_series(spec, &rate, a), .p = point_with(x, error, se), .bits = bits, .x_se = x_se,
                      .biased = is_biased(data, row[i], spec, a)};
        to->p.rate = f->o->rates ? rate : NULL;
        TRY(arena_check(to->series, a, err));
    }
    return *count ? OK : FAIL(err, ERR_CORRUPT, "no row has both bits_per_element and relative_error");
}

static int by_bits(const void *x, const void *y)
{
    const Found *a = x, *b = y;
    return a->bits < b->bits ? -1 : a->bits > b->bits;
}

/* Leaves out errors far from all others, which would squeeze the axis: at most the quarter with the largest errors, over HIGH
 * times the next smaller one, and the quarter with the smallest, under 1 / LOW of the next larger. Errors of 0 have no place. */
enum { HIGH = 30, LOW = 1000 };

static Status leave_out(PlotFigure *f, Found *found, size_t count, Arena *a, Error *err)
{
    double *error = NEW(a, double, count), high = INFINITY, low = 0;
    const size_t quarter = f->o->ylim ? 0 : count / 4;
    TRY(arena_check(error, a, err));
    for (size_t i = 0; i < count; i++)
        error[i] = found[i].p.y;
    stats_sort(error, count);
    for (size_t i = count - quarter; quarter && i < count && isinf(high); i++)
        if (error[i - 1] > 0 && error[i] > HIGH * error[i - 1])
            high = error[i];
    for (size_t i = quarter; i > 0 && low == 0; i--)
        if (LOW * error[i - 1] < error[i])
            low = error[i - 1];
    for (size_t i = 0; i < count; i++) {
        found[i].left_out = found[i].p.y >= high || found[i].p.y <= low || (f->y.log && found[i].p.y == 0);
        if (found[i].left_out)
            text_addf(&f->caption, "; not shown: %s with error %.2g", found[i].spec, found[i].p.y);
    }
    return OK;
}

static Status add_front(PlotFigure *f, const Found *found, size_t count, bool biased, Arena *a, Error *err)
{
    PlotPoint *p = NEW(a, PlotPoint, count);
    size_t of = 0;
    TRY(arena_check(p, a, err));
    for (size_t i = 0; i < count; i++)
        if (found[i].biased == biased && !found[i].left_out)
            p[of++] = found[i].p;
    return figure_front(f, p, of, 1, !biased, a, err);
}

/* The least error at b bits an element on Gaussian data, 4^-b, and that of unbiased codecs, 1 / (4^b - 1). */
static Status add_gaussian(PlotFigure *f, const Found *found, size_t count, Arena *a, Error *err)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, found[i].bits);
        most = fmax(most, found[i].bits);
    }
    for (int unbiased = 0; unbiased < 2; unbiased++) {
        PlotLine *l = figure_guide(f, LINE_GUIDE, a);
        TRY(arena_check(l, a, err));
        for (int k = 0; k <= 100; k++) {
            const double b = least * pow(most / least, k / 100.0);
            TRY(arena_check(line_add(l, point_at(b, unbiased ? 1 / (pow(4, b) - 1) : pow(4, -b)), a), a, err));
        }
    }
    return OK;
}

/* Lines in the order of the data, each in the order of its bits. */
static Status add_lines(PlotFigure *f, Found *found, size_t count, Arena *a, Error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!found[i].left_out)
            TRY(arena_check(figure_line(f, found[i].series, a), a, err));
    qsort(found, count, sizeof *found, by_bits);
    for (size_t i = 0; i < count; i++) {
        if (found[i].left_out)
            continue;
        PlotLine *l = figure_line(f, found[i].series, a);
        TRY(arena_check(l, a, err));
        l->spec = !l->count ? found[i].spec : l->spec && !strcmp(l->spec, found[i].spec) ? l->spec : NULL;
        l->open = found[i].biased;
        /* times of neighbouring rates that differ by less than their intervals are noise */
        if (!l->count || !(fabs(found[i].p.x - l->point[l->count - 1].x) < 1.96 * found[i].x_se))
            TRY(arena_check(line_add(l, found[i].p, a), a, err));
    }
    return OK;
}

static Status make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    const bool bits = !strcmp(f->o->x, "bits");
    Found *found = NEW(a, Found, data->rows + 1);
    size_t count;
    TRY(arena_check(found, a, err));
    f->x = (PlotAxis){.title = axes[axis_of(f->o->x)].title};
    f->y = (PlotAxis){.title = "E|ĝ − g|^2 / |g|^2", .tex = "$\\mathrm{E}\\,|\\hat g - g|^2 / |g|^2$"};
    TRY(find_points(f, data, found, &count, a, err));
    double x[2] = {INFINITY, 0}, y[2] = {INFINITY, 0};
    bool open = false;
    for (size_t i = 0; i < count; i++) {
        x[0] = fmin(x[0], found[i].p.x), x[1] = fmax(x[1], found[i].p.x);
        y[0] = found[i].p.y > 0 ? fmin(y[0], found[i].p.y) : y[0], y[1] = fmax(y[1], found[i].p.y);
        open |= found[i].biased;
    }
    f->x.log = x[1] > 8 * x[0];
    f->y.log = y[1] > 8 * y[0];
    text_addf(&f->caption, "Relative error against %s%s", bits ? "bits per element" : "time", open ? "; filled marks: unbiased" : "");
    TRY(leave_out(f, found, count, a, err));
    TRY(add_lines(f, found, count, a, err));
    if (figure_bars(f))
        text_add(&f->caption, "; bars: 95 % intervals");
    if (f->o->front) {
        TRY(add_front(f, found, count, false, a, err));
        TRY(add_front(f, found, count, true, a, err));
        text_add(&f->caption, "; steps: fronts of unbiased (solid) and of biased codecs");
    }
    if (f->o->gaussian && bits) {
        TRY(add_gaussian(f, found, count, a, err));
        text_add(&f->caption, "; dotted: least error on Gaussian data, 4^-b, and of unbiased codecs, 1 / (4^b - 1)");
    }
    return OK;
}

const PlotKind plot_pareto = {
    .name = "pareto",
    .brief = "size in bits per element against relative error, from sweep's or compare's "
             "CSV or JSON, or with --x time, encode_ms or decode_ms the time; --front adds the fronts "
             "of unbiased and of biased codecs, --gaussian the error at b bits on Gaussian "
             "data, 4^-b, unbiased 1 / (4^b - 1), which is no bound for other data",
    .source = "atomo-bench sweep or compare writes with -o FILE.csv",
    .columns = columns,
    .against = against,
    .make = make,
};
