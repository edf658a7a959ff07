/* plot_merge.c -- the data of the merge figure: one row per compressor and number of workers over the whole selection,
 * each compressor's from few workers to many. */
#include "plot/plot.h"

enum { WORKERS, MERGE, DECODE, DECODE_EACH, NAME };
static const Column columns[] = {
    [WORKERS] = {"workers", false},  [MERGE] = {"merge_ms", false},
    [DECODE] = {"decode_ms", false}, [DECODE_EACH] = {"decode_each_ms", false},
    [NAME] = {"compressor", false},  [NAME + 1] = {0},
};
static const char *const needs[] = {"compressor", "workers", "merge_ms", "decode_ms", "decode_each_ms", NULL};
static const char *const numbers[] = {"workers", "merge_ms", "decode_ms", "decode_each_ms", NULL};

static bool has_both(const Value *row)
{
    return row[WORKERS].real > 0 && row[DECODE_EACH].real > 0;
}

static Status pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    TRY(plot_pick(&plot_merge, data, has_both, rows, count, a, err));
    if (*count == 0)
        return FAIL(err, ERR_CORRUPT, "no row has both workers and decode_each_ms");
    return plot_sort(&plot_merge, *rows, *count, NAME, WORKERS, a, err);
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
