/* bench_advise.c -- advise FILE.h5 --link LINK --workers P: answers which codec makes a training iteration fastest. */
#include "bench_commands.h"

#include "app/advise_job.h"

static Status measure(AdviseJob *advise, const CodecSet *set)
{
    TRY(cost_read_compute(&advise->cost));
    return advise_measure(advise, set);
}

static Status run(CompareJob *j)
{
    AdviseJob *advise = (AdviseJob *)j;
    CodecSet set;
    TRY(advise_read(advise));
    TRY(advise_codecs(advise, &set));
    TRY(compare_job_open(j, NULL, 0));
    return compare_job_finish(j, measure(advise, &set));
}

static const char details[] =
    "The first line is the answer. Then come the three fastest codecs, bf16, and why others are not chosen. total is the "
    "predicted time of an iteration: compute, encode, communicate, decode, by the model of cost. Two codecs whose 95 % "
    "intervals overlap are not told apart, and both have rank 1. If no codec is faster than bf16 for certain, the answer is to send bf16.\n"
    "error is the relative error of the mean of all workers' estimates, if all have the same gradient: averaging divides a "
    "codec's variance by P, and leaves its bias. Biased codecs need error feedback, which the shortlist includes.\n"
    "Every codec whose spec does not set its rate is tried at several rates. All are screened with one worker and two "
    "repeats; the fastest within the limits are measured like cost does. csv and json have all of them.\n";

int bench_advise(int argc, char **argv)
{
    static const char *usual_link[] = {"lan10g"};
    AdviseJob j = {.cost = {.job = {.schema = "atomo-advise/1",
                                    .keeps_no_part = true,
                                    .sums_up = true,
                                    .write = advise_write,
                                    .repeats = 3},
                            .workers_text = "16",
                            .topology_text = "auto",
                            .link_texts = {usual_link, 1}},
                   .limits = {.error = 0.5}};
    CostJob *c = &j.cost;
    const Option options[] = {
        OPTION(0, "all", NULL, &j.all, "try all codecs, biased ones under error feedback"),
        OPTION(0, "workers", "P", &c->workers_text, "number of workers"),
        OPTION(0, "link", "LINK", &c->link_texts,
               "alpha=50us,beta=10Gbit, FILE.json of link, or a preset, as in atomo-bench cost --help",
               .names = link_name),
        OPTION(0, "topology", "T", &c->topology_text,
               "how workers exchange payloads: auto, ps, allgather, ring, tree", .names = cost_topology_name),
        OPTION(0, "compute-ms", "X", &c->compute_ms, "time that a worker computes in a step", .low = 0,
               .high = 1e9),
        OPTION(0, "compute-from", "RUN", &c->compute_from,
               "take --compute-ms from a result of atomo-train run: its median step"),
        OPTION(0, "overlap", NULL, &c->overlap, "send each layer while the next ones are computed"),
        OPTION(0, "unbiased", NULL, &j.limits.unbiased, "only unbiased codecs"),
        OPTION(0, "allreduce", NULL, &j.limits.undecoded, "only codecs whose payloads add without decoding"),
        OPTION(0, "max-error", "E", &j.limits.error, "most relative error of the mean, less its 95 % interval", .low = 0,
               .high = 1e9),
        OPTION(0, "max-bytes", "BYTES", &j.most_bytes, "most bytes that a worker sends in a step"),
        OPTION(0, "memory", "BYTES", &j.most_memory, "most working memory of a codec"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "advise",
        .usage = "FILE.h5 [-c SPEC]...",
        .brief = "which codec to use, at which rate, on this network",
        .examples = "FILE.h5 --link lan10g --workers 16 --compute-ms 20\n"
                    "FILE.h5 --link wan100m --workers 4 --unbiased\n",
        .details = details,
        .options = options,
        .fields = "rank,total_ms,speedup16,bytes_up,mean_error,feedback,travels,why,",
    };
    return compare_job_main(&j.cost.job, &command, argc, argv, run);
}
