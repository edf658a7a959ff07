/* gradient_shots.c -- carries tensors whose sums are quantised again (shots.h), for gradient_buckets.c. */
#include "exchange/gradient_buckets.h"

#include "base/text.h"

#include <string.h>

typedef struct {
    const Parcel *p;
    RelayTensor *t;
    size_t *chain, links; /* with SHOTS_HOPS: the workers that the shard's sum visits */
} Shot;

typedef struct {
    GradientExchange *x;
    Bucket *b;
    Workspace *ws;
    Shot *shot;
    size_t count;
    RelayItem *item; /* (count x workers) the payloads that travel now */
    size_t *copies;  /* the number of other workers that each of them goes to */
    size_t items;
} Shooting;

/* ---- payloads on their way ---- */

static void shots_item(Shooting *s, size_t from, size_t to, size_t copies, Bytes *payload)
{
    s->copies[s->items] = copies;
    s->item[s->items++] = (RelayItem){bucket_rank(s->x, from), bucket_rank(s->x, to), payload};
}

/* Carries the items. `all`: each to all ranks. `near`: within nodes. */
static Status shots_deliver(Shooting *s, bool all, bool near, Status status)
{
    double sent = 0;
    TRY(relay_deliver(s->x->spec.net, s->item, s->items, all ? NET_RING : RELAY_ONE, status, s->b->payloads, s->ws->err));
    for (size_t i = 0; i < s->items; i++)
        sent += (double)s->copies[i] * (double)s->item[i].payload->size;
    s->x->shot += sent;
    s->x->near += near ? sent : 0;
    s->items = 0;
    return OK;
}

/* Copies ws->x (p->shape.n) to memory that lasts until the states are settled. */
static Status shots_keep(const Shooting *s, const Parcel *p, float **to)
{
    *to = NEW(s->b->payloads, float, p->shape.n);
    TRY(arena_check(*to, s->b->payloads, s->ws->err));
    memcpy(*to, s->ws->x, p->shape.n * sizeof **to);
    return OK;
}

static ExchangeWorker owner_of(const GradientExchange *x, const Parcel *p)
{
    return (ExchangeWorker){.index = p->owner, .state = x->owner_state[p - x->parcels.item]};
}

/* Encodes ws->x, the mean of a shard, as its owner. */
static Status shots_send_mean(const Shooting *s, const Shot *shot, const Exchange *of)
{
    const ExchangeWorker owner = owner_of(s->x, shot->p);
    Exchange again = shots_mean(of, s->x->again);
    if (owner.state)
        TRY(shots_keep(s, shot->p, &shot->t->owned));
    return bucket_blame(s->x, shot->t->name, owner.index, exchange_send(&again, &owner, s->ws->x, &shot->t->again), s->ws->err);
}

/* ---- two shots ---- */

static Status two_first(Shooting *s, Status status)
{
    const GradientExchange *x = s->x;
    for (const Shot *i = s->shot; i < s->shot + s->count; i++)
        for (size_t w = 0; w < x->spec.workers; w++)
            if (x->sends[w])
                shots_item(s, w, i->p->owner, w != i->p->owner, &i->t->sent[w][0]);
    return shots_deliver(s, false, false, status);
}

static Status two_mean(const Shooting *s, const Shot *shot)
{
    Exchange *x = &shot->t->x;
    TRY(bucket_take(s->x, shot->p, shot->t));
    TRY(exchange_receive(x));
    memcpy(s->ws->x, x->y, shot->p->shape.n * sizeof *x->y);
    return shots_send_mean(s, shot, x);
}

/* ---- hops ---- */

/* Sets ws->x to the elements of worker h of the chain, 0 if it sends none, plus the sum that the one before has sent. */
static Status hop_sum(const Shooting *s, const Shot *shot, size_t h)
{
    const GradientExchange *x = s->x;
    memset(s->ws->x, 0, shot->p->shape.n * sizeof *s->ws->x);
    if (x->sends[shot->chain[h]])
        bucket_load(x, shot->p, shot->chain[h], s->ws);
    if (h == 0)
        return OK;
    const size_t before = shot->chain[h - 1];
    return shots_add(&shot->t->x, bucket_worker(x, shot->p, before), shot->t->sent[before][0], s->ws->x);
}

