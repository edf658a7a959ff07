/* relay.c -- implements relay.h. Before payloads, each rank sends whether it has failed, and the sizes of its payloads, 8 bytes
 * each. In a message, the payloads of a worker follow one another in the order of tensors, and the workers follow one another
 * in their order. */
#include "exchange/relay.h"
#include "compress/numbers.h"

#include <string.h>
#include <assert.h>

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

/* ---- payloads from one rank to another ---- */

/* Tells all ranks the sizes of the items, and whether a rank has failed. */
static Status deliver_sizes(Net *net, RelayItem *item, size_t count, Status status, Arena *a, Error *err)
{
    size_t *bytes = NEW_ZERO(a, size_t, (size_t)net->ranks), at = 0;
    uint64_t *size = NEW_ZERO(a, uint64_t, count + (size_t)net->ranks);
    bool failed = false;
    TRY(arena_check(bytes && size, a, err));
    for (int r = 0; r < net->ranks; r++) {
        const size_t first = at;
        size[at++] = r == net->rank && status != OK;
        for (size_t i = 0; i < count; i++)
            if (item[i].from == r)
                size[at++] = r == net->rank ? item[i].payload->size : 0;
        bytes[r] = (at - first) * sizeof *size;
    }
    net_gather(net, NET_ALL, size, bytes);
    for (int r = 0, first = 0; r < net->ranks; first += (int)(bytes[r++] / sizeof *size))
        failed = failed || size[first];
    if (failed)
        return net_agree(net, status, err);
    for (int r = 0; r < net->ranks; r++) {
        size++;
        for (size_t i = 0; i < count; i++)
            if (item[i].from == r)
                item[i].payload->size = (size_t)*size++;
    }
    return OK;
}

/* Copies to `out` the items that this rank sends to rank `to` (-1: to all), and adds their sizes to *size. */
static uint8_t *deliver_copy(const Net *net, const RelayItem *item, size_t count, int to, uint8_t *out, size_t *size)
{
    for (size_t i = 0; i < count; i++)
        if (item[i].from == net->rank && item[i].payload->size && (to < 0 || item[i].to == to)) {
            memcpy(out, item[i].payload->data, item[i].payload->size);
            out += item[i].payload->size;
            *size += item[i].payload->size;
        }
    return out;
}

/* Points the items that have come from rank `from` to their bytes. */
static const uint8_t *deliver_take(const Net *net, RelayItem *item, size_t count, bool all, int from, const uint8_t *in)
{
    for (size_t i = 0; i < count; i++)
        if (item[i].from == from && (all || item[i].to == net->rank)) {
            item[i].payload->data = in;
            in += item[i].payload->size;
        }
    return in;
}

static bool gets_all(const Net *net, int way)
{
    return way == NET_ALL || way == NET_RING || net->rank == 0;
}

/* Carries the items, whose sizes all ranks know. */
static Status deliver(Net *net, RelayItem *item, size_t count, int way, Arena *a, Error *err)
{
    const bool all = way != RELAY_ONE;
    const size_t ranks = (size_t)net->ranks;
    size_t *out_size = NEW_ZERO(a, size_t, ranks), *in_size = NEW_ZERO(a, size_t, ranks), sent = 0, received = 0, before = 0;
    TRY(arena_check(out_size && in_size, a, err));
    for (size_t i = 0; i < count; i++) {
        const size_t size = item[i].payload->size;
        sent += item[i].from == net->rank ? size : 0;
        if (!all && item[i].to != net->rank)
            continue;
        in_size[item[i].from] += size;
        received += size;
        before += item[i].from < net->rank ? size : 0;
    }
    uint8_t *in = NEW(a, uint8_t, received), *out = all ? in + before : NEW(a, uint8_t, sent), *at = out;
    TRY(arena_check(in && out, a, err));
    for (int r = 0; r < (all ? 1 : net->ranks); r++)
        at = deliver_copy(net, item, count, all ? -1 : r, at, &out_size[r]);
    if (all)
        net_gather(net, (NetWay)way, in, in_size);
    else
        net_scatter(net, out, out_size, in, in_size);
    const uint8_t *from = in;
    for (int r = 0; r < net->ranks && (!all || gets_all(net, way)); r++)
        from = deliver_take(net, item, count, all, r, from);
    return OK;
}

Status relay_deliver(Net *net, RelayItem *item, size_t count, int way, Status status, Arena *a, Error *err)
{
    if (!net)
        return status;
    TRY(deliver_sizes(net, item, count, status, a, err));
    return count ? deliver(net, item, count, way, a, err) : OK;
}

