/* equal_bits.c -- implements --equal-bits of compare: finds the rate at which each codec sends a given number
 * of bits per element. */
#include "app/compare_job.h"

#include "compress/rate.h"
#include "compress/spec.h"

#include <math.h>
#include <string.h>

/* Loads a vector. Redraws the progress bar too, because the search for one codec's rate takes long and loads
 * many vectors. */
static Status load(void *data, const Vector *v, float *x, Error *err)
{
    CompareJob *j = data;
    progress_step(&j->progress, j->progress.done);
    return compare_job_load(data, v, x, err);
}

/* Sets the codec's rate to the value at which the search starts. Specs that differ only in the rate become
 * equal, so the search runs once for them. */
static Status unset_rate(CompareJob *j, const Codec **codec)
{
    Rate r;
    double low, high, start;
    if (!rate_find_fine(&r, *codec))
        return OK;
    if (rate_named(&r)) {
        const char *spec = codec_typed(*codec, j->a);
        TRY(arena_check(spec, j->a, j->err));
        progress_note(&j->progress, "note: %s: --equal-bits sets %s's %s, whatever the spec says", spec,
                      r.stage->ops->name, r.key->key);
    }
    rate_range(&r, &low, &high, &start);
    return rate_set(codec, *codec, &r, start, j->a, j->err);
}

static Status solve_one(CompareJob *j, Sizer *s, const Codec **codec)
{
    unsigned tries;
    const char *name = codec_typed(*codec, j->a);
    progress_at(&j->progress, "%s", name ? name : "");
    TRY(sizer_solve(s, codec, *codec, j->target_bits, &tries, j->a, j->err));
    const char *as = codec_typed(*codec, j->a);
    if (tries && j->common.verbose && as)
        progress_note(&j->progress, "note: %s: found after taking the size %u times", as, tries);
    return arena_check(name && as, j->a, j->err);
}

static Status solve_all(CompareJob *j, Sizer *s, const Codec **codec, size_t count)
{
    progress_close(&j->progress);
    progress_open(&j->progress, "solving", "codecs", count, j->common.quiet);
    for (size_t k = 0; k < count; k++) {
        TRY(solve_one(j, s, &codec[k]));
        progress_step(&j->progress, k + 1);
    }
    return OK;
}

Status compare_job_equal_bits(CompareJob *j, const Codec **codec, size_t *count)
{
    const Comparison c = {.vectors = &j->list,
                          .repeats = (size_t)j->repeats,
                          .seed = (uint64_t)j->common.seed,
                          .threads = (int)j->common.threads,
                          .data = j,
                          .load = load,
                          .stopped = cli_stopped};
    Sizer *s = NULL;
    for (size_t k = 0; k < *count; k++)
        TRY(unset_rate(j, &codec[k]));
    TRY(codec_unique(codec, count, j->a, j->err));
    Arena *work = arena_open(0);
    Status status = sizer_open(&s, &c, work, j->err);
    if (status == OK)
        status = solve_all(j, s, codec, *count);
    compare_job_name(j, status);
    sizer_close(s);
    arena_close(work);
    return status == OK ? codec_unique(codec, count, j->a, j->err) : status;
}

/* ---- why a codec does not reach the size ---- */

static const char *why_not(const Codec *codec)
{
    Rate r;
    double low, high, start;
    if (!rate_find_fine(&r, codec))
        return "it has no rate to set";
    rate_range(&r, &low, &high, &start);
    const double value = rate_value(&r);
    if (value <= low || value >= high)
        return "its sizes end there";
    return r.key->type == PARAM_INT ? "its sizes come in steps, of which this is the nearest" : "no rate came nearer";
}

void compare_job_note_unreached(CompareJob *j)
{
    const size_t whole = j->results.places - 1;
    for (size_t k = 0; k < j->codecs && !j->common.quiet; k++) {
        const double bits = results_number(&j->results, whole, k, "bits_per_element_expected");
        if (!isnan(bits) && fabs(bits / j->target_bits - 1) > SIZE_TOLERANCE)
            progress_note(&j->progress, "note: %s: %.4g bits per element: %s", j->name[k], bits, why_not(j->codec[k]));
    }
}