/* Encodes the sum of a worker that is not the last one of a shard's chain. */
static Status hop_send(const Shooting *s, const Shot *shot, size_t h)
{
    const size_t w = shot->chain[h];
    const ExchangeWorker *worker = bucket_worker(s->x, shot->p, w);
    TRY(hop_sum(s, shot, h));
    if (worker->state)
        TRY(shots_keep(s, shot->p, &shot->t->partial[w]));
    return bucket_blame(s->x, shot->t->name, w, exchange_send(&shot->t->x, worker, s->ws->x, &shot->t->sent[w][0]), s->ws->err);
}

/* Lets the sums of all shards visit the workers. In hop h, worker h of a shard's chain sends to worker h + 1. */
static Status hops(Shooting *s, Status status)
{
    for (size_t h = 0; h + 1 < s->x->spec.workers; h++) {
        for (const Shot *i = s->shot; i < s->shot + s->count; i++) {
            if (h + 1 >= i->links)
                continue;
            if (status == OK && bucket_is_own(s->x, i->chain[h]))
                status = hop_send(s, i, h);
            shots_item(s, i->chain[h], i->chain[h + 1], 1, &i->t->sent[i->chain[h]][0]);
        }
        TRY(shots_deliver(s, false, false, status));
    }
    return OK;
}

static Status hop_mean(const Shooting *s, const Shot *shot)
{
    float *mean = s->ws->x;
    TRY(hop_sum(s, shot, shot->links - 1));
    shots_divide(mean, mean, shot->p->shape.n, (double)s->x->senders);
    return shots_send_mean(s, shot, &shot->t->x);
}

/* ---- nodes: two shots between leaders, of what the workers of their nodes have sent ---- */

static size_t nodes_of(const GradientExchange *x)
{
    return x->spec.node ? x->spec.workers / x->spec.node : 0;
}

/* The leader of a shard in a node. */
static ExchangeWorker leader_of(const GradientExchange *x, const Parcel *p, size_t node)
{
    return (ExchangeWorker){.index = node * x->spec.node + p->owner % x->spec.node,
                            .state = x->leader_state[node * x->parcels.count + (size_t)(p - x->parcels.item)]};
}

/* The exchange between leaders. Its random numbers are others than those within nodes. */
static Exchange between(const GradientExchange *x, const Exchange *within)
{
    Exchange e = *within;
    e.call.self = x->spec.codec;
    e.call.workers = (int)nodes_of(x);
    e.tensor = ~within->tensor;
    e.rounds = 1;
    return e;
}

/* Sets ws->x to the mean of the payloads of `count` workers. */
static Status nodes_average(const Shooting *s, Exchange *e, const ExchangeWorker *worker, const Bytes *in, size_t count)
{
    TRY(exchange_begin(e));
    for (size_t i = 0; i < count; i++)
        TRY(exchange_take(e, &worker[i], in[i]));
    TRY(exchange_end_round(e));
    TRY(exchange_receive(e));
    memcpy(s->ws->x, e->y, e->call.shape->n * sizeof *e->y);
    return OK;
}

/* Encodes, as the leader of a node, the mean of what its workers have sent. */
static Status node_send(const Shooting *s, const Shot *shot, size_t node)
{
    const GradientExchange *x = s->x;
    const size_t k = x->spec.node;
    const ExchangeWorker leader = leader_of(x, shot->p, node);
    ExchangeWorker *worker = NEW(s->b->payloads, ExchangeWorker, k);
    Bytes *in = NEW(s->b->payloads, Bytes, k);
    TRY(arena_check(worker && in, s->b->payloads, s->ws->err));
    for (size_t i = 0; i < k; i++) {
        worker[i] = *bucket_worker(x, shot->p, node * k + i);
        in[i] = shot->t->sent[node * k + i][0];
    }
    Exchange e = shot->t->x, up = between(x, &e);
    TRY(nodes_average(s, &e, worker, in, k));
    if (leader.state)
        TRY(shots_keep(s, shot->p, &shot->t->led[node]));
    return exchange_send(&up, &leader, s->ws->x, &shot->t->up[node]);
}

/* Encodes, as the owner, the mean of what the leaders have sent, for the leaders. */
static Status node_mean(const Shooting *s, const Shot *shot)
{
    const size_t nodes = nodes_of(s->x);
    ExchangeWorker *leader = NEW(s->b->payloads, ExchangeWorker, nodes);
    TRY(arena_check(leader, s->b->payloads, s->ws->err));
    for (size_t m = 0; m < nodes; m++)
        leader[m] = leader_of(s->x, shot->p, m);
    Exchange e = between(s->x, &shot->t->x);
    TRY(nodes_average(s, &e, leader, shot->t->up, nodes));
    TRY(shots_send_mean(s, shot, &e));
    for (size_t m = 0; m < nodes; m++)
        shot->t->back[m] = shot->t->again;
    return OK;
}

