/* report_speedup.c -- computes speed-ups from the times to target accuracies in a training result
 * (report_stored.h). */
#include "report/report_stored.h"

#include "compress/spec.h"
#include "math/stats.h"

#include <math.h>
#include <string.h>

static const char time_to[] = "sim_seconds_to_";

static bool is_target(const char *name)
{
    return !strncmp(name, time_to, sizeof time_to - 1);
}

/* Keeps the summaries of a training result. */
static Status find_summaries(Csv *out, const Csv *run, Arena *a, Error *err)
{
    const size_t size = run->columns * sizeof *out->cell;
    *out = *run;
    out->rows = 0;
    out->cell = arena_take(a, run->rows + 1, size + 1);
    TRY(arena_check(out->cell, a, err));
    for (size_t i = 0; i < run->rows; i++)
        if (!strcmp(csv_cell(run, i, "record"), "summary"))
            memcpy(out->cell + out->rows++ * run->columns, run->cell + i * run->columns, size);
    return OK;
}

/* True if the rows i and k of the summaries have the same text in the column. */
static bool same(const Csv *s, size_t i, size_t k, const char *column)
{
    return !strcmp(csv_cell(s, i, column), csv_cell(s, k, column));
}

static bool has_seeds(const Csv *s)
{
    size_t i = 0;
    while (i < s->rows && same(s, i, 0, "seed"))
        i++;
    return i < s->rows;
}

/* Names the columns: "compressor", and "speedup_to_0.9" for each target accuracy. If there are several seeds,
 * a column "speedup_to_0.9_se" follows each speed-up, and "seeds" is the last column. */
static Status name_columns(Csv *out, const Csv *run, bool seeds, Arena *a, Error *err)
{
    const size_t most = 2 * run->columns + 2;
    *out = (Csv){.name = NEW(a, const char *, most), .cell = arena_take(a, run->rows + 1, most * sizeof *out->cell)};
    TRY(arena_check(out->name && out->cell, a, err));
    out->name[out->columns++] = "compressor";
    for (size_t i = 0; i < run->columns; i++)
        for (int se = 0; is_target(run->name[i]) && se <= seeds; se++) {
            const char *name = text_format(a, "speedup_to_%s%s", run->name[i] + sizeof time_to - 1, se ? "_se" : "");
            TRY(arena_check(name, a, err));
            out->name[out->columns++] = name;
        }
    if (seeds)
        out->name[out->columns++] = "seeds";
    return OK;
}

/* Returns the speed-up of run i to a target: the time of the baseline's run with the same seed, divided by
 * the time of run i. Returns NaN if one of these two runs never reached the target, or if the baseline has no
 * such run. `base`: a run of the baseline. */
static double quotient(const Csv *s, size_t i, size_t base, const char *target)
{
    size_t k = 0;
    while (k < s->rows && !(same(s, k, base, "compressor") && same(s, k, i, "seed")))
        k++;
    const double v = k < s->rows ? csv_real(s, k, target) / csv_real(s, i, target) : NAN;
    return isfinite(v) ? v : NAN;
}

/* Returns the moments of the speed-up of run i or, if there are several seeds, of all runs of its
 * compressor. */
static Moments quotients(const Csv *s, size_t i, bool seeds, size_t base, const char *target)
{
    Moments m = {0};
    for (size_t k = 0; k < s->rows; k++)
        if (k == i || (seeds && same(s, k, i, "compressor")))
            moments_add(&m, quotient(s, k, base, target));
    return m;
}

static const char *number(double v, Arena *a)
{
    char text[32];
    return isfinite(v) ? text_copy(a, text_double(text, v)) : "";
}

static Status put_row(Csv *out, const Csv *s, size_t i, size_t base, bool seeds, Arena *a, Error *err)
{
    const char **cell = out->cell + out->rows++ * out->columns, **at = cell;
    size_t count = 0;
    *at++ = csv_cell(s, i, "compressor");
    for (size_t k = 0; k < s->columns; k++)
        if (is_target(s->name[k])) {
            const Moments m = quotients(s, i, seeds, base, s->name[k]);
            count = m.n;
            *at++ = number(m.mean, a);
            if (seeds)
                *at++ = number(sqrt(moments_variance(&m) / (double)m.n), a);
        }
    if (seeds)
        *at = text_format(a, "%zu", count);
    for (size_t k = 0; k < out->columns; k++)
        TRY(arena_check(cell[k], a, err));
    return OK;
}

Status speedup_rows(Csv *out, const Csv *run, const char *baseline, Arena *a, Error *err)
{
    Csv s;
    TRY(find_summaries(&s, run, a, err));
    const bool seeds = has_seeds(&s);
    TRY(name_columns(out, run, seeds, a, err));
    if (out->columns == 1 || !csv_has(run, "record")) {
        FAIL(err, ERR_CORRUPT, "it has no times to target accuracies");
        return error_hint(err, "speed-ups come from atomo-train run --target-accuracy LIST -c none -c SPEC...");
    }
    size_t base = 0;
    while (base < s.rows && strcmp(csv_cell(&s, base, "compressor"), baseline) != 0 && !spec_equal(csv_cell(&s, base, "compressor"), baseline))
        base++;
    if (base == s.rows)
        return FAIL(err, ERR_CORRUPT, "it has no run of %s to compare with", baseline);
    for (size_t i = 0; i < s.rows; i++) {
        size_t first = 0;
        while (!same(&s, first, i, "compressor"))
            first++;
        if (!seeds || first == i)
            TRY(put_row(out, &s, i, base, seeds, a, err));
    }
    return OK;
}
