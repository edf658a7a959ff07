/* memory.h -- refuses a command whose memory cannot suffice, before it starts. */
#ifndef ATOMO_APP_MEMORY_H
#define ATOMO_APP_MEMORY_H

#include "base/base.h"

/* Returns ERR_MEMORY if `need` bytes are more than host_memory. The message names the tensor with `elements`
 * elements. */
Status memory_check(uint64_t need, const char *tensor, size_t elements, Error *err);

/* Prints a note about memory on stderr. */
void memory_note(const char *format, ...) PRINTF(1);

#endif
