/* gradient_buckets.c -- encodes, carries, finishes and settles a bucket; for gradient_buckets.h. */
#include "exchange/gradient_buckets.h"

#include <string.h>

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
        const Parcel *p = bucket_parcel(x, b, j);
        b->tensor[j] = (RelayTensor){
            .x = bucket_exchange(x, p, ws), .name = p->name, .first = bucket_worker(x, p, x->first)};
        b->tensor[j].x.payloads = b->payloads;
        b->tensor[j].sent = x->nothing;
        b->tensor[j].shots = !p->raw && shots_used(x->spec.shots, b->tensor[j].x.call.self);
    }
}

static Status begin(const GradientExchange *x, Bucket *b, const Workspace *ws)
{
    for (RelayTensor *t = b->tensor; t < b->tensor + b->count; t++) {
        Bytes (*sent)[ROUNDS_MAX] = arena_zeroed(b->payloads, x->spec.workers, sizeof *sent);
        TRY(arena_check(sent, b->payloads, ws->err));
        t->sent = sent;
        if (t->shots && x->spec.shots == SHOTS_HOPS) {
            t->partial = NEW_ZERO(b->payloads, float *, x->spec.workers);
            TRY(arena_check(t->partial, b->payloads, ws->err));
        }
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
        const Parcel *p = bucket_parcel(x, b, j);
        RelayTensor *t = &b->tensor[j];
        for (size_t w = x->own; w < x->end && round < t->x.rounds; w++) {
            if (!x->sends[w] || t->partial)
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

/* Takes the payloads of a round that the ranks have not merged. The last round's are left to bucket_finish, unless rank
 * 0 sends the result to the other ranks. */
static Status take_round(const GradientExchange *x, Bucket *b, int round)
{
    for (size_t j = 0; j < b->count && relay_takes(&x->relay); j++) {
        RelayTensor *t = &b->tensor[j];
        const bool last = round + 1 == t->x.rounds;
        if (round >= t->x.rounds || t->shots || t->merged.data || (last && !relay_has_root(&x->relay)))
            continue;
        TRY(bucket_take(x, bucket_parcel(x, b, j), t));
        if (last && relay_sends_mean(&x->relay, &t->x))
            TRY(make_mean(t));
    }
    return OK;
}

static Status carry_round(GradientExchange *x, Bucket *b, int round, Status status)
{
    size_t count = 0;
    for (size_t j = 0; j < b->count; j++)
        if (round < b->tensor[j].x.rounds && !b->tensor[j].shots)
            x->part[count++] = &b->tensor[j];
    if (!count)
        return OK;
    TRY(relay_payloads(&x->relay, x->part, count, status, x->sends));
    for (size_t w = 0; w < x->spec.workers; w++)
        for (size_t j = 0; j < count && x->sends[w]; j++)
            x->bytes.payload += (double)x->part[j]->sent[w][round].size;
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
    return shots_carry(x, b, ws, b->status);
}

/* ---- finishing ---- */

static Status receive(const GradientExchange *x, const Parcel *p, RelayTensor *t)
{
    if (t->shots)
        return shots_receive(x, p, t);
    if (!relay_has_root(&x->relay) && !t->merged.data)
        TRY(bucket_take(x, p, t));
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
        const Parcel *p = bucket_parcel(x, b, j);
        RelayTensor *t = &b->tensor[j];
        TRY(receive(x, p, t));
        for (int round = 0; round < t->x.rounds; round++) {
            x->bytes.carried += (double)t->x.heard[round].size;
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
    if (t->partial && x->sends[w]) /* the last worker of the chain adds its elements as they are */
        return w == p->owner ? OK : exchange_settle(&t->x, worker, t->partial[w], t->sent[w]);
    const float *values = bucket_is_own(x, w) ? bucket_load(x, p, w, ws) : NULL;
    return x->sends[w] ? exchange_settle(&t->x, worker, values, t->sent[w])
                       : exchange_settle_dropped(&t->x, worker, values);
}

Status bucket_settle(const GradientExchange *x, Bucket *b, Workspace *ws)
{
    occupy(b, ws);
    for (size_t j = 0; j < b->count; j++) {
        const ArenaMark mark = arena_mark(ws->scratch);
        const Parcel *p = bucket_parcel(x, b, j);
        RelayTensor *t = &b->tensor[j];
        parcel_load(&x->parcels, p, x->agreed, 1, ws->y);
        if (t->shots)
            TRY(shots_settle(x, p, t, ws));
        for (size_t w = 0; w < x->spec.workers && codec_keeps_state(t->x.call.self); w++)
            if (bucket_worker(x, p, w)->state)
                TRY(bucket_blame(x, t->name, w, settle(x, p, t, w, ws), ws->err));
        arena_rewind(ws->scratch, mark);
    }
    return OK;
}
