/* bench_sweep.c -- sweep FILE -c CODEC...: runs each codec at several values of its rate parameter, reports
 * size against error, and marks the Pareto front. */
#include "bench_commands.h"

#include "app/compare_job.h"

#include "compress/rate.h"
#include "compress/spec.h"

/* The codecs swept without -c: the methods of the ATOMO paper. */
static const char *const paper_set[] = {"none", "qsgd", "terngrad", "svd", "entry"};

enum { CODECS_MOST = 4096 };

static Status spread_all(CompareJob *j, const char *rates, const Codec **codec, size_t count, CodecSet *set)
{
    char range[96] = "";
    *set = (CodecSet){NEW(j->a, const Codec *, CODECS_MOST), 0, CODECS_MOST};
    TRY(arena_check(set->codec, j->a, j->err));
    for (size_t k = 0; k < count; k++) {
        Rate r;
        size_t left_out;
        const char *spec = codec_typed(codec[k], j->a);
        TRY(arena_check(spec, j->a, j->err));
        TRY(rate_spread(set, codec[k], rates, &left_out, j->a, j->err));
        if (left_out && rates && rate_find(&r, codec[k], false))
            progress_note(&j->progress, "note: %s: %zu of --rates are left out: want %s", spec, left_out, param_range(r.key, range));
    }
    return codec_unique(set->codec, &set->count, j->a, j->err);
}

typedef struct {
    CompareJob job; /* must be first: a `CompareJob *` is converted to a `Sweep *` */
    const char *rates;
} Sweep;

static Status sweep_write(CompareJob *j, ReportSpec spec)
{
    TRY(sweep_fill(&j->results, j->codec, j->err));
    return results_write(&j->results, &j->view, spec, j->err);
}

static Status sweep_set(CompareJob *j, const CodecSet *set)
{
    TRY(compare_job_codecs(j, set->codec, set->count));
    return compare_job_run(j);
}

static Status run(CompareJob *j)
{
    const Sweep *s = (const Sweep *)j;
    const TextList paper = {(const char **)(uintptr_t)paper_set, countof(paper_set)};
    const Codec **codec;
    CodecSet set;
    size_t count;
    TRY(codec_alternatives(&codec, &count, j->specs.count ? &j->specs : &paper, j->a, j->err));
    TRY(spread_all(j, s->rates, codec, count, &set));
    if (j->hints.sample)
        return sample_run(j, set.codec, set.count);
    TRY(compare_job_open(j, set.codec, set.count));
    return compare_job_finish(j, sweep_set(j, &set), sweep_write);
}

int bench_sweep(int argc, char **argv)
{
    Sweep s = {.job = {.schema = "atomo-sweep/1", .own = sweep_fields}};
    const Option options[] = {
        OPTION(0, "rates", "LIST", &s.rates, "rates to try, separated by commas"),
        OPTION_SAMPLE(&s.job, SAMPLE_HELP),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "sweep",
        .usage = "FILE... [-c CODEC]...",
        .brief = "vary each codec's rate, report size against error, mark the Pareto front",
        .examples = "FILE -c qsgd -c svd -o sweep.csv\n"
                    "FILE -c topk --rates 0.001,0.01,0.1\n",
        .details =
            "A codec's rate is the key that list CODEC marks. If a spec does not set it, it takes the values of --rates, "
            "or else the usual ones (bits and ranks 1 2 3 4 6 8, shares from 0.001 to 0.3); if a spec sets it "
            "(qsgd:bits=2/4), only these values are tried. A codec without a rate runs once, and its field rate is "
            "empty.\n"
            "Without -c: none, qsgd, terngrad, svd, entry.\n"
            "front marks the Pareto front: no other codec is at most as large with less relative error, or smaller with "
            "at most as much. Expected values decide where they are known. Of two measured values that differ by less than their 99.9 % "
            "interval it is unknown which is less, and both codecs stay on the front. certain (field pareto_certain) is no for a codec that is on the front only because it is unknown which is less: more --repeats may take it off. "
            "Unbiased codecs (field unbiased) and biased ones have a front each; in csv and json (field "
            "pareto) every tensor has its own fronts. plot pareto draws them.\n"
            "--sample gives the rows of compare --sample for every rate, without fronts.\n",
        .options = options,
    };
    return compare_job_main(&s.job, &command, argc, argv, run);
}