/* Encodes, as the leader of a node, what the owner has sent, for the workers of the node: the same payload in each node. */
static Status node_spread(const Shooting *s, const Shot *shot, size_t node)
{
    const GradientExchange *x = s->x;
    const ExchangeWorker leader = {.index = leader_of(x, shot->p, node).index}, owner = owner_of(x, shot->p);
    const Exchange e = between(x, &shot->t->x);
    Exchange mean = shots_mean(&e, x->again), down = shots_mean(&shot->t->x, x->spec.within);
    Bytes payload;
    TRY(exchange_decode(&mean, EXCHANGE_DECODE, &owner, shot->t->back[node]));
    memcpy(s->ws->x, mean.y, shot->p->shape.n * sizeof *mean.y);
    TRY(exchange_send(&down, &leader, s->ws->x, &payload));
    for (size_t i = 0; i < x->spec.node; i++)
        shot->t->down[node * x->spec.node + i] = payload;
    return OK;
}

/* Lets each leader of this rank do its work. */
static Status each_leader(const Shooting *s, Status (*work)(const Shooting *s, const Shot *shot, size_t node), Status status)
{
    for (const Shot *i = s->shot; i < s->shot + s->count; i++)
        for (size_t m = 0; m < nodes_of(s->x); m++) {
            const size_t leader = leader_of(s->x, i->p, m).index;
            if (status == OK && bucket_is_own(s->x, leader))
                status = bucket_blame(s->x, i->t->name, leader, work(s, i, m), s->ws->err);
        }
    return status;
}

/* Each way of a payload: of a worker to its leader or back, or of a leader to the owner or back. */
static Status nodes_carry(Shooting *s, bool near, bool back, Status status)
{
    for (const Shot *i = s->shot; i < s->shot + s->count; i++)
        for (size_t w = 0; w < (near ? s->x->spec.workers : nodes_of(s->x)); w++) {
            const size_t leader = leader_of(s->x, i->p, near ? w / s->x->spec.node : w).index;
            const size_t from = near ? w : leader, to = near ? leader : i->p->owner;
            RelayTensor *t = i->t;
            Bytes *payload = near ? (back ? &t->down[w] : &t->sent[w][0]) : back ? &t->back[w] : &t->up[w];
            shots_item(s, back ? to : from, back ? from : to, from != to, payload);
        }
    return shots_deliver(s, false, near, status);
}

static Status nodes_first(Shooting *s, Status status)
{
    TRY(nodes_carry(s, true, false, status));
    return nodes_carry(s, false, false, each_leader(s, node_send, OK));
}

static Status nodes_second(Shooting *s, Status status)
{
    TRY(nodes_carry(s, false, true, status));
    return nodes_carry(s, true, true, each_leader(s, node_spread, OK));
}

/* ---- all of them: sums to the owners, which quantise the means and send them to all ---- */

static Status two_second(Shooting *s, Status status)
{
    for (const Shot *i = s->shot; i < s->shot + s->count; i++)
        shots_item(s, i->p->owner, i->p->owner, s->x->spec.workers - 1, &i->t->again);
    return shots_deliver(s, true, false, status);
}

static const struct {
    Status (*first)(Shooting *s, Status status);
    Status (*mean)(const Shooting *s, const Shot *shot); /* encodes to again, on the owner's rank */
    Status (*second)(Shooting *s, Status status);
} ways[] = {[SHOTS_TWO] = {two_first, two_mean, two_second},
            [SHOTS_HOPS] = {hops, hop_mean, two_second},
            [SHOTS_NODES] = {nodes_first, node_mean, nodes_second}};

static Status open_shot(Shooting *s, const Parcel *p, RelayTensor *t)
{
    GradientExchange *x = s->x;
    Arena *a = s->b->payloads;
    const size_t nodes = nodes_of(x);
    Shot *shot = &s->shot[s->count++];
    *shot = (Shot){p, t, NEW(a, size_t, x->spec.workers), 0};
    t->up = NEW_ZERO(a, Bytes, nodes);
    t->back = NEW_ZERO(a, Bytes, nodes);
    t->led = NEW_ZERO(a, float *, nodes);
    t->down = NEW_ZERO(a, Bytes, nodes ? x->spec.workers : 0);
    TRY(arena_check(shot->chain && t->up && t->back && t->led && t->down, a, s->ws->err));
    shot->links = shots_chain(x->sends, x->spec.workers, p->owner, shot->chain);
    return OK;
}

