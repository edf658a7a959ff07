/* plot_convergence.c -- the data of the convergence figure: the test accuracies of training runs, and the
 * steps, bytes and times before each test.
 *
 * In the data, a row whose step is not larger than the previous row's, or whose compressor is another, begins
 * a new run. Runs of one compressor with different seeds become one line: at each step the mean accuracy, its
 * standard error, and the least (`low`) and the greatest (`high`) accuracy. A row without a step is a target
 * accuracy. */
#include "report/plot.h"

#include <math.h>
#include <string.h>

static const PlotColumn columns[] = {
    {"step", PLOT_NEEDED | PLOT_NUMBER},
    {"sim_seconds", PLOT_NUMBER},
    {"wall_seconds", PLOT_NUMBER},
    {"bytes_sent", PLOT_NUMBER},
    {"test_accuracy", PLOT_NEEDED | PLOT_NUMBER},
    {"low", PLOT_NUMBER},
    {"high", PLOT_NUMBER},
    {"runs", PLOT_NUMBER},
    {"test_accuracy_se", PLOT_NUMBER},
    {"compressor", PLOT_NEEDED},
    {"bytes_up", PLOT_NUMBER | PLOT_READ},
    {0},
};
enum { STEP, SIM, WALL, SENT, ACCURACY, LOW, HIGH, RUNS, ACCURACY_SE, NAME, COLUMNS };
_Static_assert(COLUMNS == countof(columns) - 2, "a name for each column of a row");
static const char *const against[] = {"time", "step", "bytes", "wall", NULL};

/* ---- targets ---- */

static void put_target(Value **to, double accuracy)
{
    memset(*to, 0, COLUMNS * sizeof **to);
    (*to)[ACCURACY] = value_real(accuracy);
    *to += COLUMNS;
}

/* Writes a row for each target accuracy. A result of `atomo-train run` has the targets in names of columns; a
 * FIGURE.plot.csv has them in rows without a step. */
static void put_targets(const Csv *data, Value **to)
{
    static const char prefix[] = "steps_to_";
    double accuracy;
    for (size_t i = 0; i < data->columns; i++)
        if (!strncmp(data->name[i], prefix, sizeof prefix - 1) &&
            text_to_real(data->name[i] + sizeof prefix - 1, &accuracy))
            put_target(to, accuracy);
    for (size_t row = 0; row < data->rows; row++)
        if (!*csv_cell(data, row, "step") && csv_real(data, row, "test_accuracy") > 0)
            put_target(to, csv_real(data, row, "test_accuracy"));
}

/* ---- tests ---- */

typedef struct {
    const char *compressor;
    double step, sent;
} Run;

/* A row of `atomo-train run` has the bytes of one step; `run->sent` sums them over the steps of a run. */
static void follow(Run *run, const Csv *data, size_t row)
{
    const char *compressor = csv_cell(data, row, "compressor");
    const double step = csv_real(data, row, "step");
    if (!run->compressor || strcmp(run->compressor, compressor) != 0 || step <= run->step)
        run->sent = 0;
    run->compressor = compressor;
    run->step = step;
    run->sent += csv_real(data, row, "bytes_up");
}

static double otherwise(double v, double else_)
{
    return isnan(v) ? else_ : v;
}

static void put_test(Value *to, const Csv *data, size_t row, const Run *run, const char *name)
{
    const double accuracy = csv_real(data, row, "test_accuracy");
    to[STEP] = value_real(csv_real(data, row, "step"));
    to[SIM] = value_real(csv_real(data, row, "sim_seconds"));
    to[WALL] = value_real(csv_real(data, row, "wall_seconds"));
    to[SENT] = value_real(otherwise(csv_real(data, row, "bytes_sent"), run->sent));
    to[ACCURACY] = value_real(accuracy);
    to[LOW] = value_real(otherwise(csv_real(data, row, "low"), accuracy));
    to[HIGH] = value_real(otherwise(csv_real(data, row, "high"), accuracy));
    to[RUNS] = value_real(otherwise(csv_real(data, row, "runs"), 1));
    to[ACCURACY_SE] = value_real(csv_real(data, row, "test_accuracy_se"));
    to[NAME] = value_text(name);
}

