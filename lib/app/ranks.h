/* ranks.h -- what commands on several ranks (net.h) share: joining the ranks, and ending together. */
#ifndef ATOMO_RANKS_H
#define ATOMO_RANKS_H

#include "base/arena.h"
#include "exchange/net.h"

/* Joins the other ranks, as net_open. On ranks other than 0, output to stdout is discarded from then on. */
Status ranks_join(Net **out, Arena *a, Error *err);

/* Ends a command: if `status` is not OK, prints the error; rank 0 alone prints an error on which all ranks
 * have agreed. Leaves the ranks. Returns the exit code. */
int ranks_leave(Net *n, const char *program, Status status, const Error *err);

#endif
