/* plot_cost.c -- the data of the figures iteration_time, runtime and break_even: a row for each compressor,
 * number of workers, topology and link. The rows of a compressor are sorted by the number of workers. */
#include "report/plot.h"
#include "report/plot_measured.h"
#include "report/plot_names.h"

#include <math.h>
#include <string.h>

/* `limit`: the use of the columns that only break-even needs, and that runs of atomo-train lack */
#define COST_COLUMNS(limit)                                                                                  \
    {                                                                                                        \
        {"workers", PLOT_NEEDED | PLOT_NUMBER}, {"compute_ms", PLOT_NEEDED | PLOT_NUMBER},                   \
            {"encode_ms", PLOT_NEEDED | PLOT_NUMBER}, {"comm_ms", PLOT_NEEDED | PLOT_NUMBER},                \
            {"decode_ms", PLOT_NEEDED | PLOT_NUMBER}, {"total_ms", PLOT_NEEDED | PLOT_NUMBER},               \
            {"bytes_up", PLOT_NEEDED | PLOT_NUMBER}, {"beta_gbps", PLOT_NUMBER}, {"alpha_ms", PLOT_NUMBER},  \
            {"break_even_gbps", (limit) | PLOT_NUMBER}, {"total_ms_se", PLOT_NUMBER},                        \
            {"break_even_gbps_se", PLOT_NUMBER}, {"measured_ms", PLOT_NUMBER}, {"pays", limit},              \
            {"compressor", PLOT_NEEDED},                                                                     \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }

static const PlotColumn columns[] = COST_COLUMNS(0), with_limits[] = COST_COLUMNS(PLOT_NEEDED);
enum { COLUMNS = countof(columns) - 1, NAME = COLUMNS - 1, PAYS = NAME - 1 };

/* Sets *out to whether two rows with equal compressor, number of workers and link differ in `column`, which may be the
 * link. */
static Status several(bool *out, const Csv *data, const char *column, Arena *a, Error *err)
{
    const bool link = !strcmp(column, "link");
    Names seen;
    size_t *first = NEW(a, size_t, data->rows);
    TRY(arena_check(first, a, err));
    TRY(names_open(&seen, data->rows, a, err));
    *out = false;
    for (size_t i = 0; i < data->rows && !*out; i++) {
        const char *text = text_format(a, "%s\n%s\n%s", csv_cell(data, i, "compressor"),
                                       csv_cell(data, i, "workers"), link ? "" : csv_cell(data, i, "link"));
        TRY(arena_check(text, a, err));
        const size_t before = seen.count, k = names_number(&seen, text);
        if (k == before)
            first[k] = i;
        *out = strcmp(csv_cell(data, i, column), csv_cell(data, first[k], column)) != 0;
    }
    return OK;
}

static const char *name_of(const Csv *data, size_t row, bool topologies, bool link, Arena *a)
{
    const char *name = text_format(a, "%s%s%s%s%s", csv_cell(data, row, "compressor"), topologies ? " " : "",
                                   topologies ? csv_cell(data, row, "topology") : "", link ? " " : "",
                                   link ? csv_cell(data, row, "link") : "");
    return name ? plot_name(name, a) : NULL;
}

static Status pick(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    bool topologies, link; /* `link` is "" in a FIGURE.plot.csv */
    TRY(several(&topologies, data, "topology", a, err));
    TRY(several(&link, data, "link", a, err));
    Value *to = *rows = NEW(a, Value, data->rows * COLUMNS);
    TRY(arena_check(to, a, err));
    for (size_t i = 0; i < data->rows; i++) {
        if (!(csv_real(data, i, "workers") > 0) || !(csv_real(data, i, "total_ms") > 0))
            continue;
        for (size_t k = 0; k < PAYS; k++)
            to[k] = value_real(csv_real(data, i, columns[k].name));
        to[PAYS] = value_text(plot_name(csv_cell(data, i, "pays"), a));
        to[NAME] = value_text(name_of(data, i, topologies, link, a));
        TRY(arena_check(to[PAYS].text && to[NAME].text, a, err));
        to += COLUMNS;
    }
    *count = (size_t)(to - *rows) / COLUMNS;
    if (*count == 0)
        return FAIL(err, ERR_CORRUPT, "no row has both workers and total_ms");
    return plot_sort(&plot_iteration_time, *rows, *count, NAME, 0, a, err);
}

#define COST_DATA .named = "compressor", .pick = pick

const PlotKind plot_iteration_time = {
    .name = "iteration-time",
    .brief = "what an iteration takes, from cost's CSV or JSON: compute, encode, "
             "communicate and decode as stacked bars, for each number of workers; "
             "with that of atomo-train run on several ranks also the measured time",
    .source = "atomo-bench cost, or atomo-train run on several ranks, writes with -o FILE.csv",
    .of_gradients = "cost",
    .columns = columns,
    .join = plot_measured,
    COST_DATA,
};

const PlotKind plot_runtime = {
    .name = "runtime",
    .brief = "the same parts for the most workers that the data have, beside the size "
             "of a worker's payload",
    .source = "atomo-bench cost, or atomo-train run on several ranks, writes with -o FILE.csv",
    .of_gradients = "cost",
    .columns = columns,
    .join = plot_measured,
    COST_DATA,
};

const PlotKind plot_break_even = {
    .name = "break-even",
    .brief = "the bandwidth below which compressing pays, against the number of workers, "
             "from cost's CSV or JSON",
    .source = "atomo-bench cost writes with -o FILE.csv",
    .of_gradients = "cost",
    .columns = with_limits,
    COST_DATA,
};
