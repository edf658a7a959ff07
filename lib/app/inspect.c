/* inspect.c -- writes a record, a histogram or a spectrum of a tensor as rows. */
#include "app/inspect.h"

#include <assert.h>
#include <math.h>

static Value value_count(size_t n)
{
    return value_int((int64_t)n);
}

/* Computes the spectrum of a tensor. On failure, the fields of the spectrum in the tensor's record stay empty.
 * `*t->lost` keeps the first failure of the file. */
static void take_spectrum(Spectrum *s, const Inspected *t, Arena *scratch)
{
    Error err;
    if (spectrum_take(s, t->x, t->wide, &t->info->shape, t->reshape, &t->about, scratch, &err) == OK ||
        t->lost->status != OK)
        return;
    *t->lost = err;
    error_at(t->lost, "%s", t->info->path);
}

static Value step_of(const TensorInfo *info)
{
    return info->step_group ? value_int(info->step) : value_none();
}

static Value worker_of(const TensorInfo *info)
{
    return info->worker_group ? value_int(info->worker) : value_none();
}

/* ---- a record for each tensor ---- */

static const Column record_columns[] = {
    {"step", true},
    {"worker", true},
    {"tensor", true},
    {"kind", true},
    {"shape", true},
    {"n", true},
    {"min", false},
    {"max", false},
    {"mean", true},
    {"std", true},
    {"l1", true},
    {"l2", true},
    {"linf", true},
    {"zeros", true},
    {"nonfinite", true},
    {"stable_rank", true},
    {"nuclear_norm", true},
    {"theorem6_left", false},
    {"theorem6_right", false},
    {"theorem6_winner", true},
    {"qsgd_budget", true},
    {"terngrad_budget", true},
};

static Status write_record(const Inspected *t, Report *to, Arena *scratch, Error *err)
{
    const Description *d = &t->about;
    const TensorInfo *info = t->info;
    Spectrum s;
    take_spectrum(&s, t, scratch);
    const char *winner = s.theorem6_left <= s.theorem6_right ? "svd" : "entry";
    const bool decided = d->linf > 0 && !isnan(s.theorem6_left);
    const Value row[] = {
        step_of(info),
        worker_of(info),
        value_text(info->name),
        value_text(kind_names[info->kind]),
        value_shape(&info->shape),
        value_count(d->n),
        value_real(d->min),
        value_real(d->max),
        value_real(d->mean),
        value_real(d->std),
        value_real(d->l1),
        value_real(d->l2),
        value_real(d->linf),
        value_count(d->zeros),
        value_count(d->nonfinite),
        value_real(s.stable_rank),
        value_real(s.nuclear_norm),
        value_real(s.theorem6_left),
        value_real(s.theorem6_right),
        value_text(decided ? winner : NULL),
        value_real(d->qsgd_budget),
        value_real(d->terngrad_budget),
    };
    static_assert(countof(row) == countof(record_columns), "a value for each column");
    return report_row(to, row, true, err);
}

/* ---- the tables of --histogram and --spectrum ---- */

static const Column histogram_columns[] = {{"tensor", true}, {"bin_low", true}, {"bin_high", true},
                                           {"count", true},  {"step", true},    {"worker", true}};

static Status write_histogram(const Inspected *t, Report *to, Arena *scratch, Error *err)
{
    Histogram h = {.bins = t->bins, .count = NEW(scratch, uint64_t, t->bins)};
    TRY(arena_check(h.count, scratch, err));
    histogram_fill(&h, t->x, t->about.n);
    for (size_t b = 0; b < h.bins; b++) {
        const Value row[] = {value_text(t->info->name),
                             value_real(histogram_edge(&h, b)),
                             value_real(histogram_edge(&h, b + 1)),
                             value_count((size_t)h.count[b]),
                             step_of(t->info),
                             worker_of(t->info)};
        TRY(report_row(to, row, true, err));
    }
    return OK;
}

static const Column spectrum_columns[] = {
    {"tensor", true}, {"index", true}, {"value", true}, {"step", true}, {"worker", true}};

static Status write_spectrum(const Inspected *t, Report *to, Arena *scratch, Error *err)
{
    Spectrum s;
    take_spectrum(&s, t, scratch);
    if (!s.value) {
        const Value none[] = {value_text(t->info->name), value_none(), value_none(), step_of(t->info),
                              worker_of(t->info)};
        return report_row(to, none, true, err);
    }
    for (size_t i = 0; i < s.k; i++) {
        const Value row[] = {value_text(t->info->name), value_count(i + 1), value_real(s.value[i]),
                             step_of(t->info), worker_of(t->info)};
        TRY(report_row(to, row, true, err));
    }
    return OK;
}

const InspectView inspect_views[] = {
    [INSPECT_RECORD] = {write_record, record_columns, countof(record_columns), 0},
    [INSPECT_HISTOGRAM] = {write_histogram, histogram_columns, countof(histogram_columns), 2},
    [INSPECT_SPECTRUM] = {write_spectrum, spectrum_columns, countof(spectrum_columns), 2},
};
