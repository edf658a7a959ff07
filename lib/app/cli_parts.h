/* cli_parts.h -- what the parser, help and completion share: the table of options; and what cli.c and program.c
 * call of them. */
#ifndef ATOMO_CLI_PARTS_H
#define ATOMO_CLI_PARTS_H

#include "app/cli.h"

/* ---- cli_help.c: the table of options ---- */

/* Returns the command's options, then the common options that it takes, then --help, the only switch without a
 * target; ends in {0}. NULL: out of memory. */
const Option *cli_rows(const Command *command, Arena *a, size_t *count);

/* Returns the option that `word` names, "-c", "--codec" or "--codec=..."; NULL: none. */
const Option *cli_option(const Option *rows, const char *word);

/* Writes the values that an option takes, for messages and help: "1 to 1000000", "table|csv", "a number". */
const char *cli_range(const Option *o, char out[96]);

/* ---- cli_complete.c: completes command lines for shells ---- */

/* Prints what can replace the last of `count` words, a candidate a line. The words are those behind the
 * command's name. Nothing is printed where any file name or text may stand. A candidate that ends in one of
 * : = + is to be followed by more of the same word. */
void cli_complete(const Command *command, int count, char **words, FILE *to, Arena *a);

/* Prints the candidates for the last of the words behind a program's name; false: they are a subcommand's matter. */
bool cli_complete_program(const Subcommand *table, int count, char **words, FILE *to, Arena *a);

#endif
