/* plot_pareto.c -- the data of the figure of size against error. A row has the results of one compressor over
 * all selected vectors: its series, whether it is unbiased, and whether it is on the Pareto front. Unbiased
 * and biased compressors have separate fronts. */
#include "compress/spec.h"
#include "math/pareto.h"
#include "math/stats.h"
#include "report/plot.h"
#include "report/plot_look.h"
#include "report/plot_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const PlotColumn columns[] = {
    {"series", 0},
    {"bits_per_element", PLOT_NEEDED | PLOT_NUMBER},
    {"encode_ms", PLOT_NUMBER},
    {"decode_ms", PLOT_NUMBER},
    {"relative_error", PLOT_NEEDED | PLOT_NUMBER},
    {"relative_error_se", PLOT_NUMBER},
    {"unbiased", 0},
    {"pareto", 0},
    {"pareto_time", 0},
    {"rate", 0},
    {"beyond", 0},
    {"compressor", PLOT_NEEDED},
    {0},
};
enum { SERIES, BITS, COLUMNS = countof(columns) - 1 };
static const char *const against[] = {"bits", "time", NULL};

typedef enum { UNKNOWN, BIASED, PROMISED } Promised;

typedef struct {
    const char *compressor, *series, *rate;
    double bits, encode, decode, error, se; /* NaN: the data have no such value */
    size_t row;                             /* index of the row in the data */
    Promised promise;
    bool front, front_time,
        beyond; /* `beyond`: the error is an outlier, beyond an end of the figure's axis */
} Point;

/* Opens a spec, as plot_name writes it, once for all of its rows: sets its compressor, series, rate and promise. */
static Status open_spec(Point *p, const char *compressor, Arena *a, Error *err)
{
    Error ignored;
    const Codec *codec;
    TRY(arena_check(compressor, a, err));
    const char *spec = plot_plain(compressor, a), *series = spec ? plot_series(spec, &p->rate, a) : NULL;
    p->compressor = compressor;
    p->series = series ? plot_name(series, a) : NULL;
    TRY(arena_check(p->series && p->rate, a, err));
    p->promise = codec_open(&codec, spec, a, &ignored) != OK ? UNKNOWN
                 : codec_traits(codec) & UNBIASED            ? PROMISED
                                                             : BIASED;
    return OK;
}

/* Returns whether the compressor is unbiased: by the data's field `unbiased`, else by the codec. */
static Promised promise_of(const Csv *data, size_t row, Promised of_codec)
{
    const char *said = csv_cell(data, row, "unbiased");
    return !strcmp(said, "true") ? PROMISED : !strcmp(said, "false") ? BIASED : of_codec;
}

/* Returns the field's expected value if the data have it, else its mean over repeats. Sets *se to the
 * standard error of the returned value. */
static double best_known(const Csv *data, size_t row, const char *field, double *se)
{
    char name[64];
    snprintf(name, sizeof name, "%s_expected", field);
    const double v = csv_real(data, row, name);
    snprintf(name, sizeof name, isnan(v) ? "%s_se" : "%s_expected_se", field);
    *se = csv_real(data, row, name);
    if (isnan(v))
        return csv_real(data, row, field);
    *se = isnan(*se) ? 0 : *se;
    return v;
}

static Status pick_points(const Csv *data, Point *point, size_t *count, Arena *a, Error *err)
{
    size_t *row, of;
    Names names;
    TRY(plot_selection(data, &row, &of, a, err));
    Point *known = NEW(a, Point, of);
    TRY(arena_check(known, a, err));
    TRY(names_open(&names, of, a, err));
    *count = 0;
    for (size_t i = 0; i < of; i++) {
        double bits_se, se;
        const double bits = best_known(data, row[i], "bits_per_element", &bits_se),
                     error = best_known(data, row[i], "relative_error", &se);
        if (!(bits > 0) || !(error >= 0) || isinf(bits) || isinf(error))
            continue;
        const char *cell = csv_cell(data, row[i], "compressor"), *varied = csv_cell(data, row[i], "rate");
        const size_t before = names.count, k = names_number(&names, cell);
        if (k == before)
            TRY(open_spec(&known[k], plot_name(cell, a), a, err));
        Point *p = &point[(*count)++];
        *p = known[k];
        p->row = row[i];
        p->encode = csv_real(data, row[i], "encode_ms");
        p->decode = csv_real(data, row[i], "decode_ms");
        p->bits = bits;
        p->error = error;
        p->se = se;
        p->promise = promise_of(data, row[i], known[k].promise);
        p->rate = *varied ? plot_name(varied, a) : p->rate;
        TRY(arena_check(p->rate, a, err));
    }
    return *count ? OK : FAIL(err, ERR_CORRUPT, "no row has both bits_per_element and relative_error");
}

