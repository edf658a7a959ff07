/* atomo-bench.c -- the table of subcommands. */
#include "bench_commands.h"

static const Subcommand commands[] = {
    {"doctor", bench_doctor, "what this machine gives, and what to do where something is not right"},
    {"list", bench_list, "what can be compared, and the keys of each codec"},
    {"compare", bench_compare, "apply each compressor, report the metrics"},
    {"sweep", bench_sweep, "vary each codec's rate, report size against error, mark the Pareto front"},
    {"merge", bench_merge, "aggregate many workers' payloads: merge time, decode time, error of the average"},
    {"cost", bench_cost,
     "iteration time under a network model, and from which bandwidth on compressing pays"},
    {"inspect", bench_inspect, "what the tensors of a dump are like"},
    {"encode", bench_encode, "real payloads to disk"},
    {"decode", bench_decode, "payloads back to a dump"},
    {"verify", bench_verify, "check the paper's statements on this data"},
    {"synth", bench_synth, "a gradient dump with known properties"},
    {"plot", bench_plot, "draw a figure of results"},
    {"report", bench_report, "one HTML page of a set of results, or a table of one"},
    {0},
};

int main(int argc, char **argv)
{
    return cli_main("atomo-bench", "compare gradient compressors on saved gradients", commands, argc, argv);
}
