/* atomo-bench.c -- the table of subcommands. */
#include "bench.h"

static const Subcommand commands[] = {
    {"list", bench_list, "what can be compared, and the keys of each codec"},
    {0},
};

int main(int argc, char **argv)
{
    return cli_main("atomo-bench", "compare gradient compressors on saved gradients", commands, argc, argv);
}
