/* plot_pareto.c -- the data of the size-against-error figure: one row per compressor over the whole
 * selection, its series, whether it is unbiased, and whether it stands on the Pareto front among its like. */
#include "compressor.h"
#include "pareto.h"
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The compressor comes last: gnuplot loses count of columns at a doubled quote. */
const Column pareto_columns[PARETO_COLUMNS] = {
    {"series", NULL, 0},   {"bits_per_element", NULL, 0}, {"relative_error", NULL, 0},
    {"unbiased", NULL, 0}, {"pareto", NULL, 0},           {"compressor", NULL, 0},
};

typedef struct {
    const char *compressor, *series;
    double bits, error;
    size_t row; /* of the data */
    enum { UNKNOWN, BIASED, PROMISED } promise;
    bool front;
} Point;

/* A line end inside quotes would be the end of the row to gnuplot. */
static char *one_line(const char *s, Arena *a)
{
    char *copy = text_copy(a, s);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c < 0x20)
            *c = '?';
    return copy;
}

/* Whether the key turns size into error: along a line that is what changes. */
static bool is_rate(const Param *keys, const Param *p)
{
    const Param *rate = param_rate(keys);
    return rate && (p == rate || (p->group && p->group == rate->group));
}

/* The keys of a stage that tell its line from another's. */
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

/* A spec without its rate: "ef:decay=0.9+qsgd:bits=2" is a point of "ef:decay=0.9+qsgd". */
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

/* What the data says, else what the codec promises. */
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

static bool cell_is(const Csv *data, size_t row, const char *column, const char *text)
{
    return !strcmp(csv_cell(data, row, column), text);
}

static bool any_is(const Csv *data, const char *column, const char *text)
{
    for (size_t i = 0; i < data->rows; i++)
        if (cell_is(data, i, column, text))
            return true;
    return false;
}

/* The rows over the whole selection, where there are such. */
static size_t pick_points(const Csv *data, Point *point, Arena *a)
{
    const bool whole = any_is(data, "tensor", "*"), steps = any_is(data, "step", "*");
    size_t count = 0;
    for (size_t i = 0; i < data->rows; i++) {
        if ((whole && !cell_is(data, i, "tensor", "*")) || (steps && !cell_is(data, i, "step", "*")))
            continue;
        Point p = {.row = i,
                   .bits = csv_real(data, i, "bits_per_element"),
                   .error = csv_real(data, i, "relative_error")};
        if (!(p.bits > 0) || !(p.error >= 0) || isinf(p.bits) || isinf(p.error))
            continue;
        p.compressor = one_line(csv_cell(data, i, "compressor"), a);
        p.series = p.compressor ? series_of(p.compressor, a) : NULL;
        if (!p.series)
            return 0;
        p.promise = promise_of(data, i, p.compressor, a);
        point[count++] = p;
    }
    return count;
}

/* What the data says (a sweep), else what the points themselves do. */
static Status mark_front(const Csv *data, Point *point, size_t count, Arena *a, Error *err)
{
    ParetoPoint *p = NEW(a, ParetoPoint, count);
    if (!p)
        return arena_fail(a, err);
    for (size_t i = 0; i < count; i++)
        p[i] = (ParetoPoint){point[i].bits, point[i].error, point[i].promise == BIASED, false};
    pareto_mark(p, count);
    for (size_t i = 0; i < count; i++) {
        const char *said = csv_cell(data, point[i].row, "pareto");
        point[i].front = *said ? !strcmp(said, "true") : p[i].front;
    }
    return OK;
}

/* Series in order of appearance, each from small to large, so that its line runs one way. */
static void sort_points(Point *point, size_t count)
{
    size_t start = 0;
    while (start < count) {
        size_t end = start + 1;
        for (size_t i = end; i < count; i++)
            if (!strcmp(point[i].series, point[start].series)) { /* moves in behind its like */
                const Point moved = point[i];
                memmove(point + end + 1, point + end, (i - end) * sizeof *point);
                point[end++] = moved;
            }
        for (size_t i = start + 1; i < end; i++)
            for (size_t j = i; j > start && point[j].bits < point[j - 1].bits; j--) {
                const Point swapped = point[j];
                point[j] = point[j - 1];
                point[j - 1] = swapped;
            }
        start = end;
    }
}

Status pareto_rows(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    static const char *const needed[] = {"compressor", "bits_per_element", "relative_error"};
    for (size_t i = 0; i < countof(needed); i++)
        if (!csv_has(data, needed[i])) {
            FAIL(err, ERR_CORRUPT, "it has no column \"%s\"", needed[i]);
            return error_hint(err, "pareto draws what atomo-bench sweep or compare writes with -o FILE.csv");
        }
    Point *point = NEW(a, Point, data->rows);
    *rows = NEW(a, Value, data->rows * PARETO_COLUMNS);
    if (!point || !*rows)
        return arena_fail(a, err);
    *count = pick_points(data, point, a);
    if (*count == 0)
        return FAIL(err, ERR_CORRUPT, "no row has both bits_per_element and relative_error");
    sort_points(point, *count);
    TRY(mark_front(data, point, *count, a, err));
    for (size_t i = 0; i < *count; i++) {
        Value *row = *rows + i * PARETO_COLUMNS;
        row[0] = value_text(point[i].series);
        row[1] = value_real(point[i].bits);
        row[2] = value_real(point[i].error);
        row[3] = point[i].promise == UNKNOWN ? value_none() : value_bool(point[i].promise == PROMISED);
        row[4] = value_bool(point[i].front);
        row[5] = value_text(point[i].compressor);
    }
    return OK;
}
