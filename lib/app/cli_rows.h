/* cli_rows.h -- what the parser and the help of cli.h share. */
#ifndef ATOMO_CLI_ROWS_H
#define ATOMO_CLI_ROWS_H

#include "app/cli.h"

/* The command's options and the common ones it takes, ending in {0}; NULL: out of memory. --help's row is the
 * last, the only switch without a target. */
const Option *cli_rows(const Command *command, Arena *a, size_t *count);

/* What an option accepts, for messages and help: "1 to 1000000", "table|csv", "a number". */
const char *cli_range(const Option *o, char out[96]);

#endif
