/* relay.h -- carries the payloads of several tensors between the ranks of a run (net.h), all in one message. In a
 * process that has all workers, its functions only return the status that they are given.
 *
 * Each function is called on all ranks for the same tensors, with the status of this rank's work before. If the work
 * failed on any rank, the function returns the same error on all ranks. */
#ifndef ATOMO_RELAY_H
#define ATOMO_RELAY_H

#include "exchange/exchange.h"
#include "net/net.h"

/* A tensor in a message. All tensors of a message have the same x.payloads, x.call.err and x.call.round. */
typedef struct {
    Exchange x;
    const char *name;
    const ExchangeWorker *first; /* the first worker that sends */
    Bytes (*sent)[ROUNDS_MAX];   /* (workers) the payloads that this rank has */
    /* With NET_RING: the merged payload of the round that relay_payloads has carried, if the ranks have merged it in
     * segments (segments.h). `data` NULL: they have not. */
    Bytes merged;
    Bytes mean; /* the mean as floats, if rank 0 computes it for all ranks (relay_sends_mean) */
} RelayTensor;

typedef struct {
    Net *net;
    NetWay way;
    size_t workers;
    /* (workers, tensors of the message) bytes of the payloads of the round that relay_payloads has carried */
    uint64_t *size;
    size_t *first;      /* (ranks + 1) first worker of each rank */
    size_t *rank_bytes; /* (ranks) */
} Relay;

/* `most`: the most tensors in one message. */
Status relay_open(Relay *r, Net *net, NetWay way, size_t workers, size_t most, Arena *a, Error *err);

/* Returns the rank that has worker w, and the first worker of a rank. Each rank has as many workers as the
 * next, or one fewer or more. `rank` = net_ranks(net) gives `workers`. */
int relay_rank_of(const Net *net, NetWay way, size_t workers, size_t w);
size_t relay_first_worker(const Net *net, NetWay way, size_t workers, int rank);

/* Returns true if this rank gets the payloads of all workers. */
bool relay_takes(const Relay *r);

/* Returns true if rank 0 takes the payloads of a round and sends the result to the other ranks. */
bool relay_has_root(const Relay *r);

/* Returns true if rank 0 sends the mean of x's tensor as floats, in place of the last round's merged payload. */
bool relay_sends_mean(const Relay *r, const Exchange *x);

/* Carries the payloads of one round. t[j]->sent has the payloads of this rank's workers. Merges the payloads to
 * t[j]->merged if NET_RING can; otherwise adds all other payloads to t[j]->sent if relay_takes. `sends` tells which
 * workers send. */
Status relay_payloads(Relay *r, RelayTensor *const *t, size_t count, Status status, const bool *sends);

/* Ends a round on ranks that did not take its payloads, or on all ranks for tensors with t[j]->merged: sends them the
 * merged payloads, or the means t[j]->mean of rank 0, where they need them. */
Status relay_results(Relay *r, RelayTensor *const *t, size_t count, int round, Status status);

#endif
