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
    static const char first_steps[] =
        "  atomo-train run --workers 4 -c none -c ef+topk -o run.csv     train on data that need no files\n"
        "  atomo-bench plot convergence run.csv -o run.svg               draw accuracy against time\n";
    return cli_main("atomo-train", "train networks with gradient compressors in the loop", first_steps,
                    commands, argc, argv);
}
