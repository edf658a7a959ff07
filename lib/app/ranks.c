/* ranks.c -- implements ranks.h. */
#include "app/ranks.h"

#include "app/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

Status ranks_join(Net **out, Arena *a, Error *err)
{
    TRY(net_open(out, a, err));
    return net_rank(*out) && !freopen("/dev/null", "w", stdout)
               ? FAIL(err, ERR_IO, "/dev/null: cannot open: %s", strerror(errno))
               : OK;
}

int ranks_leave(Net *n, const char *program, Status status, const Error *err)
{
    int code = status != OK;
    if (status != OK && (!n || !n->rank || !n->failed))
        code = cli_report(program, err);
    /* Once rank 0 has ended with an error, the launcher stops the other ranks, which are ending themselves. */
    if (n && n->rank && n->failed)
        signal(SIGTERM, SIG_IGN);
    return net_close(n, code);
}
