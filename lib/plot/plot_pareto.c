/* plot_pareto.c -- the data of the size-against-error figure: for each compressor a row over the whole selection,
 * with its series, whether it is unbiased, and whether it is on the Pareto front of unbiased or of biased
 * compressors. */
#include "compress/spec.h"
#include "num/pareto.h"
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const Column columns[] = {
    {"series", false},
    {"bits_per_element", false},
    {"relative_error", false},
    {"unbiased", false},
    {"pareto", false},
    {"compressor", false},
    {0},
};
enum { COLUMNS = countof(columns) - 1 };
static const char *const needs[] = {"compressor", "bits_per_element", "relative_error", NULL};
static const char *const numbers[] = {"bits_per_element", "relative_error", NULL};

typedef struct {
    const char *compressor, *series;
    double bits, error;
    size_t row; /* index of the row in the data */
    enum { UNKNOWN, BIASED, PROMISED } promise;
    bool front;
} Point;

/* Returns s with control characters replaced: gnuplot ends a row at a line end even within quotes. */
static char *one_line(const char *s, Arena *a)
{
    char *copy = text_copy(a, s);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c < 0x20)
            *c = '?';
    return copy;
}

/* True when the key sets the codec's rate, so that it varies along a line of the figure. */
static bool is_rate(const Param *keys, const Param *p)
{
    const Param *rate = param_rate(keys);
    return rate && (p == rate || (p->group && p->group == rate->group));
}

/* Appends the keys of a stage that differ from their defaults, without its rate: these keys distinguish the
 * stage's line in the figure from other lines. */
static void add_keys(TextBuf *out, const Codec *codec)
{
    const Param *keys = codec->ops->params;
    char value[32], before = ':';
    for (const Param *p = keys; p && p->key; p++)
        if (!is_rate(keys, p) && !param_is_default(p, codec->params)) {
            text_addf(out, "%c%s=%s", before, p->key, param_value(p, codec->params, value));
            before = ' ';
        }
}

/* Returns a spec without its rate: "ef:decay=0.9+qsgd:bits=2" is a point of the series "ef:decay=0.9+qsgd". */
static char *series_of(const char *spec, Arena *a)
{
    Error err;
    const Codec *codec;
    TextBuf out = {.arena = a};
    if (codec_open(&codec, spec, a, &err) != OK)
        return plot_name(spec, a);
    for (; codec; codec = codec_alone(codec) ? NULL : codec->inner) {
        text_add(&out, codec->ops->name);
        add_keys(&out, codec);
        text_add(&out, codec->inner && !codec_alone(codec) ? "+" : "");
    }
    return text_done(&out);
}

/* Returns whether the compressor is unbiased: from the data's field `unbiased`, or else from the codec's promises. */
static int promise_of(const Csv *data, size_t row, const char *spec, Arena *a)
{
    Error err;
    const Codec *codec;
    const char *said = csv_cell(data, row, "unbiased");
    if (!strcmp(said, "true"))
        return PROMISED;
    if (!strcmp(said, "false"))
        return BIASED;
    if (codec_open(&codec, spec, a, &err) != OK)
        return UNKNOWN;
    return codec_traits(codec) & UNBIASED ? PROMISED : BIASED;
}

static Status pick_points(const Csv *data, Point *point, size_t *count, Arena *a, Error *err)
{
    size_t *row, of;
    TRY(plot_selection(data, &row, &of, a, err));
    *count = 0;
    for (size_t i = 0; i < of; i++) {
        Point p = {.row = row[i],
                   .bits = csv_real(data, row[i], "bits_per_element"),
                   .error = csv_real(data, row[i], "relative_error")};
        if (!(p.bits > 0) || !(p.error >= 0) || isinf(p.bits) || isinf(p.error))
            continue;
        p.compressor = one_line(csv_cell(data, row[i], "compressor"), a);
        p.series = p.compressor ? series_of(p.compressor, a) : NULL;
        TRY(arena_check(p.series, a, err));
        p.promise = promise_of(data, row[i], p.compressor, a);
        point[(*count)++] = p;
    }
    return *count ? OK : FAIL(err, ERR_CORRUPT, "no row has both bits_per_element and relative_error");
}

/* Sets whether each point is on the Pareto front: from the data's field `pareto` (results of sweep have it), or
 * else computed from the points. */
static Status mark_front(const Csv *data, Point *point, size_t count, Arena *a, Error *err)
{
    ParetoPoint *p = NEW(a, ParetoPoint, count);
    TRY(arena_check(p, a, err));
    for (size_t i = 0; i < count; i++)
        p[i] = (ParetoPoint){point[i].bits, point[i].error, point[i].promise == BIASED, false};
    TRY(pareto_mark(p, count, a, err));
    for (size_t i = 0; i < count; i++) {
        const char *said = csv_cell(data, point[i].row, "pareto");
        point[i].front = *said ? !strcmp(said, "true") : p[i].front;
    }
    return OK;
}

static Status pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    Point *point = NEW(a, Point, data->rows);
    *rows = NEW(a, Value, data->rows * COLUMNS);
    TRY(arena_check(point && *rows, a, err));
    TRY(pick_points(data, point, count, a, err));
    TRY(mark_front(data, point, *count, a, err));
    for (size_t i = 0; i < *count; i++) {
        Value *row = *rows + i * COLUMNS;
        row[0] = value_text(point[i].series);
        row[1] = value_real(point[i].bits);
        row[2] = value_real(point[i].error);
        row[3] = point[i].promise == UNKNOWN ? value_none() : value_bool(point[i].promise == PROMISED);
        row[4] = value_bool(point[i].front);
        row[5] = value_text(point[i].compressor);
    }
    return plot_sort(&plot_pareto, *rows, *count, 0, 1, a, err);
}

const PlotKind plot_pareto = {
    .name = "pareto",
    .brief = "size in bits per element against relative error, from sweep's or compare's\n"
             "CSV or JSON; with the fronts of unbiased and of biased codecs, and with what\n"
             "b bits leave of the worst gradient: 4^-b, unbiased 1 / (4^b - 1)",
    .source = "atomo-bench sweep or compare writes with -o FILE.csv",
    .needs = needs,
    .columns = columns,
    .numbers = numbers,
    .pick = pick,
};
