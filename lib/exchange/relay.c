/* relay.c -- implements relay.h. Before payloads, each rank sends the sizes of its payloads, 8 bytes each. A
 * size of FAILED says that the rank could not encode. */
#include "exchange/relay.h"
#include "exchange/segments.h"

#include <string.h>

static const uint64_t FAILED = UINT64_MAX;

size_t relay_first_worker(const Net *net, NetWay way, size_t workers, int rank)
{
    const size_t serves = net && way == NET_ROOT, ranks = (size_t)net_ranks(net) - serves;
    return rank ? workers * ((size_t)rank - serves) / ranks : 0;
}

int relay_rank_of(const Net *net, NetWay way, size_t workers, size_t w)
{
    int rank = 0;
    while (relay_first_worker(net, way, workers, rank + 1) <= w)
        rank++;
    return rank;
}

Status relay_open(Relay *r, Net *net, NetWay way, size_t workers, Arena *a, Error *err)
{
    const int ranks = net_ranks(net);
    *r = (Relay){.net = net, .way = way, .workers = workers};
    r->size = NEW_ZERO(a, uint64_t, workers);
    r->first = NEW(a, size_t, (size_t)ranks + 1);
    r->rank_bytes = NEW(a, size_t, (size_t)ranks);
    TRY(arena_check(r->size && r->first && r->rank_bytes, a, err));
    for (int i = 0; i <= ranks; i++)
        r->first[i] = relay_first_worker(net, way, workers, i);
    return OK;
}

bool relay_takes(const Relay *r)
{
    return net_rank(r->net) == 0 || r->way == NET_ALL || r->way == NET_RING;
}

/* Returns true if rank 0 sends the mean in place of merged payloads. */
static bool sends_mean(const Relay *r, const Exchange *x)
{
    return r->net && r->way == NET_ROOT && !x->adds;
}

bool relay_decodes(const Relay *r, const Exchange *x)
{
    return net_rank(r->net) == 0 || !sends_mean(r, x);
}

/* ---- payloads ---- */

/* Sends the sizes of this rank's payloads to all ranks. */
static Status share_sizes(Relay *r, Status status, Error *err)
{
    const size_t own = r->first[net_rank(r->net)], end = r->first[net_rank(r->net) + 1];
    bool failed = false;
    for (size_t w = own; w < end && status != OK; w++)
        r->size[w] = FAILED;
    for (int i = 0; i < net_ranks(r->net); i++)
        r->rank_bytes[i] = (r->first[i + 1] - r->first[i]) * sizeof *r->size;
    net_gather(r->net, NET_ALL, r->size, r->rank_bytes);
    for (size_t w = 0; w < r->workers; w++)
        failed = failed || r->size[w] == FAILED;
    return failed ? net_agree(r->net, status, err) : OK;
}

/* Copies this rank's payloads to a new array of all payloads, in the order of workers, and gathers the array. */
static Status share_payloads(Relay *r, Exchange *x, Bytes (*sent)[ROUNDS_MAX])
{
    const int round = x->call.round, rank = net_rank(r->net);
    size_t all = 0, at = 0;
    for (int i = 0; i < net_ranks(r->net); i++) {
        r->rank_bytes[i] = 0;
        for (size_t w = r->first[i]; w < r->first[i + 1]; w++)
            r->rank_bytes[i] += r->size[w];
        all += r->rank_bytes[i];
    }
    uint8_t *data = NEW(x->payloads, uint8_t, all);
    TRY(arena_check(data, x->payloads, x->call.err));
    for (size_t w = 0; w < r->workers; at += r->size[w++]) {
        Bytes *payload = &sent[w][round];
        const bool own = w >= r->first[rank] && w < r->first[rank + 1];
        if (own && r->size[w]) /* a worker that does not send may have a payload of an earlier step */
            memcpy(data + at, payload->data, r->size[w]);
        if (!own && relay_takes(r))
            *payload = (Bytes){data + at, r->size[w]};
    }
    net_gather(r->net, r->way, data, r->rank_bytes);
    return OK;
}

Status relay_payloads(Relay *r, Exchange *x, Status status, const bool *sends, const ExchangeWorker *first,
                      Bytes (*sent)[ROUNDS_MAX])
{
    const int rank = net_rank(r->net);
    for (size_t w = 0; w < r->workers; w++) {
        const bool own = w >= r->first[rank] && w < r->first[rank + 1];
        r->size[w] = own && sends[w] && status == OK ? sent[w][x->call.round].size : 0;
    }
    r->merged = (Bytes){0};
    if (!r->net)
        return status;
    TRY(share_sizes(r, status, x->call.err));
    const Segments s = segments_of(r, x, first, sends);
    return segments_used(&s) ? segments_merge(&s, sent, &r->merged) : share_payloads(r, x, sent);
}

/* ---- results of rank 0 ---- */

/* Sends the bytes `*data` of rank 0 to all ranks, if rank 0 has not failed. */
static Status from_root(Relay *r, Exchange *x, Status status, Bytes *data)
{
    const bool root = net_rank(r->net) == 0;
    uint64_t size = status == OK ? data->size : FAILED;
    net_broadcast(r->net, 0, &size, sizeof size);
    if (size == FAILED)
        return net_agree(r->net, status, x->call.err);
    uint8_t *copy = NEW(x->payloads, uint8_t, size);
    TRY(arena_check(copy, x->payloads, x->call.err));
    if (root)
        memcpy(copy, data->data, size);
    net_broadcast(r->net, 0, copy, size);
    if (!root)
        *data = (Bytes){copy, size};
    return OK;
}

Status relay_merged(Relay *r, Exchange *x, int round, Status status, const ExchangeWorker *first)
{
    const bool last = round + 1 == x->rounds;
    if (r->merged.data)
        return exchange_hear(x, first, r->merged);
    if (!r->net || r->way == NET_ALL || r->way == NET_RING)
        return status;
    /* if rank 0 has failed, the other ranks learn it in relay_mean */
    if (last && sends_mean(r, x) && status == OK)
        return OK;
    Bytes merged = x->heard[round];
    TRY(from_root(r, x, status, &merged));
    return relay_takes(r) ? OK : exchange_hear(x, first, merged);
}

Status relay_mean(Relay *r, Exchange *x, Status status)
{
    if (!sends_mean(r, x))
        return status;
    const size_t size = x->call.shape->n * sizeof *x->y;
    Bytes mean = {(const uint8_t *)x->y, size};
    TRY(from_root(r, x, status, &mean));
    if (!relay_decodes(r, x))
        memcpy(x->y, mean.data, size);
    return OK;
}
