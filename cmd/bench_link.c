/* bench_link.c -- link: measures the latency and bandwidth between the processes that mpirun has started. */
#include "bench_commands.h"

#include "app/link_job.h"

int bench_link(int argc, char **argv)
{
    LinkJob j = {.sizes_text = "64,256,...,4194304", .repeats = 20};
    const Option options[] = {
        OPTION(0, "sizes", "LIST", &j.sizes_text,
               "bytes that each process sends in an exchange; 64,256,...,4096 continues at the same ratio"),
        OPTION(0, "repeats", "N", &j.repeats,
               "measured times of each exchange and size; fewer, at least 3, if they take more than 2 s",
               .low = 3, .high = 1e6),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "link",
        .usage = "[-o link.json]",
        .brief = "measure the latency and bandwidth of a network, under mpirun",
        .examples = "\n-o link.json\n",
        .details =
            "mpirun -n 2 atomo-bench link -o link.json measures the link between two processes, on one machine or on two: "
            "docs/cluster.md starts them. Three exchanges are timed with payloads of each size: a ping-pong (from the first "
            "rank to the last and back; half of the time), an all-gather, and an all-reduce on a ring, as atomo-train makes "
            "them. Least squares over all of them find the latency alpha and the bandwidth beta of docs/cost.md.\n"
            "--link link.json uses them in cost, advise and atomo-train. The table also has the fit of each exchange alone: "
            "where these differ, the model does not suit the network. JSON and CSV have each measured time.\n",
        .options = options,
        .common = &j.common,
        .fields =
            "exchange,alpha_ms,beta_gbps,deviation,worst_deviation,bytes,measured_ms,predicted_ms,predicted_ratio",
        .takes = TAKES_FORMAT | TAKES_OUTPUT,
    };
    return link_job_main(&j, &command, argc, argv);
}
