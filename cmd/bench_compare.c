/* bench_compare.c -- compare FILE.h5 -c SPEC...: applies each codec to a gradient dump and reports the
 * metrics. */
#include "bench_commands.h"

#include "app/compare_job.h"
#include "compress/rate.h"
#include "compress/spec.h"
#include "report/report_compare.h"

#include <math.h>
#include <string.h>

/* The codecs that `compare` applies if the user gives no -c: the codecs of the ATOMO paper. `set_entry` adds
 * the codec `entry`. */
static const char *const paper_set[] = {"none", "qsgd:bits=1/2/4/8", "terngrad", "svd:rank=1/2/3/4"};
static const char sized_by[] = "svd:rank=3"; /* gives the size of `entry` */
static const char *const equal_set[] = {"none", "qsgd", "terngrad", "svd", "entry"};

typedef struct {
    CompareJob job;
    const char *against; /* spec of --against; NULL: not given */
    Against pairs;
} Compare;

static Compare *compare_of(CompareJob *j)
{
    return (Compare *)j; /* the job is Compare's first member */
}

/* ---- --against ---- */

/* Moves the codec of --against to the front of the list, or adds it there. */
static Status put_first(const Codec ***codec, size_t *count, const char *spec, Arena *a, Error *err)
{
    const Codec **all = NEW(a, const Codec *, *count + 1);
    TRY(arena_check(all, a, err));
    if (codec_open(&all[0], spec, a, err) != OK)
        return error_at(err, "--against");
    memcpy(all + 1, *codec, *count * sizeof *all);
    *codec = all;
    *count += 1;
    return codec_unique(all, count, a, err);
}

static void put_pairs(CompareJob *j, const Record *record)
{
    against_put(&compare_of(j)->pairs, record);
}

/* The differences of --against need the metrics of each repeat, which FILE.part does not hold, so a comparison with
 * --against cannot be resumed. */
static Status prepare_pairs(CompareJob *j)
{
    if (j->common.resume) {
        FAIL(j->err, ERR_USAGE,
             "--resume: cannot continue a comparison with --against, which keeps no records");
        return error_hint(j->err, "leave --resume out");
    }
    if (j->view.sort) {
        FAIL(j->err, ERR_USAGE, "--sort: rows of --against stand in the order of codecs and metrics");
        return error_hint(j->err, "leave --sort out");
    }
    j->keeps_no_part = true;
    j->figures = put_pairs;
    if (!j->view.metrics)
        j->view.metrics = against_usual;
    TRY(view_check(&j->view, j->own, j->err));
    return against_metrics(&compare_of(j)->pairs, j->view.metrics, j->a, j->err);
}

/* ---- --equal-bits: the rate at which each codec sends a given number of bits per element ---- */

/* Loads a vector. Redraws the progress bar too, because the search for one codec's rate takes long and loads
 * many vectors. */
static Status load(void *data, const Vector *v, float *x, Error *err)
{
    CompareJob *j = data;
    progress_step(&j->progress, j->progress.done);
    return vector_load(j->dump, v, x, err);
}

/* Sets the codec's rate to the value at which the search starts. Specs that differ only in the rate become
 * equal, so the search runs once for them. */
