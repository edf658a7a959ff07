/* gradient_buckets.c -- implements gradient_buckets.h. */
#include "exchange/gradient_buckets.h"

#include <string.h>

/* ---- parcels ---- */

static bool is_small(const ParcelList *l, size_t tensor)
{
    return l->tensor[tensor].shape.n < l->min_elements;
}

static bool parcel_holds(const ParcelList *l, const Parcel *p, size_t tensor)
{
    return p->count == 1 || !is_small(l, tensor);
}

static void add_parcel(ParcelList *l, size_t first, size_t count, bool raw)
{
    const GradientTensor *t = &l->tensor[first];
    Parcel *p = &l->item[l->count++];
    *p = (Parcel){.name = t->name, .shape = t->shape, .raw = raw, .first = first, .count = count};
    if (count > 1) {
        size_t n = 0;
        for (size_t i = first; i < first + count; i++)
            n += is_small(l, i) ? 0 : l->tensor[i].shape.n;
        p->name = "all";
        p->shape = shape_vector(n);
    }
    if (p->shape.n > l->largest)
        l->largest = p->shape.n;
}

void parcels_make(ParcelList *l, Grouping grouping)
{
    size_t large = 0;
    l->count = l->largest = 0;
    for (size_t i = 0; i < l->tensors; i++) {
        const bool small = is_small(l, i);
        large += !small;
        if (small || grouping == GROUP_TENSOR)
            add_parcel(l, i, 1, small);
    }
    if (large && grouping == GROUP_ALL)
        add_parcel(l, 0, l->tensors, false);
}

void parcel_load(const ParcelList *l, const Parcel *p, const float *gradient, double gain, float *to)
{
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const GradientTensor *t = &l->tensor[i];
        if (!parcel_holds(l, p, i))
            continue;
        const float *from = gradient + t->offset;
        if (gain == 1)
            memcpy(to, from, t->shape.n * sizeof *to);
        else
            for (size_t j = 0; j < t->shape.n; j++)
                to[j] = (float)(gain * (double)from[j]);
        to += t->shape.n;
    }
}

void parcel_store(const ParcelList *l, const Parcel *p, const float *from, float *gradient)
{
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const GradientTensor *t = &l->tensor[i];
        if (!parcel_holds(l, p, i))
            continue;
        memcpy(gradient + t->offset, from, t->shape.n * sizeof *from);
        from += t->shape.n;
    }
}

const float *bucket_load(const GradientExchange *x, const Parcel *p, size_t w, const Workspace *ws)
{
    parcel_load(&x->parcels, p, x->gradient[w], x->weight[w] * (double)x->senders, ws->x);
    return ws->x;
}

Exchange bucket_exchange(const GradientExchange *x, const Parcel *p, const Workspace *ws)
{
    const Codec *codec = p->raw ? x->none : x->spec.codec;
    return (Exchange){.call = {.self = codec,
                               .shape = &p->shape,
                               .workers = (int)(x->senders ? x->senders : x->spec.workers),
                               .threads = ws->threads,
                               .scratch = ws->scratch,
                               .err = ws->err},
                      .seed = x->spec.seed,
                      .tensor = rng_hash(p->name),
                      .step = (int64_t)x->step,
                      .senders = x->spec.senders && !p->raw,
                      .keep = true,
                      .y = ws->y,
                      .clock = ws->clock,
                      .rounds = codec_rounds(codec)};
}

ExchangeWorker *bucket_worker(const GradientExchange *x, const Parcel *p, size_t w)
{
    return &x->worker[w * x->parcels.count + (size_t)(p - x->parcels.item)];
}

Status bucket_blame(const GradientExchange *x, const char *name, size_t w, Status status, Error *err)
{
    return status == OK ? OK : error_at(err, "step %zu: worker %zu: %s", x->step, w, name);
}

static const Parcel *parcel_of(const GradientExchange *x, const Bucket *b, size_t j)
{
    return &x->parcels.item[b->low + b->count - 1 - j];
}

