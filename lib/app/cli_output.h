/* cli_output.h -- keeps -o from replacing a file that is no older result of the same command. */
#ifndef ATOMO_CLI_OUTPUT_H
#define ATOMO_CLI_OUTPUT_H

#include "app/cli.h"

/* True if the file at `path` is empty, or may be an older result of `command`: a JSON or CSV result by its schema
 * or columns, a dump, payloads or a page by its first bytes, a figure by the file of numbers beside it. A table in
 * text, Markdown or LaTeX counts for every command that writes tables, because no table names its command. */
bool cli_is_result(const Command *command, const char *path, Arena *a);

/* Checks that -o replaces no other file: a regular file must be a result of the command, or --force be given. If
 * it is neither, asks on a terminal, and fails with ERR_USAGE elsewhere or if the answer is no. */
Status cli_keep_other(const Command *command, Arena *a, Error *err);

#endif
