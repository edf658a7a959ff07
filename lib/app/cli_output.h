/* cli_output.h -- keeps a command from replacing a file that is no older result of the same command. */
#ifndef ATOMO_CLI_OUTPUT_H
#define ATOMO_CLI_OUTPUT_H

#include "app/cli.h"

/* Checks that -o may replace the file that exists: it must be a result of the same command, or --force must be
 * given. Otherwise asks on a terminal. Without a terminal, or if the answer is no, returns ERR_USAGE. */
Status cli_keep_other(const Command *command, Arena *a, Error *err);

/* Checks in the same way that a file which the command writes without -o may be replaced. */
Status cli_keep_default(const Command *command, const char *path, Arena *a, Error *err);

/* Checks in the same way that a file of gradients which -o does not name may be replaced. `option` names the file
 * in errors; "": an argument. */
Status cli_keep_dump(const Command *command, const char *option, const char *path, Arena *a, Error *err);

#endif
