/* net.h -- connects the processes of one run, which an MPI launcher such as `mpirun` has started. A process
 * is called a rank; ranks count from 0. All ranks call the functions below in the same order, with sizes that
 * match.
 *
 * The functions that exchange data cannot fail: if a connection breaks, MPI ends all ranks. `Net *` NULL
 * means that there is one rank only; the functions then exchange nothing. A program that only holds a `Net *` does not need MPI, because the functions of MPI are called
 * through pointers. */
#ifndef ATOMO_NET_H
#define ATOMO_NET_H

#include "base/arena.h"

/* The ways that parts travel from all ranks. */
typedef enum {
    NET_ALL,  /* MPI_Allgatherv: all ranks get all parts */
    NET_RING, /* each rank passes parts on to the next rank; all ranks get all parts */
    NET_TREE, /* MPI_Gatherv: rank 0 gets all parts */
    NET_ROOT, /* the same, where rank 0 has no workers */
} NetWay;

typedef struct Net Net;
struct Net {
    int rank, ranks;
    int neighbours; /* number of ranks on this machine, this rank included */
    /* Bytes of this rank. A byte counts once for its sender, however often MPI copies it on its way. */
    uint64_t sent, received;
    double seconds;  /* time spent in net_gather, net_scatter, net_broadcast, net_move and net_hear */
    bool serialized; /* true: the MPI library allows calls from any thread, from one at a time */
    /* Set by the caller, to the same value on all ranks. True: net_gather, net_scatter, net_broadcast and
     * net_move use MPI's non-blocking functions and sleep while they wait, because another thread of this rank
     * computes. */
    bool patient;
    bool failed; /* true: net_agree has returned an error, so all ranks stop together */

    /* Use the functions below instead of these members. */
    void (*gather)(Net *n, NetWay way, uint8_t *data, const size_t *size);
    void (*scatter)(Net *n, const uint8_t *out, const size_t *out_size, uint8_t *in, const size_t *in_size);
    void (*broadcast)(Net *n, int root, uint8_t *data, size_t size);
    void (*move)(Net *n, int from, int to, uint8_t *data, size_t size);
    void (*tell)(Net *n, int to, uint64_t word);
    uint64_t (*hear)(Net *n, int from);
    bool (*told)(Net *n);
    void (*end)(Net *n, int code);
    size_t *room; /* (ranks) working memory of `gather`: the number of bytes of each rank's part */
    bool *flag;   /* (ranks) working memory of net_any and net_agree: the flag of each rank */
};

/* ---- opening ---- */

/* Returns name and version of the MPI library that this program was built with; "none": built without MPI. */
const char *net_library(void);

/* Loads that library. Fails if it cannot be loaded; OK if the program was built without MPI. */
Status net_try(Error *err);

/* Returns true if an MPI launcher has started this process as one of several. */
bool net_launched(void);

/* Returns true if this process is the first of several that Slurm's srun has started without MPI. */
bool net_apart(void);

/* Returns true if an MPI launcher has started this process, which then passes on what it prints. */
bool net_under_launcher(void);

/* Joins the other ranks. Sets *out to NULL if no launcher has started several processes. ERR_USAGE: there are
 * several processes, but this program was built without MPI, or its MPI library finds only this one. */
Status net_open(Net **out, Arena *a, Error *err);

/* Leaves the other ranks. If this rank alone has failed (code other than 0, net->failed false), all ranks are
 * ended with this exit code. Returns the exit code of this rank: of the ranks that failed together, only rank 0
 * returns `code`. */
int net_close(Net *n, int code);

/* ---- exchanging data ---- */

static inline int net_rank(const Net *n)
{
    return n ? n->rank : 0;
}

static inline int net_ranks(const Net *n)
{
    return n ? n->ranks : 1;
}

/* Gathers the ranks' parts. The parts lie end to end in `data`, in the order of ranks; part r has size[r] bytes.
 * Each rank has filled in its own part. */
static inline void net_gather(Net *n, NetWay way, void *data, const size_t *size)
{
    if (n)
        n->gather(n, way, data, size);
}

/* As net_gather with NET_ALL, for parts of equal size. */
void net_table(Net *n, void *data, size_t size);

/* Sends a part to each rank, and receives a part from each rank. The parts for the ranks lie end to end in `out`,
 * in the order of ranks, and the parts from the ranks in `in`. Part r has out_size[r] or in_size[r] bytes. */
static inline void net_scatter(Net *n, const void *out, const size_t *out_size, void *in, const size_t *in_size)
{
    if (n)
        n->scatter(n, out, out_size, in, in_size);
}

/* Rank `root` sends to all. */
static inline void net_broadcast(Net *n, int root, void *data, size_t size)
{
    if (n)
        n->broadcast(n, root, data, size);
}

/* Sends from one rank to another; does nothing on other ranks, or if from == to. */
static inline void net_move(Net *n, int from, int to, void *data, size_t size)
{
    if (n && from != to)
        n->move(n, from, to, data, size);
}

/* Words are single numbers, by which a rank tells rank 0 that it is done, and rank 0 answers. Only with several ranks.
 * net_tell does not wait for the receiver. net_hear waits for a word: on rank 0 the first one of any rank, elsewhere one of
 * rank 0. net_told returns true if there is a word of rank 0 that this rank has not heard. */
static inline void net_tell(Net *n, int to, uint64_t word)
{
    n->tell(n, to, word);
}

static inline uint64_t net_hear(Net *n)
{
    return n->hear(n, n->rank ? 0 : -1);
}

static inline bool net_told(Net *n)
{
    return n->told(n);
}

/* Returns true on all ranks if `flag` is true on any. */
bool net_any(Net *n, bool flag);

/* Called after net_agree has returned an error, if all ranks go on with other work. */
void net_continue(Net *n);

/* Returns OK if `status` is OK on all ranks. Otherwise copies the error of the first rank that failed to all
 * ranks, and returns its status. */
Status net_agree(Net *n, Status status, Error *err);

#endif
