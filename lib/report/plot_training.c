/* plot_training.c -- the figures `convergence` (tests of training runs over time, steps or bytes) and `budget` (the last test
 * of each compressor against the bytes that it took).
 *
 * In the data, a row whose step is not larger than the previous row's, or whose compressor is another, begins a new run. Runs of
 * one compressor with different seeds become one line: at each step the mean, with its standard error. */
#include "math/stats.h"
#include "report/plot_figure.h"

#include <math.h>
#include <string.h>

static const char *const columns[] = {"step", "test_accuracy", "compressor", NULL};
static const char *const against[] = {"time", "step", "bytes", "wall", NULL}, *const up[] = {"accuracy", "error", "loss", NULL};

/* A test at one step, over the runs of a compressor. */
typedef struct {
    const char *compressor;
    double step, x;
    Moments y;
} Test;

typedef struct {
    Test *test;
    size_t count;
    double most_bytes;
} Tests;

/* What is on the axes, and the column that has it. */
typedef struct {
    const char *name, *column, *title;
} Axis;
static const Axis across[] = {{"time", "sim_seconds", "simulated time, s"},
                              {"step", "step", "step"},
                              {"bytes", NULL, "data sent by a worker, "},
                              {"wall", "wall_seconds", "wall-clock time, s"}},
                  upwards[] = {{"accuracy", "test_accuracy", "test accuracy"},
                               {"error", "test_accuracy", "test error"},
                               {"loss", "loss", "training loss"}};

static const Axis *axis_of(const Axis *known, const char *name)
{
    while (strcmp(known->name, name) != 0)
        known++;
    return known;
}

/* Returns the test of this compressor and step, a new one at its first run. `guess`: the one before it. */
static Test *find_test(Tests *t, const char *compressor, double step, size_t guess)
{
    for (size_t k = 0; k < t->count; k++) {
        Test *one = &t->test[(guess + k) % t->count];
        if (one->step == step && !strcmp(one->compressor, compressor))
            return one;
    }
    t->test[t->count] = (Test){.compressor = compressor, .step = step};
    return &t->test[t->count++];
}

/* Reads the tests. A row has the bytes of one step, which are summed over the steps of a run. */
static Status read_tests(Tests *t, const Csv *data, const char *x, const char *y, Arena *a, Error *err)
{
    const char *compressor = "";
    const Axis *axis = axis_of(across, x), *up_axis = axis_of(upwards, y);
    double last = 0, sent = 0;
    *t = (Tests){.test = NEW(a, Test, data->rows + 1)};
    TRY(arena_check(t->test, a, err));
    for (size_t row = 0, at = 0; row < data->rows; row++) {
        const double step = plot_real(data, row, "step"), read = plot_real(data, row, up_axis->column), v = *y == 'e' ? 1 - read : read;
        const char *name = csv_cell(data, row, "compressor");
        if (!strcmp(csv_cell(data, row, "record"), "summary") || isnan(step))
            continue;
        if (strcmp(name, compressor) != 0 || step <= last)
            sent = 0;
        compressor = name;
        last = step;
        sent += plot_real(data, row, "bytes_up") > 0 ? plot_real(data, row, "bytes_up") : 0;
        const double place = axis->column ? plot_real(data, row, axis->column) : sent;
        if (isnan(v) || isnan(place))
            continue;
        t->most_bytes = fmax(t->most_bytes, sent);
        Test *one = find_test(t, name, step, t->count ? at + 1 : 0);
        at = (size_t)(one - t->test);
        moments_add(&one->y, v);
        one->x += (place - one->x) / (double)one->y.n;
    }
    return t->count ? OK : FAIL(err, ERR_CORRUPT, "no row has both step and %s", up_axis->column);
}

static const Test *last_test(const Tests *t, const char *compressor)
{
    const Test *last = NULL;
    for (size_t i = 0; i < t->count; i++)
        if (!strcmp(t->test[i].compressor, compressor) && (!last || t->test[i].step > last->step))
            last = &t->test[i];
    return last;
}

/* Half the 95 % interval of a mean over runs; 0 of one run. */
static double interval(const Test *t)
{
    return t->y.n < 2 ? 0 : t_quantile(0.05, (double)t->y.n - 1) * sqrt(moments_variance(&t->y) / (double)t->y.n);
}

