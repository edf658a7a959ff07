/* report_speedup.c -- computes speed-ups from the times to target accuracies in a training result
 * (report_stored.h). */
#include "report/report_stored.h"

#include "base/text.h"
#include "compress/spec.h"
#include "math/stats.h"

#include <math.h>
#include <string.h>

static const char time_to[] = "sim_seconds_to_";

static bool is_target(const char *name)
{
    return !strncmp(name, time_to, sizeof time_to - 1);
}

/* The summaries of a training result. */
typedef struct {
    const Csv *csv;
    const size_t *row; /* (count) indices of rows */
    size_t count;
} Summaries;

static bool find_summaries(Summaries *s, const Csv *run, Arena *a)
{
    size_t *row = NEW(a, size_t, run->rows);
    *s = (Summaries){.csv = run, .row = row};
    for (size_t i = 0; row && i < run->rows; i++)
        if (!strcmp(csv_cell(run, i, "record"), "summary"))
            row[s->count++] = i;
    return row;
}

static const char *text_of(const Summaries *s, size_t i, const char *column)
{
    return csv_cell(s->csv, s->row[i], column);
}

static bool has(const Summaries *s, size_t i, const char *compressor)
{
    return !strcmp(text_of(s, i, "compressor"), compressor);
}

static bool has_seeds(const Summaries *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (strcmp(text_of(s, i, "seed"), text_of(s, 0, "seed")) != 0)
            return true;
    return false;
}

/* Names the columns: "compressor", and "speedup_to_0.9" for each target accuracy. If there are several seeds,
 * a column "speedup_to_0.9_se" follows each speed-up, and "seeds" is the last column. Returns false if memory
 * runs out. */
static bool name_columns(Csv *out, const Csv *run, bool seeds, Arena *a)
{
    const size_t most = 2 * run->columns + 2;
    out->name = NEW(a, const char *, most);
    out->cell = arena_take(a, run->rows, most * sizeof *out->cell);
    if (!out->name || !out->cell)
        return false;
    out->name[out->columns++] = "compressor";
    for (size_t i = 0; i < run->columns; i++)
        for (int se = 0; is_target(run->name[i]) && se <= seeds; se++) {
            out->name[out->columns] =
                text_format(a, "speedup_to_%s%s", run->name[i] + sizeof time_to - 1, se ? "_se" : "");
            if (!out->name[out->columns++])
                return false;
        }
    if (seeds)
        out->name[out->columns++] = "seeds";
    return true;
}

/* Returns the speed-up of run i to a target: the time of the baseline's run with the same seed, divided by
 * the time of run i. Returns NaN if one of these two runs never reached the target, or if the baseline has no
 * such run. */
static double quotient(const Summaries *s, size_t i, const char *baseline, const char *target)
{
    size_t base = 0;
    while (base < s->count &&
           !(has(s, base, baseline) && !strcmp(text_of(s, base, "seed"), text_of(s, i, "seed"))))
        base++;
    if (base == s->count)
        return NAN;
    const double v = csv_real(s->csv, s->row[base], target) / csv_real(s->csv, s->row[i], target);
    return isfinite(v) ? v : NAN;
}

/* Returns the moments of the speed-up of run i or, if there are several seeds, of all runs of its
 * compressor. */
static Moments quotients(const Summaries *s, size_t i, bool seeds, const char *baseline, const char *target)
{
    Moments m = {0};
    for (size_t k = 0; k < s->count; k++)
        if (k == i || (seeds && has(s, k, text_of(s, i, "compressor"))))
            moments_add(&m, quotient(s, k, baseline, target));
    return m;
}

static const char *number(double v, Arena *a)
{
    char text[32];
    return isfinite(v) ? text_copy(a, text_double(text, v)) : "";
}

static bool put_row(Csv *out, const Summaries *s, size_t i, const char *baseline, bool seeds, Arena *a)
{
    const char **cell = out->cell + out->rows++ * out->columns;
    size_t count = 0;
    *cell++ = text_of(s, i, "compressor");
    for (size_t k = 0; k < s->csv->columns; k++)
        if (is_target(s->csv->name[k])) {
            const Moments m = quotients(s, i, seeds, baseline, s->csv->name[k]);
            count = m.n;
            if (!(*cell++ = number(m.mean, a)))
                return false;
            if (seeds && !(*cell++ = number(sqrt(moments_variance(&m) / (double)m.n), a)))
                return false;
        }
    return !seeds || (*cell = text_format(a, "%zu", count));
}

static Status no_run(const char *what, Error *err)
{
    FAIL(err, ERR_CORRUPT, "%s", what);
    return error_hint(err, "speed-ups come from atomo-train run --target-accuracy LIST -c none -c SPEC...");
}

static size_t first_of(const Summaries *s, const char *compressor)
{
    size_t i = 0;
    while (i < s->count && !has(s, i, compressor))
        i++;
    return i;
}

Status speedup_rows(Csv *out, const Csv *run, const char *baseline, Arena *a, Error *err)
{
    Summaries s;
    *out = (Csv){0};
    TRY(arena_check(find_summaries(&s, run, a), a, err));
    const bool seeds = has_seeds(&s);
    TRY(arena_check(name_columns(out, run, seeds, a), a, err));
    if (out->columns == 1 || !csv_has(run, "record"))
        return no_run("it has no times to target accuracies", err);
    size_t base = first_of(&s, baseline);
    for (size_t i = 0; base == s.count && i < s.count; i++)
        base = spec_equal(text_of(&s, i, "compressor"), baseline) ? i : base;
    if (base == s.count)
        return FAIL(err, ERR_CORRUPT, "it has no run of %s to compare with", baseline);
    baseline = text_of(&s, base, "compressor");
    for (size_t i = 0; i < s.count; i++)
        if ((!seeds || first_of(&s, text_of(&s, i, "compressor")) == i) &&
            !put_row(out, &s, i, baseline, seeds, a))
            return arena_fail(a, err);
    return OK;
}
