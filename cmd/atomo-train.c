/* atomo-train.c -- the table of subcommands. */
#include "train.h"

static const Subcommand commands[] = {
    {"run", train_command_run, "train, with P simulated workers and a compressor between them"},
    {0},
};

int main(int argc, char **argv)
{
    return cli_main("atomo-train", "train networks with gradient compressors in the loop", commands, argc,
                    argv);
}
