/* plot_errors.c -- the data of the error figure: of each compressor over the whole selection the error of an element
 * beside its size, of all, of the largest and the other ones, and of those that come out too low and too high. */
#include "plot/plot.h"

static const Column columns[] = {
    {"elem_error", false},
    {"elem_error_big", false},
    {"elem_error_small", false},
    {"elem_error_pos", false},
    {"elem_error_neg", false},
    {"compressor", false},
    {0},
};
enum { NAME = countof(columns) - 2 };
static const char *const needs[] = {
    "compressor",     "elem_error", "elem_error_big", "elem_error_small", "elem_error_pos",
    "elem_error_neg", NULL};
static const char *const numbers[] = {"elem_error",     "elem_error_big", "elem_error_small",
                                      "elem_error_pos", "elem_error_neg", NULL};

static bool has_any(const Value *row)
{
    for (size_t k = 0; k < NAME; k++)
        if (row[k].real >= 0)
            return true;
    return false;
}

static Status pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    TRY(plot_pick(&plot_errors, data, has_any, rows, count, a, err));
    return *count ? OK : FAIL(err, ERR_CORRUPT, "no row has an elem_error");
}

const PlotKind plot_errors = {
    .name = "errors",
    .brief = "error of elements beside their size, from compare's CSV or JSON: of all, of\n"
             "big and of small ones, of those that come out too low and too high",
    .source = "atomo-bench compare writes with -o FILE.csv",
    .needs = needs,
    .columns = columns,
    .numbers = numbers,
    .pick = pick,
};
