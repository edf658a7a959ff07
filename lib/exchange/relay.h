/* relay.h -- carries the payloads of several tensors between the ranks of a run (net.h), all in one message.
 *
 * All ranks call relay_payloads and relay_results for the same tensors, with the status of their own work so
 * far. If the work failed on any rank, the function returns the same error on all ranks. In a process that
 * has all workers, both functions send nothing and return the status that they are given. */
#ifndef ATOMO_RELAY_H
#define ATOMO_RELAY_H

#include "exchange/exchange.h"
#include "exchange/net.h"

/* A tensor in a message. All tensors of a message have the same x.payloads, x.call.err and x.call.round. */
typedef struct {
    Exchange x;
    const char *name;
    const ExchangeWorker *first; /* the first worker that sends */
    Bytes (*sent)[ROUNDS_MAX];   /* (workers) the payloads that this rank has */
    /* With NET_RING: the merged payload of the round that relay_payloads has carried, if the ranks have merged it in
     * segments (relay.c). `data` NULL: they have not. */
    Bytes merged;
    Bytes mean; /* the mean as floats, if rank 0 computes it for all ranks (relay_sends_mean) */

    /* A tensor whose sums are quantised again (shots.h); relay_payloads does not carry it. */
    bool shots;
    Bytes again;       /* the payload of the mean */
    float *owned;      /* (x.call.shape->n) with owner feedback, on the owner's rank: the mean that it encoded */
    float **partial;   /* (workers) with SHOTS_HOPS, for workers with a state: the sum that the worker encoded */
    /* With SHOTS_NODES, (nodes): what the leader of a node sends, the mean that it encoded, and what it gets back; (workers)
     * what the workers get from their leaders. */
    Bytes *up, *back, *down;
    float **led;
} RelayTensor;

typedef struct {
    Net *net;
    NetWay way;
    size_t workers;
} Relay;

/* relay_rank_of returns the rank that has worker w. relay_first_worker returns the first worker of a rank;
 * `workers` for rank = net_ranks(net). The ranks' numbers of workers differ by at most 1, except that rank 0
 * has no workers with NET_ROOT. */
int relay_rank_of(const Net *net, NetWay way, size_t workers, size_t w);
size_t relay_first_worker(const Net *net, NetWay way, size_t workers, int rank);

/* Returns true if this rank gets the payloads of all workers, unless the ranks merge them in segments. */
bool relay_takes(const Relay *r);

/* Returns true if rank 0 takes the payloads of a round and sends the result to the other ranks. */
bool relay_has_root(const Relay *r);

/* Returns true if rank 0 sends the mean of x's tensor as floats, in place of the last round's merged payload. */
bool relay_sends_mean(const Relay *r, const Exchange *x);

/* Carries the payloads of one round. t[j]->sent has the payloads of this rank's workers. Merges the payloads to
 * t[j]->merged if NET_RING can; otherwise adds all other payloads to t[j]->sent if relay_takes. `sends` tells which
 * workers send; of their payloads all ranks know the sizes then. */
Status relay_payloads(const Relay *r, RelayTensor *const *t, size_t count, Status status, const bool *sends);

/* A payload that rank `from` has, for rank `to`. */
typedef struct {
    int from, to;
    Bytes *payload; /* then also on rank `to`; the size on all ranks */
} RelayItem;

enum { RELAY_ONE = -1 };

/* Carries payloads between ranks. `way`: RELAY_ONE, each to its rank; or as NetWay says, and `to` is not read. The same items on
 * all ranks, with the status of their own work. */
Status relay_deliver(Net *net, RelayItem *item, size_t count, int way, Status status, Arena *a, Error *err);

/* Ends a round. If relay_has_root, rank 0 sends to the other ranks the merged payload of each tensor or, in
 * the last round of a tensor for which relay_sends_mean is true, the mean t[j]->mean. Otherwise each rank
 * continues with t[j]->merged for the tensors that the ranks have merged in segments. */
Status relay_results(const Relay *r, RelayTensor *const *t, size_t count, int round, Status status);

#endif
