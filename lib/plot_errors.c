/* plot_errors.c -- the data of the error figure: of each compressor over the whole selection the error of an element
 * beside its size, of all, of the largest and the other ones, and of those that come out too low and too high. */
#include "plot.h"

#include <math.h>

static const Column columns[] = {
    {"elem_error", NULL, 0},
    {"elem_error_big", NULL, 0},
    {"elem_error_small", NULL, 0},
    {"elem_error_pos", NULL, 0},
    {"elem_error_neg", NULL, 0},
    {"compressor", NULL, 0},
    {0},
};
enum { COLUMNS = countof(columns) - 1, NAME = COLUMNS - 1 };
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
    size_t *row, of;
    TRY(plot_selection(data, &row, &of, a, err));
    *rows = NEW(a, Value, of * COLUMNS);
    if (!*rows)
        return arena_fail(a, err);
    Value *to = *rows;
    for (size_t i = 0; i < of; i++) {
        for (size_t k = 0; k < NAME; k++)
            to[k] = value_real(csv_real(data, row[i], columns[k].name));
        to[NAME] = value_text(plot_name(csv_cell(data, row[i], "compressor"), a));
        if (!to[NAME].text)
            return arena_fail(a, err);
        to += has_any(to) ? COLUMNS : 0;
    }
    *count = (size_t)(to - *rows) / COLUMNS;
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
