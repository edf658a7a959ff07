/* cli_other.h -- hints for options that other programs have. */
#ifndef ATOMO_CLI_OTHER_H
#define ATOMO_CLI_OTHER_H

#include "app/cli.h"

/* Adds a hint to the error `err` that no option is called `name`: the option of `rows` or the codec's key that does
 * the same. Returns the status of `err`, or OK without a hint if there is none. */
Status cli_other_hint(const Option *rows, const char *name, Error *err);

#endif