static Status title_axes(PlotFigure *f, const char *x, double most_bytes, double *unit, Arena *a, Error *err)
{
    const Axis *axis = axis_of(across, x);
    const char *bytes = "";
    *unit = axis->column ? 1 : byte_unit(most_bytes, &bytes);
    f->x = (PlotAxis){.title = text_format(a, "%s%s", axis->title, bytes), .from_zero = true};
    f->y = (PlotAxis){.title = axis_of(upwards, f->o->y)->title, .log = *f->o->y != 'a'};
    return arena_check(f->x.title, a, err);
}

static Status convergence_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    Tests t;
    double unit, shortest = INFINITY, longest = 0;
    size_t runs = 0;
    TRY(read_tests(&t, data, f->o->x, f->o->y, a, err));
    TRY(title_axes(f, f->o->x, t.most_bytes, &unit, a, err));
    for (size_t i = 0; i < t.count; i++) {
        const Test *one = &t.test[i];
        PlotLine *l = figure_line(f, one->compressor, a);
        PlotPoint p = point_at(one->x / unit, one->y.mean);
        TRY(arena_check(l, a, err));
        if (one->y.n > 1) {
            const double se = sqrt(moments_variance(&one->y) / (double)one->y.n);
            p.low = p.y - se;
            p.high = p.y + se;
            l->band = true;
        }
        runs = one->y.n > runs ? one->y.n : runs;
        TRY(arena_check(line_add(l, p, a), a, err));
    }
    figure_sort(f);
    text_addf(&f->caption, "%s against %s%s%s", f->y.title, f->x.title,
              strchr("tw", *f->o->x) ? "; computing is measured: times grow with the load of the machine" : "",
              runs > 1 ? "; band: standard error over seeds" : "");
    for (size_t k = 0; k < f->count; k++) {
        const PlotLine *l = &f->line[k];
        shortest = fmin(shortest, l->point[l->count - 1].x);
        longest = fmax(longest, l->point[l->count - 1].x);
        const Test *end = last_test(&t, l->name);
        if (end && interval(end) > 0)
            text_addf(&f->caption, "%s%s %.3g ± %.1g", k ? ", " : "; at the end (95 %): ", l->name, end->y.mean, interval(end));
    }
    f->x.log = longest > 8 * shortest;
    return OK;
}

/* ---- budget ---- */

static Status budget_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    Tests t;
    double unit, least = INFINITY, most = 0;
    TRY(read_tests(&t, data, "bytes", f->o->y, a, err));
    TRY(title_axes(f, "bytes", t.most_bytes, &unit, a, err));
    f->x.from_zero = false;
    for (size_t i = 0; i < t.count; i++) {
        const Test *one = &t.test[i];
        const char *ignored;
        if (one != last_test(&t, one->compressor))
            continue;
        char *series = plot_series(one->compressor, &ignored, a);
        PlotLine *l = series ? figure_line(f, series, a) : NULL;
        PlotPoint p = point_at(one->x / unit, one->y.mean);
        if (interval(one) > 0)
            p.low = p.y - interval(one), p.high = p.y + interval(one);
        TRY(arena_check(l && line_add(l, p, a), a, err));
        l->spec = l->count == 1 ? one->compressor : NULL;
        least = fmin(least, p.x);
        most = fmax(most, p.x);
    }
    figure_sort(f);
    f->x.log = most > 8 * least;
    text_addf(&f->caption, "Last %s against the bytes sent by a worker; dotted steps: the front%s", f->y.title,
              figure_bars(f) ? "; bars: 95 % intervals" : "");
    PlotPoint *p = NEW(a, PlotPoint, t.count);
    size_t of = 0;
    TRY(arena_check(p, a, err));
    for (size_t k = 0; k < f->count; k++)
        for (size_t i = 0; i < f->line[k].count; i++)
            p[of++] = f->line[k].point[i];
    return figure_front(f, p, of, *f->o->y == 'a' ? -1 : 1, false, a, err);
}

const PlotKind plot_training[] = {
    {
        .name = "convergence",
        .brief = "tests as training goes on, from atomo-train run's CSV or JSON: --y accuracy, error or loss; "
                 "--x time (simulated time), step, bytes (sent by a worker) or wall; of "
                 "several runs of a codec the mean and its standard error; --last 0.25 shows the last quarter",
        .source = "atomo-train run writes with -o FILE.csv",
        .columns = columns,
        .against = against,
        .up = up,
        .make = convergence_make,
    },
    {
        .name = "budget",
        .brief = "the last test against the bytes sent by a worker, from the results of several runs: --y accuracy, error or loss",
        .source = "atomo-train run writes with -o FILE.csv",
        .columns = columns,
        .up = up,
        .make = budget_make,
    },
};
