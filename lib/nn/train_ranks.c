/* train_ranks.c -- the parts of a trainer that send data between ranks (net.h). */
#include "nn/train_parts.h"

#include <math.h>
#include <string.h>

NetWay way_of(Topology topology)
{
    static const NetWay ways[] = {[TOPOLOGY_PS] = NET_ROOT,
                                  [TOPOLOGY_ALLGATHER] = NET_ALL,
                                  [TOPOLOGY_RING] = NET_RING,
                                  [TOPOLOGY_TREE] = NET_TREE};
    return ways[topology];
}

static size_t first_worker(const Trainer *t, int rank)
{
    return relay_first_worker(t->s.net, way_of(t->s.topology), t->s.workers, rank);
}

/* ---- measurements of a step ---- */

void ranks_share_scores(Trainer *t)
{
    size_t *size = t->s.net ? t->s.net->room : NULL;
    for (int r = 0; t->s.net && r < t->s.net->ranks; r++)
        size[r] = (first_worker(t, r + 1) - first_worker(t, r)) * sizeof *t->score;
    net_gather(t->s.net, NET_ALL, t->score, size);
}

void ranks_begin_step(Trainer *t)
{
    if (t->s.net)
        t->before = (RankTimes){.sent = (double)t->s.net->sent, .received = (double)t->s.net->received};
}

void ranks_share_times(Trainer *t, StepRecord *r)
{
    Net *net = t->s.net;
    const double ranks = (double)net->ranks, row = sizeof *t->times;
    RankTimes *own = &t->times[net->rank];
    *own = (RankTimes){.decode = t->decode,
                       .comm = t->waited,
                       /* this function's own message counts, too */
                       .sent = (double)net->sent - t->before.sent + row,
                       .received = (double)net->received - t->before.received + (ranks - 1) * row};
    for (size_t w = t->own; w < t->end; w++)
        own->encode = fmax(own->encode, t->encode[w]);
    net_table(net, t->times, sizeof *t->times);
    r->comm = INFINITY;
    for (const RankTimes *i = t->times; i < t->times + net->ranks; i++) {
        r->encode = fmax(r->encode, i->encode);
        r->decode = fmax(r->decode, i->decode);
        r->comm = fmin(r->comm, i->comm);
        r->rank_sent += i->sent / ranks;
        r->rank_received += i->received / ranks;
    }
}

/* ---- the state of the whole run on rank 0 ---- */

enum { COLLECT, SPREAD };

/* Sends an array of worker w between rank 0 and the worker's rank. */
static void move(Trainer *t, int way, size_t w, void *data, size_t size)
{
    const int rank = relay_rank_of(t->s.net, way_of(t->s.topology), t->s.workers, w);
    net_move(t->s.net, way == COLLECT ? rank : 0, way == COLLECT ? 0 : rank, data, size);
}

/* Sends the codec states. Where a receiver decodes payloads with the senders' states, all ranks need all
 * states. */
static void move_states(Trainer *t, int way)
{
    const CodecStates *states = gradient_states(t->exchange);
    const bool to_all = way == SPREAD && gradient_follows(t->exchange) && t->s.topology != TOPOLOGY_PS;
    for (size_t i = 0; i < states->count; i++) {
        const CodecState *s = &states->item[i];
        if (to_all)
            net_broadcast(t->s.net, 0, s->state, s->size);
        else
            move(t, way, (size_t)s->worker, s->state, s->size);
    }
}

static void move_inner(Trainer *t, int way, size_t w)
{
    const InnerState *i = &t->inner[w];
    const size_t size = t->floats * sizeof *i->weights;
    move(t, way, w, i->weights, size);
    move(t, way, w, i->velocity, size);
    if (t->s.optimizer.kind == OPTIMIZER_ADAMW)
        move(t, way, w, i->square, size);
}

static void move_all(Trainer *t, int way)
{
    for (size_t w = 0; w < t->s.workers; w++)
        move(t, way, w, t->running[w], t->running_floats * sizeof **t->running);
    for (size_t w = 0; t->inner && w < t->s.workers; w++)
        move_inner(t, way, w);
    move_states(t, way);
}

void trainer_collect(Trainer *t, bool gradients)
{
    move_all(t, COLLECT);
    for (size_t w = 0; w < t->s.workers && gradients; w++)
        move(t, COLLECT, w, t->gradient[w], t->floats * sizeof **t->gradient);
}

void trainer_spread(Trainer *t)
{
    uint64_t step = t->step;
    net_broadcast(t->s.net, 0, &step, sizeof step);
    net_broadcast(t->s.net, 0, t->weights, t->floats * sizeof *t->weights);
    net_broadcast(t->s.net, 0, t->velocity, t->floats * sizeof *t->velocity);
    if (t->square)
        net_broadcast(t->s.net, 0, t->square, t->floats * sizeof *t->square);
    move_all(t, SPREAD);
    t->step = (size_t)step;
    t->ordered = 0;
}
