/* bench_compare.c -- compare FILE.h5 -c SPEC...: applies each codec to a gradient dump and reports the metrics. */
#include "bench_commands.h"

#include "app/compare_job.h"
#include "compress/spec.h"

#include <math.h>
#include <string.h>

/* The codecs that `compare` applies if the user gives no -c: the codecs of the ATOMO paper. set_entry adds the
 * codec `entry`. With --equal-bits the codecs are those of `equal_set`. */
static const char *const paper_set[] = {"none", "qsgd:bits=1/2/4/8", "terngrad", "svd:rank=1/2/3/4"};
static const char sized_by[] = "svd"; /* what compare calls svd:rank=3: rank 3 is svd's default */
static const char *const equal_set[] = {"none", "qsgd", "terngrad", "svd", "entry"};

/* Adds `entry` as the last codec. Its budget is the bits per element of the payloads of svd with rank 3. */
static Status set_entry(CompareJob *j)
{
    char spec[64] = "entry";
    const Codec *codec;
    for (size_t k = 0; k + 1 < j->codecs; k++) {
        const double bits = results_number(&j->results, j->results.places - 1, k, "bits_per_element");
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
        TRY(compare_job_equal_bits(j, codec, &count));
    TRY(compare_job_codecs(j, codec, count, entry));
    TRY(compare_job_run(j));
    return entry ? set_entry(j) == OK ? compare_job_run(j) : j->err->status : OK;
}

static Status fill_target(CompareJob *j)
{
    target_fill(&j->results, j->target_bits);
    return OK;
}

static Status run(CompareJob *j)
{
    const TextList paper = {(const char **)(uintptr_t)paper_set, countof(paper_set)},
                   equal = {(const char **)(uintptr_t)equal_set, countof(equal_set)};
    const Codec **codec;
    size_t count;
    if (j->target_bits > 0) {
        j->own = target_fields;
        j->fill = fill_target;
    }
    TRY(codec_list(&codec, &count,
                   j->specs.count       ? &j->specs
                   : j->target_bits > 0 ? &equal
                                        : &paper,
                   j->a, j->err));
    TRY(compare_job_open(j));
    return compare_job_finish(j, compare_set(j, codec, count), "atomo-compare/1");
}

int bench_compare(int argc, char **argv)
{
    CompareJob job = {0};
    const Option options[] = {
        OPTION(0, "equal-bits", "B", &job.target_bits,
               "set each codec's rate so that it sends B bits per element", .low = 1e-6, .high = 64),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "compare",
        .usage = "FILE.h5 [-c SPEC]...",
        .brief = "apply each codec to a gradient dump, report size, time and error",
        .details =
            "Without -c: none, qsgd at 1, 2, 4 and 8 bits, terngrad, svd of rank 1 to 4, and entry at the bits per "
            "element that svd of rank 3 took on this selection, to three digits.\n"
            "--equal-bits solves for each codec's rate (the key that list CODEC marks; for qsgd its levels), so that its "
            "measured size over the whole selection, on these repeats, is B bits per element within 1 %. The field "
            "reached says whether the codec gets there: one whose sizes come in steps, or end before B, is shown at the "
            "nearest size, one without a rate as it is.\n",
        .options = options,
    };
    return compare_job_main(&job, &command, argc, argv, run);
}
