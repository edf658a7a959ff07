/* plot_merge.c -- the data of the merge figure: one row per compressor and number of workers over the whole selection,
 * each compressor's from few workers to many. */
#include "plot.h"

#include <math.h>
#include <string.h>

/* The compressor comes last: gnuplot loses count of columns at a doubled quote. */
const Column merge_plot_columns[MERGE_PLOT_COLUMNS] = {
    {"workers", NULL, 0},        {"merge_ms", NULL, 0},   {"decode_ms", NULL, 0},
    {"decode_each_ms", NULL, 0}, {"compressor", NULL, 0},
};

typedef struct {
    const char *compressor;
    size_t row; /* of the data */
    double workers;
} Point;

static bool some_row(const Csv *data, const char *column)
{
    for (size_t i = 0; i < data->rows; i++)
        if (!strcmp(csv_cell(data, i, column), "*"))
            return true;
    return false;
}

static Status pick_points(const Csv *data, Point *point, size_t *count, Arena *a, Error *err)
{
    const bool whole = some_row(data, "tensor"), all_steps = some_row(data, "step");
    *count = 0;
    for (size_t i = 0; i < data->rows; i++) {
        const double workers = csv_real(data, i, "workers");
        if ((whole && strcmp(csv_cell(data, i, "tensor"), "*") != 0) ||
            (all_steps && strcmp(csv_cell(data, i, "step"), "*") != 0) || !(workers > 0) ||
            !(csv_real(data, i, "decode_each_ms") > 0))
            continue;
        const char *name = plot_name(csv_cell(data, i, "compressor"), a);
        if (!name)
            return arena_fail(a, err);
        point[(*count)++] = (Point){name, i, workers};
    }
    return *count ? OK : FAIL(err, ERR_CORRUPT, "no row has both workers and decode_each_ms");
}

/* By insertion behind the last of its compressor that has no more workers; compressors keep their order. */
static void sort_points(Point *point, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const Point p = point[i];
        size_t at = i, end = i;
        while (end > 0 && strcmp(point[end - 1].compressor, p.compressor) != 0)
            end--;
        if (end == 0)
            continue;
        while (end > 0 && !strcmp(point[end - 1].compressor, p.compressor) &&
               point[end - 1].workers > p.workers)
            end--;
        for (; at > end; at--)
            point[at] = point[at - 1];
        point[end] = p;
    }
}

static Value number(const Csv *data, size_t row, const char *column)
{
    return value_real(csv_real(data, row, column)); /* none where there is no number */
}

Status merge_plot_rows(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    for (size_t i = 0; i < MERGE_PLOT_COLUMNS; i++)
        if (!csv_has(data, merge_plot_columns[i].name)) {
            FAIL(err, ERR_CORRUPT, "it has no column \"%s\"", merge_plot_columns[i].name);
            return error_hint(err, "merge draws what atomo-bench merge writes with -o FILE.csv");
        }
    Point *point = NEW(a, Point, data->rows);
    *rows = NEW(a, Value, data->rows * MERGE_PLOT_COLUMNS);
    if (!point || !*rows)
        return arena_fail(a, err);
    TRY(pick_points(data, point, count, a, err));
    sort_points(point, *count);
    for (size_t i = 0; i < *count; i++) {
        Value *row = *rows + i * MERGE_PLOT_COLUMNS;
        for (size_t k = 0; k + 1 < MERGE_PLOT_COLUMNS; k++)
            row[k] = number(data, point[i].row, merge_plot_columns[k].name);
        row[MERGE_PLOT_COLUMNS - 1] = value_text(point[i].compressor);
    }
    return OK;
}