/* ---- merging in segments ----
 *
 * Merges the payloads of one round, of one or several tensors, in segments, one on each rank: an all-reduce of payloads.
 * For payloads that merge number by number (compress/numbers.h).
 *
 * Rank r receives segment r of all payloads (a reduce-scatter), and adds them up in the order of workers. Then the
 * merged segments go round a ring (an all-gather). With P ranks and as many workers, a rank sends (P - 1) / P of a
 * payload and (P - 1) / P of the merged payload.
 *
 * The sums are those of codec_merge, bit for bit, because each number is added in the same order. A ring that adds
 * on the way would add each segment in another order. */

enum { LEAST = 64 }; /* numbers in a segment */

typedef struct {
    RelayTensor *tensor;
    Call call;
    Numbers numbers;
    size_t segments, own;  /* number of segments, and this rank's one */
    Bytes *slice;          /* (call.workers, segments) segments of the payloads, in the order of workers */
    Bytes *merged;         /* (segments) segments of the merged payload */
} Segments;

static size_t segment_at(const Segments *s, size_t i)
{
    return numbers_cut(&s->numbers, s->segments, i);
}

/* Returns the bytes of a segment whose numbers have `bits` bits. */
static size_t segment_size(const Segments *s, size_t i, int bits)
{
    return numbers_size(&s->numbers, segment_at(s, i + 1) - segment_at(s, i), bits);
}

/* Sends each rank its segment of all payloads. */
static Status send_slices(const Relay *r, Segments *s, size_t count, const bool *sends, RelayItem *item)
{
    size_t items = 0;
    for (size_t j = 0; j < count; j++) {
        const Numbers *m = &s[j].numbers;
        Bytes *slice = s[j].slice;
        for (size_t w = 0; w < r->workers; w++)
            for (size_t i = 0; i < s->segments && sends[w]; i++, slice++) {
                const uint8_t *sent = s[j].tensor->sent[w][s->call.round].data;
                const size_t at = numbers_head(m) + numbers_size(m, segment_at(&s[j], i), m->bits);
                const int from = relay_rank_of(r->net, r->way, r->workers, w);
                *slice = (Bytes){from == r->net->rank ? sent + at : NULL, segment_size(&s[j], i, m->bits)};
                item[items++] = (RelayItem){from, (int)i, slice};
            }
    }
    return deliver(r->net, item, items, RELAY_ONE, s->tensor->x.payloads, s->call.err);
}

static Status add(void *arg)
{
    const Segments *s = arg;
    const size_t workers = (size_t)s->call.workers, numbers = segment_at(s, s->own + 1) - segment_at(s, s->own);
    const uint8_t **in = NEW(s->tensor->x.payloads, const uint8_t *, workers);
    uint8_t *out = NEW(s->tensor->x.payloads, uint8_t, s->merged[s->own].size);
    TRY(arena_check(in && out, s->tensor->x.payloads, s->call.err));
    for (size_t k = 0; k < workers; k++)
        in[k] = s->slice[k * s->segments + s->own].data;
    s->merged[s->own].data = out;
    return numbers_add(&s->call, &s->numbers, in, workers, numbers, out);
}

static Status add_slices(Segments *s)
{
    const ExchangeClock *clock = &s->tensor->x.clock;
    const Status status = clock->run ? clock->run(clock->data, EXCHANGE_MERGE, s->tensor->first->index, add, s) : add(s);
    return status == OK ? OK
                        : error_at(s->call.err, "%s: segment %zu, from number %zu on", s->tensor->name, s->own,
                                   segment_at(s, s->own));
}

/* Makes the merged payload from its segments. */
static Status join_segments(const Segments *s)
{
    const Numbers *m = &s->numbers;
    Buf out = {.cap = 16 + numbers_size(m, m->count, m->merged_bits)};
    out.data = NEW(s->tensor->x.payloads, uint8_t, out.cap);
    TRY(arena_check(out.data, s->tensor->x.payloads, s->call.err));
    numbers_merged_head(&s->call, m, &out);
    for (size_t i = 0; i < s->segments; i++)
        if (s->merged[i].size)
            buf_copy(&out, s->merged[i].data, s->merged[i].size);
    s->tensor->merged = buf_bytes(&out);
    return OK;
}

/* Merges the payloads of `count` tensors to s[j].tensor->merged. s[j].tensor->sent has the payloads of this rank's
 * workers. The merged payloads are valid to the end of the step. Errors are the same on all ranks. */
static Status segments_merge(const Relay *r, Segments *s, size_t count, const bool *sends)
{
    Arena *a = s->tensor->x.payloads;
    RelayItem *item = NEW(a, RelayItem, count * s->segments * (size_t)s->call.workers);
    Status status = OK;
    TRY(arena_check(item, a, s->call.err));
    TRY(send_slices(r, s, count, sends, item));
    for (size_t j = 0; j < count; j++) {
        for (size_t i = 0; i < s->segments; i++) {
            s[j].merged[i].size = segment_size(&s[j], i, s[j].numbers.merged_bits);
            item[j * s->segments + i] = (RelayItem){.from = (int)i, .payload = &s[j].merged[i]};
        }
        status = status == OK ? add_slices(&s[j]) : status;
    }
    TRY(net_agree(r->net, status, s->call.err));
    TRY(deliver(r->net, item, count * s->segments, NET_RING, a, s->call.err));
    for (size_t j = 0; j < count; j++)
        TRY(join_segments(&s[j]));
    return OK;
}