/* Sets whether each point is on the Pareto front: by the data's field `pareto`, which results of sweep have,
 * else by computing the front. */
static Status mark_front(const Csv *data, Point *point, size_t count, Arena *a, Error *err)
{
    ParetoPoint *p = NEW(a, ParetoPoint, count);
    TRY(arena_check(p, a, err));
    for (size_t i = 0; i < count; i++)
        p[i] =
            (ParetoPoint){.size = point[i].bits, .error = point[i].error, .kind = point[i].promise == BIASED};
    TRY(pareto_mark_exact(p, count, a, err));
    for (size_t i = 0; i < count; i++) {
        const char *said = csv_cell(data, point[i].row, "pareto");
        point[i].front = *said ? !strcmp(said, "true") : p[i].front;
    }
    return OK;
}

/* Sets whether each point is on the Pareto front of time (encoding plus decoding) and error. Points known to
 * be biased have one front, all other points another. Points without times are on no front. */
static Status mark_time_front(Point *point, size_t count, Arena *a, Error *err)
{
    ParetoPoint *p = NEW(a, ParetoPoint, count);
    size_t timed = 0;
    TRY(arena_check(p, a, err));
    for (size_t i = 0; i < count; i++)
        if (point[i].encode + point[i].decode > 0)
            p[timed++] = (ParetoPoint){.size = point[i].encode + point[i].decode,
                                       .error = point[i].error,
                                       .kind = point[i].promise == BIASED};
    TRY(pareto_mark_exact(p, timed, a, err));
    timed = 0;
    for (size_t i = 0; i < count; i++)
        point[i].front_time = point[i].encode + point[i].decode > 0 && p[timed++].front;
    return OK;
}

/* High outliers are at most the quarter of the points with the largest errors. The least error of a high outlier is
 * more than HIGH times the next smaller error. Low outliers are at most the quarter with the smallest errors; errors of
 * 0 are none. The largest error of a low outlier is less than 1 / LOW of the next larger. An axis with low outliers
 * would be mostly empty: LOW is three decades. Fewer than four points have no outliers. */
enum { HIGH = 30, LOW = 1000 };

static Status mark_beyond(Point *point, size_t count, Arena *a, Error *err)
{
    double *error = NEW(a, double, count), high = INFINITY, low = 0;
    const size_t quarter = count / 4;
    TRY(arena_check(error, a, err));
    for (size_t i = 0; i < count; i++)
        error[i] = point[i].error;
    stats_sort(error, count);
    for (size_t i = count - quarter; quarter && i < count && isinf(high); i++)
        if (error[i - 1] > 0 && error[i] > HIGH * error[i - 1])
            high = error[i];
    for (size_t i = quarter; i > 0 && low == 0; i--)
        if (LOW * error[i - 1] < error[i])
            low = error[i - 1];
    for (size_t i = 0; i < count; i++)
        point[i].beyond = point[i].error >= high || (point[i].error > 0 && point[i].error <= low);
    return OK;
}

static void put_point(Value *row, const Point *p)
{
    const Value values[] = {
        value_text(p->series),
        value_real(p->bits),
        value_real(p->encode),
        value_real(p->decode),
        value_real(p->error),
        value_real(p->se),
        p->promise == UNKNOWN ? value_none() : value_bool(p->promise == PROMISED),
        value_bool(p->front),
        value_bool(p->front_time),
        value_text(p->rate),
        value_bool(p->beyond),
        value_text(p->compressor),
    };
    _Static_assert(countof(values) == COLUMNS, "a value for each column");
    memcpy(row, values, sizeof values);
}

static Status pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    Point *point = NEW(a, Point, data->rows);
    *rows = NEW(a, Value, data->rows * COLUMNS);
    TRY(arena_check(point && *rows, a, err));
    TRY(pick_points(data, point, count, a, err));
    TRY(mark_front(data, point, *count, a, err));
    TRY(mark_time_front(point, *count, a, err));
    TRY(mark_beyond(point, *count, a, err));
    for (size_t i = 0; i < *count; i++)
        put_point(*rows + i * COLUMNS, &point[i]);
    return plot_sort(&plot_pareto, *rows, *count, SERIES, BITS, a, err);
}

const PlotKind plot_pareto = {
    .name = "pareto",
    .brief = "size in bits per element against relative error, from sweep's or compare's "
             "CSV or JSON, or with --x time the time to encode and decode; with the fronts "
             "of unbiased and of biased codecs, and with the error at b bits on Gaussian "
             "data, 4^-b, unbiased 1 / (4^b - 1), which is no bound for other data",
    .source = "atomo-bench sweep or compare writes with -o FILE.csv",
    .of_gradients = "sweep",
    .columns = columns,
    .against = against,
    .named = "series",
    .pick = pick,
};
