/* relay.c -- implements relay.h. Before payloads, each rank sends the sizes of its payloads, 8 bytes each. A
 * size of FAILED says that the rank could not encode. In a message, the payloads of a worker follow one another in
 * the order of tensors, and the workers follow one another in their order. */
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

Status relay_open(Relay *r, Net *net, NetWay way, size_t workers, size_t most, Arena *a, Error *err)
{
    const int ranks = net_ranks(net);
    *r = (Relay){.net = net, .way = way, .workers = workers};
    r->size = NEW_ZERO(a, uint64_t, workers * most);
    r->first = NEW(a, size_t, (size_t)ranks + 1);
    r->rank_bytes = NEW(a, size_t, (size_t)ranks);
    TRY(arena_check(r->size && r->first && r->rank_bytes, a, err));
    for (int i = 0; i <= ranks; i++)
        r->first[i] = relay_first_worker(net, way, workers, i);
    return OK;
}

bool relay_takes(const Relay *r)
{
    return net_rank(r->net) == 0 || !relay_has_root(r);
}

bool relay_has_root(const Relay *r)
{
    return r->net && (r->way == NET_TREE || r->way == NET_ROOT);
}

bool relay_sends_mean(const Relay *r, const Exchange *x)
{
    return r->net && r->way == NET_ROOT && !x->adds;
}

static bool is_own(const Relay *r, size_t w)
{
    const int rank = net_rank(r->net);
    return w >= r->first[rank] && w < r->first[rank + 1];
}

/* ---- payloads ---- */

/* Sends the sizes of this rank's payloads to all ranks. */
static Status share_sizes(Relay *r, size_t count, Status status, Error *err)
{
    const size_t own = r->first[net_rank(r->net)], end = r->first[net_rank(r->net) + 1];
    bool failed = false;
    for (size_t i = own * count; i < end * count && status != OK; i++)
        r->size[i] = FAILED;
    for (int i = 0; i < net_ranks(r->net); i++)
        r->rank_bytes[i] = (r->first[i + 1] - r->first[i]) * count * sizeof *r->size;
    net_gather(r->net, NET_ALL, r->size, r->rank_bytes);
    for (size_t i = 0; i < r->workers * count; i++)
        failed = failed || r->size[i] == FAILED;
    return failed ? net_agree(r->net, status, err) : OK;
}

/* Copies this rank's payloads to a new array of all payloads, and gathers the array. Leaves out tensors that the ranks
 * have merged. */
static Status share_payloads(Relay *r, RelayTensor *const *t, size_t count)
{
    const int round = t[0]->x.call.round;
    Arena *a = t[0]->x.payloads;
    size_t all = 0, at = 0;
    for (int i = 0; i < net_ranks(r->net); i++) {
        r->rank_bytes[i] = 0;
        for (size_t w = r->first[i]; w < r->first[i + 1]; w++)
            for (size_t j = 0; j < count; j++)
                r->rank_bytes[i] += t[j]->merged.data ? 0 : r->size[w * count + j];
        all += r->rank_bytes[i];
    }
    uint8_t *data = NEW(a, uint8_t, all);
    TRY(arena_check(data, a, t[0]->x.call.err));
    for (size_t i = 0; i < r->workers * count; i++) {
        const RelayTensor *tensor = t[i % count];
        Bytes *payload = &tensor->sent[i / count][round];
        if (tensor->merged.data)
            continue;
        if (is_own(r, i / count) && r->size[i])
            memcpy(data + at, payload->data, r->size[i]);
        else if (!is_own(r, i / count) && relay_takes(r))
            *payload = (Bytes){data + at, r->size[i]};
        at += r->size[i];
    }
    net_gather(r->net, r->way, data, r->rank_bytes);
    return OK;
}

/* Merges in segments the payloads that allow it. Sets *left to the number of other tensors. */
static Status merge_segments(Relay *r, RelayTensor *const *t, size_t count, const bool *sends, size_t *left)
{
    Arena *a = t[0]->x.payloads;
    Segments *s = NEW(a, Segments, count);
    size_t merged = 0;
    TRY(arena_check(s, a, t[0]->x.call.err));
    for (size_t j = 0; j < count; j++) {
        s[merged] = segments_of(r, t[j], sends);
        merged += segments_used(&s[merged]);
    }
    *left = count - merged;
    return merged ? segments_merge(s, merged) : OK;
}

Status relay_payloads(Relay *r, RelayTensor *const *t, size_t count, Status status, const bool *sends)
{
    const int round = t[0]->x.call.round;
    size_t left = count;
    for (size_t w = 0; w < r->workers; w++)
        for (size_t j = 0; j < count; j++)
            r->size[w * count + j] = is_own(r, w) && sends[w] && status == OK ? t[j]->sent[w][round].size : 0;
    for (size_t j = 0; j < count; j++)
        t[j]->merged = (Bytes){0};
    if (!r->net)
        return status;
    if (r->way == NET_ROOT) /* the server has no payload whose size could say that it has failed */
        TRY(net_agree(r->net, status, t[0]->x.call.err));
    TRY(share_sizes(r, count, status, t[0]->x.call.err));
    if (r->way == NET_RING)
        TRY(merge_segments(r, t, count, sends, &left));
    return left ? share_payloads(r, t, count) : OK;
}

/* ---- results of rank 0 ---- */

/* Sends the bytes result[j] of rank 0 to all ranks, if rank 0 has not failed. */
static Status from_root(Relay *r, Exchange *x, Status status, Bytes *result, size_t count)
{
    const bool root = net_rank(r->net) == 0;
    size_t all = 0;
    uint64_t *size = NEW_ZERO(x->payloads, uint64_t, count);
    TRY(arena_check(size, x->payloads, x->call.err));
    for (size_t j = 0; j < count && root; j++)
        size[j] = status == OK ? result[j].size : FAILED;
    net_broadcast(r->net, 0, size, count * sizeof *size);
    if (size[0] == FAILED)
        return net_agree(r->net, status, x->call.err);
    for (size_t j = 0; j < count; j++)
        all += size[j];
    uint8_t *data = NEW(x->payloads, uint8_t, all), *at = data;
    TRY(arena_check(data, x->payloads, x->call.err));
    for (size_t j = 0; j < count; at += size[j++])
        if (root)
            memcpy(at, result[j].data, size[j]);
        else
            result[j] = (Bytes){at, size[j]};
    net_broadcast(r->net, 0, data, all);
    return OK;
}

static Status share_results(Relay *r, RelayTensor *const *t, size_t count, int round, Status status)
{
    Exchange *x = &t[0]->x;
    Bytes *result = NEW(x->payloads, Bytes, count);
    TRY(arena_check(result, x->payloads, x->call.err));
    for (size_t j = 0; j < count; j++)
        result[j] = t[j]->mean.data ? t[j]->mean : t[j]->x.heard[round];
    TRY(from_root(r, x, status, result, count));
    for (size_t j = 0; j < count && !relay_takes(r); j++)
        if (round + 1 == t[j]->x.rounds && relay_sends_mean(r, &t[j]->x))
            t[j]->mean = result[j];
        else
            TRY(exchange_hear(&t[j]->x, t[j]->first, result[j]));
    return OK;
}

Status relay_results(Relay *r, RelayTensor *const *t, size_t count, int round, Status status)
{
    if (relay_has_root(r))
        return share_results(r, t, count, round, status);
    for (size_t j = 0; j < count && status == OK; j++)
        if (t[j]->merged.data)
            status = exchange_hear(&t[j]->x, t[j]->first, t[j]->merged);
    return status;
}
