/* cli_man.h -- manual pages in the language of man(7), from the tables that help uses. The date is written as
 * "@date@", which the Makefile replaces. */
#ifndef ATOMO_CLI_MAN_H
#define ATOMO_CLI_MAN_H

#include "app/cli.h"

/* The page PROGRAM-COMMAND(1) of a subcommand. */
void cli_man(const Command *command, FILE *to, Arena *a);

/* The page PROGRAM(1). */
void cli_man_program(const char *program, const char *brief, const Subcommand *table, FILE *to);

/* The page atomo(7): all codecs and their specs. */
void cli_man_codecs(FILE *to, Arena *a);

#endif
