/* cli_complete.h -- completes command lines for shells, from the tables that the parser and help use. */
#ifndef ATOMO_CLI_COMPLETE_H
#define ATOMO_CLI_COMPLETE_H

#include "app/cli.h"

/* Prints what can replace the last of `count` words, a candidate a line. The words are those behind the
 * command's name. Nothing is printed where any file name or text may stand. A candidate that ends in one of
 * : = + is to be followed by more of the same word. */
void cli_complete(const Command *command, int count, char **words, FILE *to, Arena *a);

/* Prints the candidates for the name of a subcommand. */
void cli_complete_command(const Subcommand *table, const char *typed, FILE *to);

/* Prints the candidates for a spec: names of codecs, then keys, then values. `before`: the text that stands before
 * the spec in the same word. */
void cli_complete_spec(const char *before, const char *typed, FILE *to, Arena *a);

#endif