static Status put_tests(const Csv *data, Value **to, Arena *a, Error *err)
{
    Run run = {0};
    for (size_t row = 0; row < data->rows; row++) {
        if (!strcmp(csv_cell(data, row, "record"), "summary") || isnan(csv_real(data, row, "step")))
            continue;
        follow(&run, data, row);
        if (isnan(csv_real(data, row, "test_accuracy")))
            continue;
        const char *name = plot_name(run.compressor, a);
        TRY(arena_check(name, a, err));
        put_test(*to, data, row, &run, name);
        *to += COLUMNS;
    }
    return OK;
}

/* ---- joining the runs of one compressor ---- */

static bool same_test(const Value *x, const Value *y)
{
    return !strcmp(x[NAME].text, y[NAME].text) && x[STEP].real == y[STEP].real;
}

/* Returns the sum of squared deviations of the runs' accuracies from their mean, computed from the standard
 * error. */
static double deviations(const Value *row)
{
    return row[RUNS].real > 1
               ? row[ACCURACY_SE].real * row[ACCURACY_SE].real * row[RUNS].real * (row[RUNS].real - 1)
               : 0;
}

/* Returns the standard error of the mean of `runs` accuracies from the sum of their squared deviations. */
static double error_of(double deviations, double runs)
{
    return sqrt(deviations / runs / (runs - 1));
}

static void add_run(Value *sum, const Value *more)
{
    const double apart = more[ACCURACY].real - sum[ACCURACY].real, runs = sum[RUNS].real + more[RUNS].real;
    const double squares =
        deviations(sum) + deviations(more) + apart * apart * sum[RUNS].real * more[RUNS].real / runs;
    const double before = sum[RUNS].real, share = more[RUNS].real / (before + more[RUNS].real);
    for (size_t k = SIM; k <= ACCURACY; k++)
        sum[k].real += share * (more[k].real - sum[k].real);
    sum[LOW].real = fmin(sum[LOW].real, more[LOW].real);
    sum[HIGH].real = fmax(sum[HIGH].real, more[HIGH].real);
    sum[RUNS].real = runs;
    sum[ACCURACY_SE].real = error_of(squares, runs);
}

/* Joins neighbouring rows of the same compressor and step (runs with different seeds) to one row. Returns the
 * number of rows left. */
static size_t join_runs(Value *rows, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        Value *row = rows + i * COLUMNS, *last = kept ? rows + (kept - 1) * COLUMNS : NULL;
        if (last && same_test(last, row))
            add_run(last, row);
        else
            memmove(rows + kept++ * COLUMNS, row, COLUMNS * sizeof *row);
    }
    return kept;
}

static Status pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    *rows = NEW(a, Value, (data->rows + data->columns) * COLUMNS);
    TRY(arena_check(*rows, a, err));
    Value *to = *rows;
    TRY(put_tests(data, &to, a, err));
    *count = (size_t)(to - *rows) / COLUMNS;
    if (*count == 0)
        return FAIL(err, ERR_CORRUPT, "no row has both step and test_accuracy");
    TRY(plot_sort(&plot_convergence, *rows, *count, NAME, STEP, a, err));
    *count = join_runs(*rows, *count);
    to = *rows + *count * COLUMNS;
    put_targets(data, &to);
    *count = (size_t)(to - *rows) / COLUMNS;
    return OK;
}

const PlotKind plot_convergence = {
    .name = "convergence",
    .brief = "test accuracy as training goes on, from atomo-train run's CSV or JSON; "
             "--x time (simulated time), step, bytes (sent by a worker) or wall; of "
             "several runs of a codec the mean, between the least and the most",
    .source = "atomo-train run writes with -o FILE.csv",
    .columns = columns,
    .against = against,
    .named = "compressor",
    .pick = pick,
};
