/* segments.c -- implements segments.h. A slice is the part of one worker's payload that lies in one segment. In a
 * message, the segments or slices for one rank, of all tensors, lie side by side. */
#include "exchange/segments.h"

#include <assert.h>
#include <string.h>

enum { LEAST = 64 }; /* numbers in a segment */

Segments segments_of(const Relay *r, RelayTensor *t, const bool *sends)
{
    Segments s = {.r = r, .tensor = t, .sends = sends, .call = exchange_call(&t->x, t->first)};
    s.numbers = codec_numbers(&s.call);
    return s;
}

bool segments_used(const Segments *s)
{
    return s->numbers.count >= LEAST * (size_t)net_ranks(s->r->net);
}

static size_t cut(const Segments *s, int segment)
{
    return numbers_cut(&s->numbers, (size_t)net_ranks(s->r->net), (size_t)segment);
}

/* Returns the bytes of a segment whose numbers have `bits` bits. */
static size_t segment_size(const Segments *s, int segment, int bits)
{
    return numbers_size(&s->numbers, cut(s, segment + 1) - cut(s, segment), bits);
}

static size_t senders_of(const Segments *s, int rank)
{
    size_t senders = 0;
    for (size_t w = s->r->first[rank]; w < s->r->first[rank + 1]; w++)
        senders += s->sends[w];
    return senders;
}

/* ---- sending slices ---- */

/* Returns the bytes of a segment of one worker's payloads. */
static size_t slices_size(const Segments *s, size_t count, int segment)
{
    size_t size = 0;
    for (size_t j = 0; j < count; j++)
        size += segment_size(&s[j], segment, s[j].numbers.bits);
    return size;
}

/* Copies a segment of this rank's payloads to `out`; returns the end of the copy. */
static uint8_t *copy_slices(const Segments *s, int segment, uint8_t *out)
{
    const Numbers *m = &s->numbers;
    const Relay *r = s->r;
    const int rank = net_rank(r->net), round = s->tensor->x.call.round;
    const size_t size = segment_size(s, segment, m->bits);
    const size_t at = numbers_head(m) + numbers_size(m, cut(s, segment), m->bits);
    for (size_t w = r->first[rank]; w < r->first[rank + 1]; w++)
        if (s->sends[w]) {
            const Bytes sent = s->tensor->sent[w][round];
            assert(sent.size == numbers_head(m) + numbers_size(m, m->count, m->bits));
            memcpy(out, sent.data + at, size);
            out += size;
        }
    return out;
}

/* Sends each rank the slices of its segment. Sets *in to the slices of this rank's segment, sorted by the sender's
 * rank. */
static Status send_slices(const Segments *s, size_t count, const uint8_t **in)
{
    Arena *a = s->tensor->x.payloads;
    const int ranks = net_ranks(s->r->net), rank = net_rank(s->r->net);
    const size_t own = senders_of(s, rank);
    size_t *out_size = NEW(a, size_t, (size_t)ranks), *in_size = NEW(a, size_t, (size_t)ranks), all = 0;
    TRY(arena_check(out_size && in_size, a, s->call.err));
    for (int i = 0; i < ranks; i++) {
        out_size[i] = own * slices_size(s, count, i);
        in_size[i] = senders_of(s, i) * slices_size(s, count, rank);
        all += out_size[i];
    }
    uint8_t *out = NEW(a, uint8_t, all), *to = out;
    uint8_t *slices = NEW(a, uint8_t, (size_t)s->call.workers * slices_size(s, count, rank));
    TRY(arena_check(out && slices, a, s->call.err));
    for (int i = 0; i < ranks; i++)
        for (size_t j = 0; j < count; j++)
            to = copy_slices(&s[j], i, to);
    net_scatter(s->r->net, out, out_size, slices, in_size);
    *in = slices;
    return OK;
}

/* ---- merging this rank's segment ---- */

