/* net.c -- the parts of net.h that need no MPI; net_mpi.c has the others. */
#include "exchange/net.h"

#include <stdlib.h>
#include <string.h>

/* Variables that launchers set to the number of processes: Open MPI's mpirun; MPICH's, Intel's and Slurm's PMI. */
static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

static const char *size_told(void)
{
    const char *value = NULL;
    for (size_t i = 0; i < countof(sizes) && !value; i++)
        value = getenv(sizes[i]);
    return value;
}

bool net_launched(void)
{
    const char *size = size_told();
    if (size)
        return strcmp(size, "1") != 0;
    /* `srun --mpi=pmix` sets no number of processes of its own */
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    return getenv("PMIX_RANK") && !(tasks && !strcmp(tasks, "1"));
}

bool net_apart(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS"), *task = getenv("SLURM_PROCID");
    return !net_launched() && tasks && strcmp(tasks, "1") && task && !strcmp(task, "0");
}

bool net_under_launcher(void)
{
    return size_told() || getenv("PMIX_RANK");
}

void net_table(Net *n, void *data, size_t size)
{
    if (!n)
        return;
    for (int r = 0; r < n->ranks; r++)
        n->room[r] = size;
    n->gather(n, NET_ALL, data, n->room);
}

/* Returns the lowest rank on which `flag` is true; -1: on none. */
static int first_with(Net *n, bool flag)
{
    n->flag[n->rank] = flag;
    net_table(n, n->flag, sizeof *n->flag);
    for (int r = 0; r < n->ranks; r++)
        if (n->flag[r])
            return r;
    return -1;
}

bool net_any(Net *n, bool flag)
{
    return n ? first_with(n, flag) >= 0 : flag;
}

Status net_agree(Net *n, Status status, Error *err)
{
    if (!n)
        return status;
    const int first = first_with(n, status != OK);
    if (first < 0)
        return OK;
    n->failed = true;
    net_broadcast(n, first, err, sizeof *err);
    return err->status;
}

void net_continue(Net *n)
{
    if (n)
        n->failed = false;
}

int net_close(Net *n, int code)
{
    if (!n)
        return code;
    if (code && !n->failed)
        n->end(n, code); /* does not return */
    n->end(n, 0);
    return n->rank ? 0 : code;
}

#ifndef ATOMO_MPI

/* ---- a build without MPI has one rank only ---- */

const char *net_library(void)
{
    return "none";
}

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