/* Adds parcels to a bucket while their gradients have at most `bucket_bytes` bytes together. */
void buckets_make(GradientExchange *x, RelayTensor *tensor)
{
    size_t bytes = 0;
    x->buckets = 0;
    for (size_t i = x->parcels.count; i-- > 0;) {
        const Parcel *p = &x->parcels.item[i];
        const size_t size = p->shape.n * sizeof(float);
        if (!x->buckets || bytes + size > x->spec.bucket_bytes) {
            x->bucket[x->buckets++] =
                (Bucket){.first = p->first, .tensor = tensor + (x->parcels.count - 1 - i)};
            bytes = 0;
        }
        Bucket *b = &x->bucket[x->buckets - 1];
        b->low = i;
        b->first = p->first < b->first ? p->first : b->first;
        b->count++;
        bytes += size;
    }
}

/* Lets the bucket's exchanges use a thread's workspace. */
static void occupy(Bucket *b, const Workspace *ws)
{
    for (RelayTensor *t = b->tensor; t < b->tensor + b->count; t++) {
        t->x.call.scratch = ws->scratch;
        t->x.call.threads = ws->threads;
        t->x.call.err = ws->err;
        t->x.y = ws->y;
        t->x.clock = ws->clock;
    }
}

/* ---- encoding ---- */

void bucket_open(const GradientExchange *x, Bucket *b, const Workspace *ws)
{
    for (size_t j = 0; j < b->count; j++) {
        const Parcel *p = parcel_of(x, b, j);
        b->tensor[j] = (RelayTensor){
            .x = bucket_exchange(x, p, ws), .name = p->name, .first = bucket_worker(x, p, x->first)};
        b->tensor[j].x.payloads = b->payloads;
    }
}

static Status begin(const GradientExchange *x, Bucket *b, const Workspace *ws)
{
    for (RelayTensor *t = b->tensor; t < b->tensor + b->count; t++) {
        t->sent = arena_zeroed(b->payloads, x->spec.workers, sizeof *t->sent);
        TRY(arena_check(t->sent, b->payloads, ws->err));
        TRY(exchange_begin(&t->x));
    }
    return OK;
}

Status bucket_encode(const GradientExchange *x, Bucket *b, int round, Workspace *ws)
{
    if (round == 0)
        TRY(begin(x, b, ws));
    for (size_t j = 0; j < b->count; j++) {
        const ArenaMark mark = arena_mark(ws->scratch);
        const Parcel *p = parcel_of(x, b, j);
        RelayTensor *t = &b->tensor[j];
        for (size_t w = x->own; w < x->end && round < t->x.rounds; w++) {
            if (!x->sends[w])
                continue;
            const float *values = bucket_load(x, p, w, ws);
            TRY(bucket_blame(x, t->name, w,
                             exchange_send(&t->x, bucket_worker(x, p, w), values, &t->sent[w][round]),
                             ws->err));
        }
        arena_rewind(ws->scratch, mark);
    }
    return OK;
}

/* ---- carrying ---- */

/* Takes the payloads of all workers, in the order of workers. */
static Status take_all(const GradientExchange *x, const Parcel *p, RelayTensor *t)
{
    const int round = t->x.call.round;
    for (size_t w = 0; w < x->spec.workers; w++)
        if (x->sends[w])
            TRY(bucket_blame(x, t->name, w, exchange_take(&t->x, bucket_worker(x, p, w), t->sent[w][round]),
                             t->x.call.err));
    return exchange_end_round(&t->x);
}

/* Computes the mean on rank 0, for all ranks. */
static Status make_mean(RelayTensor *t)
{
    Arena *a = t->x.payloads;
    const size_t size = t->x.call.shape->n * sizeof *t->x.y;
    uint8_t *mean = NEW(a, uint8_t, size);
    TRY(arena_check(mean, a, t->x.call.err));
    TRY(exchange_receive(&t->x));
    memcpy(mean, t->x.y, size);
    t->mean = (Bytes){mean, size};
    return OK;
}

static void count_bytes(GradientExchange *x, size_t count, int round)
{
    for (size_t w = 0; w < x->spec.workers; w++)
        for (size_t j = 0; j < count; j++) {
            const double size = (double)x->relay.size[w * count + j];
            x->up[w] += size;
            if (round + 1 == x->part[j]->x.rounds && !x->part[j]->x.adds)
                x->gathered += size;
        }
}