/* Merges in segments the payloads that allow it. Sets *left to the number of other tensors. */
static Status merge_segments(const Relay *r, RelayTensor *const *t, size_t count, const bool *sends, size_t *left)
{
    Arena *a = t[0]->x.payloads;
    Segments *all = NEW(a, Segments, count);
    size_t merged = 0;
    TRY(arena_check(all, a, t[0]->x.call.err));
    for (size_t j = 0; j < count; j++) {
        Segments *s = &all[merged];
        *s = (Segments){.tensor = t[j],
                        .call = exchange_call(&t[j]->x, t[j]->first),
                        .segments = (size_t)r->net->ranks,
                        .own = (size_t)r->net->rank};
        s->numbers = codec_numbers(&s->call);
        if (s->numbers.count < LEAST * s->segments)
            continue;
        s->slice = NEW(a, Bytes, (size_t)s->call.workers * s->segments);
        s->merged = NEW(a, Bytes, s->segments);
        TRY(arena_check(s->slice && s->merged, a, s->call.err));
        merged++;
    }
    *left = count - merged;
    return merged ? segments_merge(r, all, merged, sends) : OK;
}

/* ---- payloads ---- */

/* Lists the payloads of the tensors that the ranks have not merged. */
static size_t list_payloads(const Relay *r, RelayTensor *const *t, size_t count, const bool *sends, RelayItem *item)
{
    const int round = t[0]->x.call.round;
    size_t items = 0;
    for (size_t w = 0; w < r->workers; w++)
        for (size_t j = 0; j < count && sends[w]; j++)
            if (!t[j]->merged.data)
                item[items++] =
                    (RelayItem){.from = relay_rank_of(r->net, r->way, r->workers, w), .payload = &t[j]->sent[w][round]};
    return items;
}

Status relay_payloads(const Relay *r, RelayTensor *const *t, size_t count, Status status, const bool *sends)
{
    Arena *a = t[0]->x.payloads;
    Error *err = t[0]->x.call.err;
    size_t left = count;
    for (size_t j = 0; j < count; j++)
        t[j]->merged = (Bytes){0};
    if (!r->net)
        return status;
    RelayItem *item = NEW(a, RelayItem, r->workers * count);
    TRY(arena_check(item, a, err));
    TRY(deliver_sizes(r->net, item, list_payloads(r, t, count, sends, item), status, a, err));
    if (r->way == NET_RING)
        TRY(merge_segments(r, t, count, sends, &left));
    return left ? deliver(r->net, item, list_payloads(r, t, count, sends, item), (int)r->way, a, err) : OK;
}

/* ---- results of rank 0 ---- */

/* Sends the bytes result[j] of rank 0 to all ranks. */
static Status from_root(const Relay *r, const Exchange *x, Bytes *result, size_t count)
{
    const bool root = net_rank(r->net) == 0;
    size_t all = 0;
    uint64_t *size = NEW_ZERO(x->payloads, uint64_t, count);
    TRY(arena_check(size, x->payloads, x->call.err));
    for (size_t j = 0; j < count && root; j++)
        size[j] = result[j].size;
    net_broadcast(r->net, 0, size, count * sizeof *size);
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

static Status share_results(const Relay *r, RelayTensor *const *t, size_t count, int round, Status status)
{
    Exchange *x = &t[0]->x;
    TRY(net_agree(r->net, status, x->call.err));
    Bytes *result = NEW(x->payloads, Bytes, count);
    TRY(arena_check(result, x->payloads, x->call.err));
    for (size_t j = 0; j < count; j++)
        result[j] = t[j]->mean.data ? t[j]->mean : t[j]->x.heard[round];
    TRY(from_root(r, x, result, count));
    for (size_t j = 0; j < count && !relay_takes(r); j++)
        if (round + 1 == t[j]->x.rounds && relay_sends_mean(r, &t[j]->x))
            t[j]->mean = result[j];
        else
            TRY(exchange_hear(&t[j]->x, t[j]->first, result[j]));
    return OK;
}

Status relay_results(const Relay *r, RelayTensor *const *t, size_t count, int round, Status status)
{
    if (relay_has_root(r))
        return share_results(r, t, count, round, status);
    for (size_t j = 0; j < count && status == OK; j++)
        if (t[j]->merged.data)
            status = exchange_hear(&t[j]->x, t[j]->first, t[j]->merged);
    return status;
}
