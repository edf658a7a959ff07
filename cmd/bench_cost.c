/* bench_cost.c -- cost FILE.h5 -c SPEC... --workers 2,4,8,16: computes the time of a training iteration under a
 * network model. */
#include "bench_commands.h"

#include "app/cost_job.h"
#include "report/fields.h"

static Status measure(CostJob *c, const Codec *const *codec, size_t count)
{
    TRY(compare_job_codecs(&c->job, codec, count, 0));
    return cost_measure(c);
}

static Status run(CompareJob *j)
{
    CostJob *c = (CostJob *)j;
    const Codec **codec;
    size_t count;
    TRY(cost_read(c));
    TRY(cost_check_sort(c));
    TRY(cost_codecs(c, &codec, &count));
    TRY(compare_job_open(j, codec, count));
    TRY(cost_read_compute(c));
    return compare_job_finish(j, measure(c, codec, count));
}

int bench_cost(int argc, char **argv)
{
    static const char *usual_link[] = {"lan10g"};
    char names[200], link[300];
    snprintf(
        link, sizeof link,
        "alpha=50us,beta=10Gbit, or presets or FILE.json of link separated by commas (default %s); repeatable; presets: "
        "%s",
        *usual_link, text_names(names, sizeof names, link_name, NULL));
    CostJob c = {.job = {.schema = "atomo-cost/1",
                         .keeps_no_part = true,
                         .sums_up = true,
                         .write = cost_write,
                         .repeats = 5},
                 .workers_text = "2,4,8,16",
                 .topology_text = "auto",
                 .link_texts = {usual_link, 1}};
    const Option options[] = {
        OPTION(0, "workers", "LIST", &c.workers_text,
               "numbers of workers; 2,4,...,64 continues at the same ratio"),
        OPTION(0, "link", "LINK", &c.link_texts, link, .names = link_name, .listed = true),
        OPTION(0, "topology", "LIST", &c.topology_text,
               "how workers exchange payloads: auto, ps, allgather, ring, tree", .names = cost_topology_name,
               .listed = true),
        OPTION(0, "compute-ms", "X", &c.compute_ms, "time that a worker computes in a step", .low = 0,
               .high = 1e9),
        OPTION(0, "compute-from", "RUN", &c.compute_from,
               "take --compute-ms from a result of atomo-train run: its median step"),
        OPTION(0, "overlap", NULL, &c.overlap, "send each layer while the next ones are computed"),
        OPTION(0, "sort", "FIELD", &c.sort, "sort the rows by a field; FIELD:desc: largest first",
               .names = field_name),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "cost",
        .usage = "FILE.h5 [-c SPEC]...",
        .brief = "iteration time under a network model: compute, encode, communicate, decode",
        .examples = "FILE.h5 --link lan10g --workers 2,4,8,16\n"
                    "FILE.h5 -c qsgd -c ef+topk --compute-ms 20 -o cost.csv\n",
        .details =
            "Encoding, decoding and bytes are measured; the network is a latency alpha and a bandwidth beta. With payloads "
            "of S bytes, D bytes of parameters and P workers an exchange takes\n"
            "  ps         2 alpha + P (S + D) / beta             through a server, which returns parameters\n"
            "  allgather  (P - 1) (alpha + S / beta)             everyone sends to everyone\n"
            "  ring       2 (P - 1) alpha + 2 (P - 1)/P S / beta  payloads that add; S of the aggregate\n"
            "  tree       2 ceil(log2 P) (alpha + S / beta)      payloads that add; S of the aggregate\n"
            "auto is the faster of ring and tree for codecs whose payloads add (list CODEC: mergeable), else allgather. "
            "The break-even keeps the topologies of its row. Codecs of several rounds pay the latencies in each round. "
            "none and fp16 are always in the table. docs/cost.md has the model in full.\n"
            "--sort takes the fields below, and FIELD:desc. With --overlap total_ms is less than the sum of its parts.\n"
            "Without -c: sign, qsgd, terngrad, svd, powersgd, ef+topk. plot iteration-time, runtime and break-even draw "
            "the results.\n",
        .options = options,
        .fields =
            "compute_ms,encode_ms,comm_ms,decode_ms,total_ms,break_even_gbps,pays,speedup,bytes_up,bytes_merged,rounds,"
            "alpha_ms,beta_gbps,error,",
    };
    return compare_job_main(&c.job, &command, argc, argv, run);
}
