/* train_ranks.c -- the parts of a trainer that send data between ranks (net.h). */
#include "train/train_parts.h"

#include <math.h>
#include <string.h>

NetWay way_of(Topology topology)
{
    static const NetWay ways[] = {[TOPOLOGY_PS] = NET_ROOT,
                                  [TOPOLOGY_ALLGATHER] = NET_ALL,
                                  [TOPOLOGY_RING] = NET_RING,
                                  [TOPOLOGY_TREE] = NET_TREE,
                                  [TOPOLOGY_TWOSHOT] = NET_RING};
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
    if (t->s.net) {
        t->sent = t->s.net->sent;
        t->received = t->s.net->received;
    }
}

static RankTimes own_times(const Trainer *t)
{
    const Net *net = t->s.net;
    RankTimes own = {.measure = {[RANK_WAIT] = t->waited,
                                 [RANK_DECODE] = t->decode,
                                 [RANK_SENT] = (double)(net->sent - t->sent),
                                 [RANK_RECEIVED] = (double)(net->received - t->received)}};
    for (size_t w = t->own; w < t->end; w++) {
        own.measure[RANK_COMPUTE] += t->score[w].seconds;
        own.measure[RANK_ENCODE] += t->encode[w];
        own.encode = fmax(own.encode, t->encode[w]);
    }
    /* the message that carries these times counts, too */
    own.measure[RANK_SENT] += sizeof own;
    own.measure[RANK_RECEIVED] += (double)(net->ranks - 1) * sizeof own;
    return own;
}

static RankSpread spread(const RankTimes *times, int ranks, size_t measure)
{
    RankSpread s = {times->measure[measure], 0, times->measure[measure]};
    for (int r = 0; r < ranks; r++) {
        const double v = times[r].measure[measure];
        s.least = fmin(s.least, v);
        s.most = fmax(s.most, v);
        s.mean += v / ranks;
    }
    return s;
}

void ranks_share_times(Trainer *t, StepRecord *r)
{
    Net *net = t->s.net;
    t->times[net->rank] = own_times(t);
    net_table(net, t->times, sizeof *t->times);
    for (size_t i = 0; i < RANK_MEASURES; i++)
        r->rank[i] = spread(t->times, net->ranks, i);
    for (int i = 0; i < net->ranks; i++)
        r->encode = fmax(r->encode, t->times[i].encode);
    r->decode = fmax(r->decode, r->rank[RANK_DECODE].most);
    r->comm = r->rank[RANK_WAIT].least;
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