static Status unset_rate(CompareJob *j, const Codec **codec)
{
    Rate r;
    double low, high, start;
    if (!rate_find(&r, *codec, true))
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

static Status solve_one(CompareJob *j, const Comparison *c, const Codec **codec)
{
    unsigned tries;
    const char *name = codec_typed(*codec, j->a);
    progress_at(&j->progress, "%s", name ? name : "");
    TRY(compare_solve(c, codec, *codec, j->target_bits, &tries, j->a, j->err));
    return arena_check(name, j->a, j->err);
}

static Status solve_all(CompareJob *j, const Comparison *c, const Codec **codec, size_t count)
{
    progress_close(&j->progress);
    progress_open(&j->progress, "solving", "codecs", count, j->common.quiet);
    for (size_t k = 0; k < count; k++) {
        TRY(solve_one(j, c, &codec[k]));
        progress_step(&j->progress, k + 1);
    }
    return OK;
}

static Status equal_bits(CompareJob *j, const Codec **codec, size_t *count)
{
    const Comparison c = {.vectors = &j->list,
                          .repeats = (size_t)j->repeats,
                          .seed = (uint64_t)j->common.seed,
                          .threads = (int)j->common.threads,
                          .data = j,
                          .load = load,
                          .stopped = cli_stopped};
    for (size_t k = 0; k < *count; k++)
        TRY(unset_rate(j, &codec[k]));
    TRY(codec_unique(codec, count, j->a, j->err));
    TRY(solve_all(j, &c, codec, *count));
    return codec_unique(codec, count, j->a, j->err);
}

static const char *why_not(const Codec *codec)
{
    Rate r;
    double low, high, start;
    if (!rate_find(&r, codec, true))
        return "it has no rate to set";
    rate_range(&r, &low, &high, &start);
    const double value = rate_value(&r);
    if (value <= low || value >= high)
        return "its sizes end there";
    return r.key->type == PARAM_INT ? "its sizes come in steps, of which this is the nearest" : "no rate came nearer";
}

static void note_unreached(CompareJob *j)
{
    const size_t whole = j->results.places - 1;
    for (size_t k = 0; k < j->codecs && !j->common.quiet; k++) {
        const double bits = results_number(&j->results, whole, k, "bits_per_element_expected");
        if (!isnan(bits) && fabs(bits / j->target_bits - 1) > SIZE_TOLERANCE)
            progress_note(&j->progress, "note: %s: %.4g bits per element: %s", j->name[k], bits, why_not(j->codec[k]));
    }
}

/* ---- the codecs ---- */

/* Adds `entry` as the last codec, at the expected bits per element of svd of rank 3. */
static Status set_entry(CompareJob *j)
{
    char spec[64] = "entry";
    const Codec *codec;
    for (size_t k = 0; k + 1 < j->codecs; k++) {
        const size_t whole = j->results.places - 1;
        const double mean = results_number(&j->results, whole, k, "bits_per_element"),
                     expected = results_number(&j->results, whole, k, "bits_per_element_expected"),
                     /* the expected bits are preferred: the mean of the drawn sizes depends on the seed */
            bits = isnan(expected) ? mean : expected;
        if (!strcmp(j->name[k], sized_by) && bits > 0)
            snprintf(spec, sizeof spec, "entry:bits=%.3g", fmin(bits, 64));
    }
    TRY(codec_open(&codec, spec, j->a, j->err));
    return compare_job_set_codec(j, j->codecs - 1, codec);
}

static Status compare_set(CompareJob *j, const Codec **codec, size_t count)
{
    const bool entry = j->specs.count == 0 && j->target_bits == 0;
    if (j->target_bits > 0)
        TRY(equal_bits(j, codec, &count));
    TRY(compare_job_codecs(j, codec, count, entry));
    if (compare_of(j)->against)
        TRY(against_open(&compare_of(j)->pairs, &j->results, j->a, j->err));
    TRY(compare_job_run(j));
    return entry ? set_entry(j) == OK ? compare_job_run(j) : j->err->status : OK;
}

static Status compare_write(CompareJob *j, ReportSpec spec)
{
    if (j->target_bits > 0) {
        target_fill(&j->results, j->target_bits);
        note_unreached(j);
    }
    return compare_of(j)->against ? against_write(&compare_of(j)->pairs, j->view.per_tensor, spec, j->a, j->err)
                                  : results_write(&j->results, &j->view, spec, j->err);
}

static Status run(CompareJob *j)
{
    const TextList paper = {(const char **)(uintptr_t)paper_set, countof(paper_set)},
                   equal = {(const char **)(uintptr_t)equal_set, countof(equal_set)};
    const char *against = compare_of(j)->against;
    const Codec **codec;
    size_t count;
    if (j->target_bits > 0)
        j->own = target_fields;
    TRY(codec_list(&codec, &count,
                   j->specs.count       ? &j->specs
                   : j->target_bits > 0 ? &equal
                                        : &paper,
                   j->a, j->err));
    if (against) {
        TRY(prepare_pairs(j));
        TRY(put_first(&codec, &count, against, j->a, j->err));
    }
    j->schema = against ? "atomo-against/1" : "atomo-compare/1";
    TRY(compare_job_open(j, codec, count));
    return compare_job_finish(j, compare_set(j, codec, count), compare_write);
}

int bench_compare(int argc, char **argv)
{
    Compare c = {0};
    const Option options[] = {
        OPTION(0, "against", "SPEC", &c.against,
               "report each metric's difference to this codec, with interval and p-value"),
        OPTION(0, "equal-bits", "B", &c.job.target_bits,
               "set each codec's rate so that it sends B bits per element", .low = 1e-6, .high = 64),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "compare",
        .usage = "FILE.h5 [-c SPEC]...",
        .brief = "apply each codec to a gradient dump, report size, time and error",
        .examples = "FILE.h5\n"
                    "FILE.h5 -c qsgd:bits=2/4/8 -c ef+topk:ratio=0.01\n"
                    "FILE.h5 -t '*conv*' --per-tensor -o result.csv\n"
                    "FILE.h5 --equal-bits 1\n",
        .details =
            "Without -c: none, qsgd at 1, 2, 4 and 8 bits, terngrad, svd of rank 1 to 4, and entry at the bits per "
            "element that svd of rank 3 took on this selection, to three digits.\n"
            "--equal-bits solves for each codec's rate (the key that list CODEC marks; for qsgd its levels), so that its "
            "expected size over the whole selection is B bits per element within 1 %: bits_per_element_expected, which is "
            "exact where its standard error is 0, and else a mean over these repeats. The field "
            "reached says whether the codec gets there: one whose sizes come in steps, or end before B, is shown at the "
            "nearest size, one without a rate as it is.\n"
            "--against reports paired differences: codecs draw the same random numbers in the same repeat, so the "
            "differences of their results vary less than the results. Each row is a codec and a metric: both means, their "
            "difference with its 95 % interval (Student's t over the repeats), and a verdict at p = 0.05, after Holm's "
            "correction for all rows on the same tensors. Where no repeat differs from another there is no interval. --metrics takes "
            "metrics that are means over repeats; without it: bits_per_element, relative_error, second_moment, cosine and "
            "wasserstein_mean. No time is measured.\n",
        .options = options,
    };
    return compare_job_main(&c.job, &command, argc, argv, run);
}
