/* net.c -- the parts of net.h that need no MPI. */
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

void net_gather(Net *n, NetWay way, void *data, const size_t *size)
{
    if (n)
        n->gather(n, way, data, size);
}

void net_table(Net *n, void *data, size_t size)
{
    if (!n)
        return;
    for (int r = 0; r < n->ranks; r++)
        n->room[r] = size;
    n->gather(n, NET_ALL, data, n->room);
}

void net_scatter(Net *n, const void *out, const size_t *out_size, void *in, const size_t *in_size)
{
    if (n)
        n->scatter(n, out, out_size, in, in_size);
}

void net_broadcast(Net *n, int root, void *data, size_t size)
{
    if (n)
        n->broadcast(n, root, data, size);
}

void net_move(Net *n, int from, int to, void *data, size_t size)
{
    if (n && from != to)
        n->move(n, from, to, data, size);
}

void net_tell(Net *n, int to, uint64_t word)
{
    n->tell(n, to, word);
}

uint64_t net_hear(Net *n)
{
    return n->hear(n, n->rank ? 0 : -1);
}

bool net_told(Net *n)
{
    return n->told(n);
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
