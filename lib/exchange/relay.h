/* relay.h -- carries the payloads of one tensor between the ranks of a run (net.h). In a process that has all
 * workers, its functions only return the status that they are given.
 *
 * Each function is called on all ranks, with the status of this rank's work before. If the work failed on any
 * rank, the function returns the same error on all ranks. */
#ifndef ATOMO_RELAY_H
#define ATOMO_RELAY_H

#include "exchange/exchange.h"
#include "net/net.h"

typedef struct {
    Net *net;
    NetWay way;
    size_t workers;
    uint64_t *size;     /* (workers) bytes of the payloads of the round that relay_payloads has carried */
    size_t *first;      /* (ranks + 1) first worker of each rank */
    size_t *rank_bytes; /* (ranks) */
    /* With NET_RING: the merged payload of the round that relay_payloads has carried, if the ranks have merged it in
     * segments (segments.h). `data` NULL: they have not. */
    Bytes merged;
} Relay;

Status relay_open(Relay *r, Net *net, NetWay way, size_t workers, Arena *a, Error *err);

/* Returns the rank that has worker w, and the first worker of a rank. Each rank has as many workers as the
 * next, or one fewer or more. `rank` = net_ranks(net) gives `workers`. */
int relay_rank_of(const Net *net, NetWay way, size_t workers, size_t w);
size_t relay_first_worker(const Net *net, NetWay way, size_t workers, int rank);

/* Returns true if this rank gets the payloads of all workers. */
bool relay_takes(const Relay *r);

/* Returns true if this rank computes the mean of x's tensor; otherwise relay_mean brings it. */
bool relay_decodes(const Relay *r, const Exchange *x);

/* Carries the payloads of one round. `sent` has the payloads of this rank's workers. Merges the payloads to
 * r->merged if NET_RING can; otherwise adds all other payloads to `sent` if relay_takes. `sends` tells which
 * workers send; `first` is the first of them. */
Status relay_payloads(Relay *r, Exchange *x, Status status, const bool *sends, const ExchangeWorker *first,
                      Bytes (*sent)[ROUNDS_MAX]);

/* Ends a round. If the ranks have merged the payloads in segments, each rank continues with r->merged.
 * Otherwise, with NET_TREE or NET_ROOT, rank 0 sends the merged payload to all ranks, unless relay_mean will
 * send the mean in its place. `first` is the first worker that sent. */
Status relay_merged(Relay *r, Exchange *x, int round, Status status, const ExchangeWorker *first);

/* Sends the mean x->y to the ranks that do not compute it. */
Status relay_mean(Relay *r, Exchange *x, Status status);

#endif
