/* cli_output.h -- keeps -o from replacing a file that is no older result of the same command. */
#ifndef ATOMO_CLI_OUTPUT_H
#define ATOMO_CLI_OUTPUT_H

#include "app/cli.h"

/* Checks that -o replaces no other file: a regular file must be a result of the command, or --force be given. If
 * it is neither, asks on a terminal, and fails with ERR_USAGE elsewhere or if the answer is no. */
Status cli_keep_other(const Command *command, Arena *a, Error *err);

#endif