static Status shoot(Shooting *s, Status status)
{
    const Shots shots = s->x->spec.shots;
    TRY(ways[shots].first(s, status));
    for (const Shot *i = s->shot; i < s->shot + s->count && status == OK; i++)
        if (bucket_is_own(s->x, i->p->owner))
            status = ways[shots].mean(s, i);
    return ways[shots].second(s, status);
}

Status shots_carry(GradientExchange *x, Bucket *b, Workspace *ws, Status status)
{
    const ArenaMark mark = arena_mark(ws->scratch);
    const size_t most = b->count * x->spec.workers;
    Shooting s = {x, b, ws, NEW(b->payloads, Shot, b->count), 0, NEW(b->payloads, RelayItem, most), NEW(b->payloads, size_t, most), 0};
    TRY(arena_check(s.shot && s.item && s.copies, b->payloads, ws->err));
    for (size_t j = 0; j < b->count; j++)
        if (b->tensor[j].shots)
            TRY(open_shot(&s, bucket_parcel(x, b, j), &b->tensor[j]));
    if (s.count)
        TRY(shoot(&s, status));
    arena_rewind(ws->scratch, mark);
    return OK;
}

Status shots_receive(const GradientExchange *x, const Parcel *p, RelayTensor *t)
{
    const ExchangeWorker owner = owner_of(x, p);
    Exchange again = shots_mean(&t->x, x->spec.node ? x->spec.within : x->again);
    return exchange_decode(&again, EXCHANGE_DECODE, &owner, x->spec.node ? t->down[x->own] : t->again);
}

/* ---- states ---- */

static Status find_state(GradientExchange *x, const Parcel *p, const Exchange *e, size_t w, const char *what, void **state)
{
    const Call call = exchange_call(e, &(ExchangeWorker){.index = w});
    const char *name = text_format(x->arena, "%s %s", p->name, what);
    if (!bucket_is_own(x, w) && net_rank(x->spec.net))
        return OK;
    TRY(arena_check(name, x->arena, x->main.err));
    TRY(codec_states_find(&x->states, &call, (int64_t)w, name, state));
    if (!bucket_is_own(x, w)) /* as for workers: rank 0 has room for it */
        *state = NULL;
    return OK;
}

static Status find_states(GradientExchange *x, size_t i)
{
    const Parcel *p = &x->parcels.item[i];
    const Exchange e = bucket_exchange(x, p, &x->main), again = shots_mean(&e, x->again), up = between(x, &e);
    if (p->raw)
        return OK;
    if (x->spec.feedback)
        TRY(find_state(x, p, &again, p->owner, "mean", &x->owner_state[i]));
    for (size_t m = 0; m < nodes_of(x); m++)
        TRY(find_state(x, p, &up, leader_of(x, p, m).index, "node", &x->leader_state[m * x->parcels.count + i]));
    return OK;
}

Status shots_open(GradientExchange *x, Error *err)
{
    x->again = x->spec.feedback ? x->spec.feedback : x->spec.codec;
    x->owner_state = NEW_ZERO(x->arena, void *, x->parcels.count);
    x->leader_state = NEW_ZERO(x->arena, void *, nodes_of(x) * x->parcels.count);
    TRY(arena_check(x->owner_state && x->leader_state, x->arena, err));
    for (size_t i = 0; i < x->parcels.count; i++)
        if (find_states(x, i) != OK) {
            *err = *x->main.err;
            return err->status;
        }
    return OK;
}

Status shots_settle(const GradientExchange *x, const Parcel *p, RelayTensor *t, const Workspace *ws)
{
    const ExchangeWorker owner = owner_of(x, p);
    const Exchange e = x->spec.node ? between(x, &t->x) : t->x;
    Exchange again = shots_mean(&e, x->again), up = e;
    if (t->owned)
        TRY(bucket_blame(x, t->name, p->owner, exchange_settle(&again, &owner, t->owned, &t->again), ws->err));
    for (size_t m = 0; m < nodes_of(x); m++) {
        const ExchangeWorker leader = leader_of(x, p, m);
        if (t->led[m])
            TRY(bucket_blame(x, t->name, leader.index, exchange_settle(&up, &leader, t->led[m], &t->up[m]), ws->err));
    }
    return OK;
}
