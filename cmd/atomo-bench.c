/* atomo-bench.c -- the program atomo-bench: its table of subcommands. */
#include "bench_commands.h"

static const Subcommand commands[] = {
    {"demo", bench_demo, "compare the usual codecs on a gradient that comes with the program"},
    {"doctor", bench_doctor,
     "check this machine: libraries, CPU, memory, and advice where something is wrong"},
    {"list", bench_list, "the codecs, and the keys of each"},
    {"compare", bench_compare, "apply each codec to a gradient dump, report size, time and error"},
    {"sweep", bench_sweep, "vary each codec's rate, report size against error, mark the Pareto front"},
    {"merge", bench_merge, "aggregate many workers' payloads: merge time, decode time, error of the average"},
    {"cost", bench_cost,
     "iteration time under a network model, and the bandwidth below which compressing pays"},
    {"advise", bench_advise, "which codec to use, at which rate, on this network"},
    {"link", bench_link, "measure the latency and bandwidth of a network, under mpirun"},
    {"inspect", bench_inspect, "describe the tensors of a dump: norms, zeros, singular values"},
    {"encode", bench_encode, "write the payloads of a dump to a file"},
    {"decode", bench_decode, "decode a file of payloads to a dump"},
    {"convert", bench_convert, "write a dump anew as HDF5, safetensors or .npz"},
    {"diff", bench_diff, "write the difference of two checkpoints as a dump"},
    {"verify", bench_verify, "check the statements of the ATOMO paper on a dump"},
    {"synth", bench_synth, "write a synthetic gradient dump with a known distribution"},
    {"plot", bench_plot, "draw a figure from results"},
    {"report", bench_report, "make an HTML page of a folder of results, or a table of one result"},
    {0},
};

int main(int argc, char **argv)
{
    static const char first_steps[] =
        "  atomo-bench demo               compare compressors on a gradient of LeNet\n"
        "  atomo-bench compare FILE       on your own: HDF5, safetensors, .npz, .npy\n"
        "  atomo-bench advise FILE        which compressor to use, on which network\n";
    return cli_main("atomo-bench", "compare gradient compressors on saved gradients", first_steps, commands,
                    argc, argv);
}
