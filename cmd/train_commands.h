/* train_commands.h -- atomo-train's subcommands: each parses its options, calls the library and returns an exit
 * code. */
#ifndef ATOMO_CMD_TRAIN_H
#define ATOMO_CMD_TRAIN_H

#include "app/cli.h"

int train_command_eval(int argc, char **argv);
int train_command_run(int argc, char **argv);
int train_command_tune(int argc, char **argv);

#endif