/* Takes the payloads of a round that the ranks have not merged. The last round's are left to bucket_finish, unless rank
 * 0 sends the result to the other ranks. */
static Status take_round(const GradientExchange *x, Bucket *b, int round)
{
    for (size_t j = 0; j < b->count && relay_takes(&x->relay); j++) {
        RelayTensor *t = &b->tensor[j];
        const bool last = round + 1 == t->x.rounds;
        if (round >= t->x.rounds || t->merged.data || (last && !relay_has_root(&x->relay)))
            continue;
        TRY(take_all(x, parcel_of(x, b, j), t));
        if (last && relay_sends_mean(&x->relay, &t->x))
            TRY(make_mean(t));
    }
    return OK;
}

static Status carry_round(GradientExchange *x, Bucket *b, int round, Status status)
{
    size_t count = 0;
    for (size_t j = 0; j < b->count; j++)
        if (round < b->tensor[j].x.rounds)
            x->part[count++] = &b->tensor[j];
    TRY(relay_payloads(&x->relay, x->part, count, status, x->sends));
    count_bytes(x, count, round);
    return relay_results(&x->relay, x->part, count, round, take_round(x, b, round));
}

Status bucket_carry(GradientExchange *x, Bucket *b, Workspace *ws)
{
    int rounds = 0;
    for (size_t j = 0; j < b->count; j++)
        rounds = b->tensor[j].x.rounds > rounds ? b->tensor[j].x.rounds : rounds;
    occupy(b, ws);
    for (int round = 0; round < rounds; round++)
        TRY(carry_round(x, b, round, round ? bucket_encode(x, b, round, ws) : b->status));
    return OK;
}

/* ---- finishing ---- */

static Status receive(const GradientExchange *x, const Parcel *p, RelayTensor *t)
{
    if (!relay_has_root(&x->relay) && !t->merged.data)
        TRY(take_all(x, p, t));
    if (!t->mean.data)
        return exchange_receive(&t->x);
    memcpy(t->x.y, t->mean.data, t->mean.size);
    return OK;
}

Status bucket_finish(GradientExchange *x, Bucket *b, Workspace *ws)
{
    occupy(b, ws);
    for (size_t j = 0; j < b->count; j++) {
        const ArenaMark mark = arena_mark(ws->scratch);
        const Parcel *p = parcel_of(x, b, j);
        RelayTensor *t = &b->tensor[j];
        TRY(receive(x, p, t));
        for (int round = 0; round < t->x.rounds; round++) {
            x->bytes.agreed += (double)t->x.heard[round].size;
            x->bytes.early += round + 1 < t->x.rounds ? (double)t->x.heard[round].size : 0;
        }
        parcel_store(&x->parcels, p, t->x.y, x->agreed);
        arena_rewind(ws->scratch, mark);
    }
    return OK;
}

static Status settle(const GradientExchange *x, const Parcel *p, RelayTensor *t, size_t w,
                     const Workspace *ws)
{
    const ExchangeWorker *worker = bucket_worker(x, p, w);
    const float *values = w >= x->own && w < x->end ? bucket_load(x, p, w, ws) : NULL;
    return x->sends[w] ? exchange_settle(&t->x, worker, values, t->sent[w])
                       : exchange_settle_dropped(&t->x, worker, values);
}

Status bucket_settle(const GradientExchange *x, Bucket *b, Workspace *ws)
{
    occupy(b, ws);
    for (size_t j = 0; j < b->count; j++) {
        const ArenaMark mark = arena_mark(ws->scratch);
        const Parcel *p = parcel_of(x, b, j);
        RelayTensor *t = &b->tensor[j];
        if (!codec_keeps_state(t->x.call.self))
            continue;
        parcel_load(&x->parcels, p, x->agreed, 1, ws->y);
        for (size_t w = 0; w < x->spec.workers; w++)
            if (bucket_worker(x, p, w)->state)
                TRY(bucket_blame(x, t->name, w, settle(x, p, t, w, ws), ws->err));
        arena_rewind(ws->scratch, mark);
    }
    return OK;
}
