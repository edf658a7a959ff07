/* segments.c -- implements segments.h. A slice is the part of one worker's payload that lies in one segment. */
#include "exchange/segments.h"

#include <string.h>

enum { LEAST = 64 }; /* numbers in a segment */

Segments segments_of(const Relay *r, Exchange *x, const ExchangeWorker *first, const bool *sends)
{
    Segments s = {.r = r, .x = x, .first = first, .sends = sends, .call = exchange_call(x, first)};
    if (r->way == NET_RING)
        s.numbers = codec_numbers(&s.call);
    return s;
}

bool segments_used(const Segments *s)
{
    const Numbers *m = &s->numbers;
    if (m->count < LEAST * (size_t)net_ranks(s->r->net))
        return false;
    const size_t want = numbers_head(m) + numbers_size(m, m->count, m->bits);
    for (size_t w = 0; w < s->r->workers; w++)
        if (s->sends[w] && s->r->size[w] != want)
            return false;
    return true;
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

/* Copies the slices of this rank's workers, sorted by segment. */
static void copy_slices(const Segments *s, Bytes (*sent)[ROUNDS_MAX], uint8_t *out)
{
    const Numbers *m = &s->numbers;
    const Relay *r = s->r;
    const int rank = net_rank(r->net);
    for (int i = 0; i < net_ranks(r->net); i++) {
        const size_t size = segment_size(s, i, m->bits);
        const size_t at = numbers_head(m) + numbers_size(m, cut(s, i), m->bits);
        for (size_t w = r->first[rank]; w < r->first[rank + 1]; w++)
            if (s->sends[w]) {
                memcpy(out, sent[w][s->x->call.round].data + at, size);
                out += size;
            }
    }
}

/* Sends each rank the slices of its segment. Sets *in to the slices of this rank's segment, in the order of
 * workers. */
static Status send_slices(const Segments *s, Bytes (*sent)[ROUNDS_MAX], const uint8_t **in)
{
    Arena *a = s->x->payloads;
    const int ranks = net_ranks(s->r->net), rank = net_rank(s->r->net), bits = s->numbers.bits;
    const size_t own = senders_of(s, rank);
    size_t *out_size = NEW(a, size_t, (size_t)ranks), *in_size = NEW(a, size_t, (size_t)ranks);
    uint8_t *out = NEW(a, uint8_t, own * numbers_size(&s->numbers, s->numbers.count, bits));
    uint8_t *slices = NEW(a, uint8_t, (size_t)s->call.workers * segment_size(s, rank, bits));
    TRY(arena_check(out_size && in_size && out && slices, a, s->x->call.err));
    for (int i = 0; i < ranks; i++) {
        out_size[i] = own * segment_size(s, i, bits);
        in_size[i] = senders_of(s, i) * segment_size(s, rank, bits);
    }
    copy_slices(s, sent, out);
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

static Status add_slices(const Segments *s, const uint8_t *in, uint8_t *out)
{
    const ExchangeClock *clock = &s->x->clock;
    const size_t senders = (size_t)s->call.workers;
    const int rank = net_rank(s->r->net);
    Job job = {s, NEW(s->x->payloads, const uint8_t *, senders), out};
    TRY(arena_check(job.slice, s->x->payloads, s->x->call.err));
    for (size_t i = 0; i < senders; i++)
        job.slice[i] = in + i * segment_size(s, rank, s->numbers.bits);
    const Status status =
        clock->run ? clock->run(clock->data, EXCHANGE_MERGE, s->first->index, add, &job) : add(&job);
    return status == OK ? OK : error_at(s->x->call.err, "segment %d, from number %zu on", rank, cut(s, rank));
}

Status segments_merge(const Segments *s, Bytes (*sent)[ROUNDS_MAX], Bytes *merged)
{
    Arena *a = s->x->payloads;
    const Numbers *m = &s->numbers;
    const int ranks = net_ranks(s->r->net), rank = net_rank(s->r->net);
    const uint8_t *in;
    Buf out = {.cap = 16 + numbers_size(m, m->count, m->merged_bits)};
    out.data = NEW(a, uint8_t, out.cap);
    TRY(arena_check(out.data, a, s->x->call.err));
    TRY(send_slices(s, sent, &in));
    numbers_merged_head(&s->call, m, &out);
    uint8_t *body = buf_room(&out, out.cap - 16);
    const Status status = add_slices(s, in, body + numbers_size(m, cut(s, rank), m->merged_bits));
    TRY(net_agree(s->r->net, status, s->x->call.err));
    for (int i = 0; i < ranks; i++)
        s->r->rank_bytes[i] = segment_size(s, i, m->merged_bits);
    net_gather(s->r->net, NET_RING, body, s->r->rank_bytes);
    *merged = buf_bytes(&out);
    return OK;
}
