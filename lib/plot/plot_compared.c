/* plot_compared.c -- the data of the figures `errors` (each compressor's errors of single elements) and
 * `merge` (times for each compressor and number of workers), copied from a result with their standard
 * errors. */
#include "plot/plot.h"

/* ---- errors ---- */

static const Column errors_columns[] = {
    {"elem_error", false},        {"elem_error_big", false},      {"elem_error_small", false},
    {"elem_error_pos", false},    {"elem_error_neg", false},      {"elem_error_se", false},
    {"elem_error_big_se", false}, {"elem_error_small_se", false}, {"elem_error_pos_se", false},
    {"elem_error_neg_se", false}, {"compressor", false},          {0},
};
enum { ELEM_ERRORS = 5 }; /* the number of columns of errors, which come first */
static const char *const errors_needs[] = {
    "compressor",     "elem_error", "elem_error_big", "elem_error_small", "elem_error_pos",
    "elem_error_neg", NULL};
static const char *const errors_numbers[] = {"elem_error",
                                             "elem_error_big",
                                             "elem_error_small",
                                             "elem_error_pos",
                                             "elem_error_neg",
                                             "elem_error_se",
                                             "elem_error_big_se",
                                             "elem_error_small_se",
                                             "elem_error_pos_se",
                                             "elem_error_neg_se",
                                             NULL};

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
    .brief = "error of elements beside their size, from compare's CSV or JSON: of all, of\n"
             "big and of small ones, of those that come out too low and too high",
    .source = "atomo-bench compare writes with -o FILE.csv",
    .needs = errors_needs,
    .columns = errors_columns,
    .numbers = errors_numbers,
    .named = "compressor",
    .pick = errors_pick,
};

/* ---- merge ---- */

enum { WORKERS, MERGE, DECODE, DECODE_EACH, MERGE_SE, DECODE_SE, DECODE_EACH_SE, NAME };
static const Column merge_columns[] = {
    [WORKERS] = {"workers", false},
    [MERGE] = {"merge_ms", false},
    [DECODE] = {"decode_ms", false},
    [DECODE_EACH] = {"decode_each_ms", false},
    [MERGE_SE] = {"merge_ms_se", false},
    [DECODE_SE] = {"decode_ms_se", false},
    [DECODE_EACH_SE] = {"decode_each_ms_se", false},
    [NAME] = {"compressor", false},
    [NAME + 1] = {0},
};
static const char *const merge_needs[] = {"compressor", "workers",        "merge_ms",
                                          "decode_ms",  "decode_each_ms", NULL};
static const char *const merge_numbers[] = {"workers",           "merge_ms",    "decode_ms",
                                            "decode_each_ms",    "merge_ms_se", "decode_ms_se",
                                            "decode_each_ms_se", NULL};

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
    .brief = "how long aggregating takes, from merge's CSV or JSON: payloads merged and\n"
             "decoded once, and every one decoded, against the number of workers",
    .source = "atomo-bench merge writes with -o FILE.csv",
    .needs = merge_needs,
    .columns = merge_columns,
    .numbers = merge_numbers,
    .named = "compressor",
    .pick = merge_pick,
};
