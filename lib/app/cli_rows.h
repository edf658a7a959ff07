/* cli_rows.h -- the table of options, for the parser and for help. */
#ifndef ATOMO_CLI_ROWS_H
#define ATOMO_CLI_ROWS_H

#include "app/cli.h"

/* Returns the command's options, then the common options that it takes, then --help, the only switch without a
 * target; ends in {0}. NULL: out of memory. */
const Option *cli_rows(const Command *command, Arena *a, size_t *count);

/* Writes the values that an option takes, for messages and help: "1 to 1000000", "table|csv", "a number". */
const char *cli_range(const Option *o, char out[96]);

/* Returns an option's help followed by "(range, default D, also --alias)", with the parts that the option has. NULL: out
 * of memory. */
const char *cli_describe(const Option *o, Arena *a);

#endif
