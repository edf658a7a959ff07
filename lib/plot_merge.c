/* plot_merge.c -- the data of the merge figure: one row per compressor and number of workers over the whole selection,
 * each compressor's from few workers to many. */
#include "plot.h"

#include <math.h>

static const Column columns[] = {
    {"workers", NULL, 0},        {"merge_ms", NULL, 0},   {"decode_ms", NULL, 0},
    {"decode_each_ms", NULL, 0}, {"compressor", NULL, 0}, {0},
};
enum { COLUMNS = countof(columns) - 1, NAME = COLUMNS - 1 };
static const char *const needs[] = {"compressor", "workers", "merge_ms", "decode_ms", "decode_each_ms", NULL};
static const char *const numbers[] = {"workers", "merge_ms", "decode_ms", "decode_each_ms", NULL};

static Status pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    size_t *row, of;
    TRY(plot_selection(data, &row, &of, a, err));
    *rows = NEW(a, Value, of * COLUMNS);
    if (!*rows)
        return arena_fail(a, err);
    Value *to = *rows;
    for (size_t i = 0; i < of; i++) {
        if (!(csv_real(data, row[i], "workers") > 0) || !(csv_real(data, row[i], "decode_each_ms") > 0))
            continue;
        for (size_t k = 0; k < NAME; k++) /* none where there is no number */
            to[k] = value_real(csv_real(data, row[i], columns[k].name));
        to[NAME] = value_text(plot_name(csv_cell(data, row[i], "compressor"), a));
        if (!to[NAME].text)
            return arena_fail(a, err);
        to += COLUMNS;
    }
    *count = (size_t)(to - *rows) / COLUMNS;
    if (*count == 0)
        return FAIL(err, ERR_CORRUPT, "no row has both workers and decode_each_ms");
    return plot_sort(&plot_merge, *rows, *count, NAME, 0, a, err);
}

const PlotKind plot_merge = {
    .name = "merge",
    .brief = "how long aggregating takes, from merge's CSV or JSON: payloads merged and\n"
             "decoded once, and every one decoded, against the number of workers",
    .source = "atomo-bench merge writes with -o FILE.csv",
    .needs = needs,
    .columns = columns,
    .numbers = numbers,
    .pick = pick,
};
