/* atomo-train.c -- the program atomo-train: its table of subcommands. */
#include "train_commands.h"

static const Subcommand commands[] = {
    {"run", train_command_run, "train with P simulated workers that exchange compressed gradients"},
    {"eval", train_command_eval, "test the checkpoints of a run"},
    {"tune", train_command_tune, "find the step size for each codec by validation loss"},
    {0},
};

int main(int argc, char **argv)
{
    return cli_main("atomo-train", "train networks with gradient compressors in the loop", commands, argc,
                    argv);
}
