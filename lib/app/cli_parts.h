/* cli_parts.h -- what the parser, help, manual pages and completion share: the table of options; and what cli.c and program.c
 * call of them. */
#ifndef ATOMO_CLI_PARTS_H
#define ATOMO_CLI_PARTS_H

#include "app/cli.h"

/* ---- cli_rows.c: the table of options ---- */

/* Returns the command's options, then the common options that it takes, then --help, the only switch without a
 * target; ends in {0}. NULL: out of memory. */
const Option *cli_rows(const Command *command, Arena *a, size_t *count);

/* Returns the option that `word` names, "-c", "--codec" or "--codec=..."; NULL: none. */
const Option *cli_option(const Option *rows, const char *word);

/* Writes the values that an option takes, for messages and help: "1 to 1000000", "table|csv", "a number". */
const char *cli_range(const Option *o, char out[96]);

/* Returns an option's help followed by "(range, default D, also --alias)", with the parts that the option has. NULL: out
 * of memory. */
const char *cli_describe(const Option *o, Arena *a);

/* ---- cli_help.c ---- */

/* Adds the command's examples, a line each. */
void cli_examples(TextBuf *out, const Command *c, const char *indent);

/* ---- cli_complete.c: completes command lines for shells ---- */

/* Prints what can replace the last of `count` words, a candidate a line. The words are those behind the
 * command's name. Nothing is printed where any file name or text may stand. A candidate that ends in one of
 * : = + is to be followed by more of the same word. */
void cli_complete(const Command *command, int count, char **words, FILE *to, Arena *a);

/* Prints the candidates for the last of the words behind a program's name; false: they are a subcommand's matter. */
bool cli_complete_program(const Subcommand *table, int count, char **words, FILE *to, Arena *a);

/* ---- cli_man.c: manual pages in the language of man(7). The date is written as "@date@", which the Makefile replaces. ---- */

/* The page PROGRAM-COMMAND(1) of a subcommand. */
void cli_man(const Command *command, FILE *to, Arena *a);

/* The page PROGRAM(1), or, if `page` is "codecs", atomo(7): all codecs and their specs. NULL: no `page` was given. */
void cli_man_program(const char *program, const char *brief, const Subcommand *table, const char *page, FILE *to, Arena *a);

#endif
