/* plot_measured.c -- puts the measured iterations of training runs beside those that cost predicts. */
#include "report/plot_measured.h"
#include "base/text.h"
#include "math/stats.h"

#include <math.h>
#include <string.h>

/* A column of cost, and the column of a run's steps that holds the same quantity. run[1] is used where run[0] has no
 * value: in a run without --link. */
typedef struct {
    const char *cost, *run[2];
} Part;

enum { COMPUTE, ENCODE, COMM, DECODE, TOTAL, BYTES, MEASURED, PARTS };
static const Part parts[PARTS] = {
    [COMPUTE] = {"compute_ms", {"compute_ms"}},    [ENCODE] = {"encode_ms", {"encode_ms"}},
    [COMM] = {"comm_ms", {"link_ms", "comm_ms"}},  [DECODE] = {"decode_ms", {"decode_ms"}},
    [TOTAL] = {"total_ms", {"predicted_ms"}},      [BYTES] = {"bytes_up", {"bytes_up"}},
    [MEASURED] = {"measured_ms", {"measured_ms"}},
};

/* The measured steps of a compressor on a number of workers. */
typedef struct {
    size_t first;       /* the row of the first step */
    bool shown;         /* a row of cost shows their time */
    double part[PARTS]; /* medians over the steps */
} Run;

typedef struct {
    Csv *data;
    Run *run;
    size_t runs;
    size_t *run_of; /* (rows) the run of a measured step or of a row of cost; `rows` for none */
} Runs;

static bool is_step(const Csv *data, size_t row)
{
    return !strcmp(csv_cell(data, row, "record"), "step") && csv_real(data, row, "measured_ms") > 0;
}

static bool alike(const Csv *data, size_t i, size_t j)
{
    return !strcmp(csv_cell(data, i, "compressor"), csv_cell(data, j, "compressor")) &&
           !strcmp(csv_cell(data, i, "workers"), csv_cell(data, j, "workers"));
}

/* Returns the run of a row; r->runs: there is none. A step mostly belongs to `guess`, the run of the step before it. */
static size_t find(const Runs *r, size_t row, size_t guess)
{
    size_t k = 0;
    if (guess < r->runs && alike(r->data, r->run[guess].first, row))
        return guess;
    while (k < r->runs && !alike(r->data, r->run[k].first, row))
        k++;
    return k;
}

static void number_runs(Runs *r)
{
    const size_t rows = r->data->rows;
    for (size_t row = 0, k = 0; row < rows; row++) {
        r->run_of[row] = rows;
        if (!is_step(r->data, row))
            continue;
        k = find(r, row, k);
        if (k == r->runs)
            r->run[r->runs++] = (Run){.first = row};
        r->run_of[row] = k;
    }
    for (size_t row = 0; row < rows && r->runs; row++) {
        const size_t k = *csv_cell(r->data, row, "record") ? r->runs : find(r, row, 0);
        if (k == r->runs)
            continue;
        r->run[k].shown = true;
        r->run_of[row] = k;
    }
}

static void take_medians(Runs *r, size_t k, double *value)
{
    double *part = r->run[k].part;
    for (size_t p = 0; p < PARTS; p++) {
        size_t n = 0;
        for (size_t row = r->run[k].first; row < r->data->rows; row++) {
            if (r->run_of[row] != k || !is_step(r->data, row))
                continue;
            value[n] = csv_real(r->data, row, parts[p].run[0]);
            if (isnan(value[n]) && parts[p].run[1])
                value[n] = csv_real(r->data, row, parts[p].run[1]);
            if (!isnan(value[n]))
                n++;
        }
        part[p] = n ? stats_median(value, n) : NAN;
    }
    if (isnan(part[TOTAL]))
        part[TOTAL] = part[COMPUTE] + part[ENCODE] + part[COMM] + part[DECODE];
}

static Status put(Csv *data, size_t row, size_t part, double value, Arena *a, Error *err)
{
    const char **cell = data->cell + row * data->columns + csv_find(data, parts[part].cost);
    *cell = isnan(value) ? "" : text_format(a, "%.17g", value);
    return arena_check(*cell, a, err);
}

/* Keeps the rows of cost. A run that no row of cost shows keeps its first step, which becomes such a row. */
static Status join(Runs *r, Arena *a, Error *err)
{
    Csv *data = r->data;
    size_t kept = 0;
    for (size_t row = 0; row < data->rows; row++) {
        const bool cost = !*csv_cell(data, row, "record");
        const Run *run = r->run_of[row] < r->runs ? r->run + r->run_of[row] : NULL;
        if (!cost && !(run && !run->shown && run->first == row))
            continue;
        for (size_t p = cost ? MEASURED : 0; p < PARTS && run; p++)
            TRY(put(data, row, p, run->part[p], a, err));
        memmove(data->cell + kept++ * data->columns, data->cell + row * data->columns,
                data->columns * sizeof *data->cell);
    }
    data->rows = kept;
    return OK;
}

static Status copy(Csv *out, const Csv *data, Arena *a, Error *err)
{
    *out = *data;
    out->cell = arena_take(a, data->rows, data->columns * sizeof *out->cell);
    TRY(arena_check(out->cell, a, err));
    memcpy(out->cell, data->cell, data->rows * data->columns * sizeof *out->cell);
    for (size_t p = 0; p < PARTS; p++)
        if (!csv_has(out, parts[p].cost))
            TRY(csv_insert(out, out->columns, parts[p].cost, "", a, err));
    return OK;
}

Status plot_measured(Csv *data, Arena *a, Error *err)
{
    double *value = NEW(a, double, data->rows);
    Csv joined;
    Runs r = {.data = data, .run = NEW(a, Run, data->rows), .run_of = NEW(a, size_t, data->rows)};
    TRY(arena_check(value && r.run && r.run_of, a, err));
    number_runs(&r);
    if (!r.runs)
        return OK;
    for (size_t k = 0; k < r.runs; k++)
        take_medians(&r, k, value);
    TRY(copy(&joined, data, a, err));
    r.data = &joined;
    TRY(join(&r, a, err));
    *data = joined;
    return OK;
}