typedef struct {
    const Segments *s;
    const uint8_t **slice; /* (call.workers) */
    uint8_t *out;
} Job;

static Status add(void *arg)
{
    const Job *job = arg;
    const Segments *s = job->s;
    const int rank = net_rank(s->r->net);
    return numbers_add(&s->call, &s->numbers, job->slice, (size_t)s->call.workers,
                       cut(s, rank + 1) - cut(s, rank), job->out);
}

/* Points `slice` to the slices of tensor j in the message `in`, in the order of workers. */
static void find_slices(const Segments *s, size_t count, size_t j, const uint8_t *in, const uint8_t **slice)
{
    const int rank = net_rank(s->r->net);
    for (int i = 0; i < net_ranks(s->r->net); i++)
        for (size_t k = 0; k < count; k++)
            for (size_t w = 0; w < senders_of(s, i); w++) {
                if (k == j)
                    *slice++ = in;
                in += segment_size(&s[k], rank, s[k].numbers.bits);
            }
}

static Status add_slices(const Segments *s, size_t count, const uint8_t *in, uint8_t *out)
{
    Arena *a = s->tensor->x.payloads;
    const int rank = net_rank(s->r->net);
    for (size_t j = 0; j < count; j++) {
        const ExchangeClock *clock = &s[j].tensor->x.clock;
        Job job = {&s[j], NEW(a, const uint8_t *, (size_t)s->call.workers), out};
        TRY(arena_check(job.slice, a, s->call.err));
        find_slices(s, count, j, in, job.slice);
        const Status status =
            clock->run ? clock->run(clock->data, EXCHANGE_MERGE, s->tensor->first->index, add, &job)
                       : add(&job);
        if (status != OK)
            return error_at(s->call.err, "%s: segment %d, from number %zu on", s[j].tensor->name, rank,
                            cut(&s[j], rank));
        out += segment_size(&s[j], rank, s[j].numbers.merged_bits);
    }
    return OK;
}

/* Makes the merged payloads from their segments, which `in` has in the order of ranks. */
static Status join_segments(const Segments *s, size_t count, const uint8_t *in)
{
    Arena *a = s->tensor->x.payloads;
    for (size_t j = 0; j < count; j++) {
        const Numbers *m = &s[j].numbers;
        Buf out = {.cap = 16 + numbers_size(m, m->count, m->merged_bits)};
        out.data = NEW(a, uint8_t, out.cap);
        TRY(arena_check(out.data, a, s->call.err));
        numbers_merged_head(&s[j].call, m, &out);
        const uint8_t *from = in;
        for (int i = 0; i < net_ranks(s->r->net); i++)
            for (size_t k = 0; k < count; k++) {
                const size_t size = segment_size(&s[k], i, s[k].numbers.merged_bits);
                if (k == j)
                    memcpy(buf_room(&out, size), from, size);
                from += size;
            }
        s[j].tensor->merged = buf_bytes(&out);
    }
    return OK;
}

Status segments_merge(const Segments *s, size_t count)
{
    const Relay *r = s->r;
    Arena *a = s->tensor->x.payloads;
    const int rank = net_rank(r->net);
    size_t all = 0, before = 0;
    const uint8_t *in;
    TRY(send_slices(s, count, &in));
    for (int i = 0; i < net_ranks(r->net); i++) {
        r->rank_bytes[i] = 0;
        for (size_t j = 0; j < count; j++)
            r->rank_bytes[i] += segment_size(&s[j], i, s[j].numbers.merged_bits);
        before += i < rank ? r->rank_bytes[i] : 0;
        all += r->rank_bytes[i];
    }
    uint8_t *merged = NEW(a, uint8_t, all);
    TRY(arena_check(merged, a, s->call.err));
    TRY(net_agree(r->net, add_slices(s, count, in, merged + before), s->call.err));
    net_gather(r->net, NET_RING, merged, r->rank_bytes);
    return join_segments(s, count, merged);
}
