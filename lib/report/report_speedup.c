/* report_speedup.c -- computes speed-ups from the times to target accuracies in a training result
 * (report_speedup.h). */
#include "report/report_speedup.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

static const char time_to[] = "sim_seconds_to_";

static bool is_target(const char *name)
{
    return !strncmp(name, time_to, sizeof time_to - 1);
}

static bool is_summary(const Csv *run, size_t row)
{
    return !strcmp(csv_cell(run, row, "record"), "summary");
}

/* Names the columns "compressor", "speedup_to_0.9" and so on. Returns false if memory is out. */
static bool name_columns(Csv *out, const Csv *run, Arena *a)
{
    out->name = NEW(a, const char *, run->columns + 1);
    out->cell = arena_take(a, run->rows, (run->columns + 1) * sizeof *out->cell);
    if (!out->name || !out->cell)
        return false;
    out->name[out->columns++] = "compressor";
    for (size_t i = 0; i < run->columns; i++)
        if (is_target(run->name[i])) {
            out->name[out->columns] = text_format(a, "speedup_to_%s", run->name[i] + sizeof time_to - 1);
            if (!out->name[out->columns++])
                return false;
        }
    return true;
}

static const char *quotient(double base, double own, Arena *a)
{
    char number[32];
    const double v = base / own;
    return isfinite(v) ? text_copy(a, text_double(number, v)) : "";
}

static bool put_row(Csv *out, const Csv *run, size_t row, size_t base, Arena *a)
{
    const char **cell = out->cell + out->rows++ * out->columns;
    *cell++ = csv_cell(run, row, "compressor");
    for (size_t i = 0; i < run->columns; i++)
        if (is_target(run->name[i])) {
            *cell = quotient(csv_real(run, base, run->name[i]), csv_real(run, row, run->name[i]), a);
            if (!*cell++)
                return false;
        }
    return true;
}

static Status no_run(const char *what, Error *err)
{
    FAIL(err, ERR_CORRUPT, "%s", what);
    return error_hint(err, "speed-ups come from atomo-train run --target-accuracy LIST -c none -c SPEC...");
}

Status speedup_rows(Csv *out, const Csv *run, const char *baseline, Arena *a, Error *err)
{
    size_t base = run->rows;
    *out = (Csv){0};
    TRY(arena_check(name_columns(out, run, a), a, err));
    if (out->columns == 1 || !csv_has(run, "record"))
        return no_run("it has no times to target accuracies", err);
    for (size_t row = run->rows; row-- > 0;)
        if (is_summary(run, row) && !strcmp(csv_cell(run, row, "compressor"), baseline))
            base = row;
    if (base == run->rows)
        return FAIL(err, ERR_CORRUPT, "it has no run of %s to compare with", baseline);
    for (size_t row = 0; row < run->rows; row++)
        if (is_summary(run, row) && !put_row(out, run, row, base, a))
            return arena_fail(a, err);
    return OK;
}
