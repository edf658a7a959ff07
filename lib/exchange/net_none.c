/* net_none.c -- implements net.h in a build without MPI: there is one rank only. */
#include "exchange/net.h"

#ifndef ATOMO_MPI

Status net_try(Error *err)
{
    (void)err;
    return OK;
}

Status net_open(Net **out, Arena *a, Error *err)
{
    (void)a;
    *out = NULL;
    if (!net_launched())
        return OK;
    FAIL(err, ERR_USAGE, "started as one of several processes, but built without MPI: each would work alone");
    return error_hint(
        err, "`make deps-mpi`, then `make`, builds it with MPI; --workers simulates workers without");
}

#endif
