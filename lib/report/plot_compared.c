/* plot_compared.c -- the data of the figures `errors` (each compressor's errors of single elements) and
 * `merge` (times for each compressor and number of workers), copied from a result with their standard
 * errors. */
#include "report/plot.h"

/* ---- errors ---- */

static const PlotColumn errors_columns[] = {
    {"elem_error", PLOT_NEEDED | PLOT_NUMBER},
    {"elem_error_big", PLOT_NEEDED | PLOT_NUMBER},
    {"elem_error_small", PLOT_NEEDED | PLOT_NUMBER},
    {"elem_error_pos", PLOT_NEEDED | PLOT_NUMBER},
    {"elem_error_neg", PLOT_NEEDED | PLOT_NUMBER},
    {"elem_error_se", PLOT_NUMBER},
    {"elem_error_big_se", PLOT_NUMBER},
    {"elem_error_small_se", PLOT_NUMBER},
    {"elem_error_pos_se", PLOT_NUMBER},
    {"elem_error_neg_se", PLOT_NUMBER},
    {"compressor", PLOT_NEEDED},
    {0},
};
enum { ELEM_ERRORS = 5 }; /* the number of columns of errors, which come first */

static bool has_any(const Value *row)
{
    for (size_t k = 0; k < ELEM_ERRORS; k++)
        if (row[k].real >= 0)
            return true;
    return false;
}

static Status errors_pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    TRY(plot_pick(&plot_errors, data, has_any, rows, count, a, err));
    return *count ? OK : FAIL(err, ERR_CORRUPT, "no row has an elem_error");
}

const PlotKind plot_errors = {
    .name = "errors",
    .brief = "error of elements beside their size, from compare's CSV or JSON: of all, of "
             "big and of small ones, of those that come out too low and too high",
    .source = "atomo-bench compare writes with -o FILE.csv",
    .of_gradients = "compare",
    .columns = errors_columns,
    .named = "compressor",
    .pick = errors_pick,
};

/* ---- merge ---- */

static const PlotColumn merge_columns[] = {
    {"workers", PLOT_NEEDED | PLOT_NUMBER},
    {"merge_ms", PLOT_NEEDED | PLOT_NUMBER},
    {"decode_ms", PLOT_NEEDED | PLOT_NUMBER},
    {"decode_each_ms", PLOT_NEEDED | PLOT_NUMBER},
    {"merge_ms_se", PLOT_NUMBER},
    {"decode_ms_se", PLOT_NUMBER},
    {"decode_each_ms_se", PLOT_NUMBER},
    {"compressor", PLOT_NEEDED},
    {0},
};
enum { WORKERS = 0, DECODE_EACH = 3, NAME = 7 }; /* indices of columns */

static bool has_both(const Value *row)
{
    return row[WORKERS].real > 0 && row[DECODE_EACH].real > 0;
}

static Status merge_pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    TRY(plot_pick(&plot_merge, data, has_both, rows, count, a, err));
    if (*count == 0)
        return FAIL(err, ERR_CORRUPT, "no row has both workers and decode_each_ms");
    return plot_sort(&plot_merge, *rows, *count, NAME, WORKERS, a, err);
}

const PlotKind plot_merge = {
    .name = "merge",
    .brief = "how long aggregating takes, from merge's CSV or JSON: payloads merged and "
             "decoded once, and every one decoded, against the number of workers",
    .source = "atomo-bench merge writes with -o FILE.csv",
    .of_gradients = "merge",
    .columns = merge_columns,
    .named = "compressor",
    .pick = merge_pick,
};
