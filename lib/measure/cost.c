/* cost.c -- implements cost.h.
 *
 * Without overlap, computing, encoding, communication and decoding follow one another. With overlap
 * (docs/cost.md), the forward pass takes a third of the compute time. The backward pass takes the rest and
 * goes from the last layer to the first; a layer's time is proportional to its elements. The processor
 * encodes each layer as soon as its gradient is computed. Meanwhile the link sends the layers that are
 * already encoded. When all layers are encoded, the processor decodes them in the same order. */
#include "measure/cost.h"

#include <math.h>

const char *const pays_names[] = {"below", "above", "always", "never"};

CostLayer cost_more_workers(const CostLayer *half, const CostLayer *full, double measured, double workers)
{
    const double doublings = ceil(log2(workers)) - log2(measured);
    CostLayer l = *full;
    l.merge *= (workers - 1) / (measured - 1);
    l.merge_se *= (workers - 1) / (measured - 1);
    l.bytes_se = hypot((1 + doublings) * full->bytes_se, doublings * half->bytes_se);
    l.merged_se = hypot((1 + doublings) * full->merged_se, doublings * half->merged_se);
    l.bytes += doublings * (full->bytes - half->bytes);
    l.merged += doublings * (full->merged - half->merged);
    l.early += doublings * (full->early - half->early);
    return l;
}

/* ---- times of one layer ---- */

/* Returns one worker's share of the P - 1 additions of a whole payload that merge P payloads. On a ring,
 * each worker makes P - 1 additions of 1/P of a payload. On a tree, each worker makes ceil(log2 P) additions
 * of a whole payload. */
static double adding_share(const Iteration *it)
{
    const double p = it->workers;
    if (p < 2)
        return 1;
    return it->topology == TOPOLOGY_RING   ? 1 / p
           : it->topology == TOPOLOGY_TREE ? ceil(log2(p)) / (p - 1)
                                           : 1;
}

double layer_decode(const Iteration *it, const CostLayer *l)
{
    return it->adds ? adding_share(it) * l->merge + l->decode : it->workers * l->decode + l->merge;
}

static Traffic layer_traffic(const Iteration *it, const CostLayer *l)
{
    return (Traffic){.topology = it->topology,
                     .workers = it->workers,
                     .rounds = it->rounds,
                     .payload = topology_adds(it->topology) ? l->merged : l->bytes,
                     .early = l->early,
                     .parameters = 4 * l->n};
}

static CostLayer whole(const Iteration *it)
{
    CostLayer all = {.encode = it->plan};
    for (const CostLayer *l = it->layer; l < it->layer + it->layers; l++) {
        all.n += l->n;
        all.encode += l->encode;
        all.decode += l->decode;
        all.merge += l->merge;
        all.bytes += l->bytes;
        all.merged += l->merged;
        all.early += l->early;
    }
    return all;
}

Traffic iteration_traffic(const Iteration *it)
{
    const CostLayer all = whole(it);
    return layer_traffic(it, &all);
}

/* ---- times of an iteration over all layers ---- */

static IterationTime one_after_another(const Iteration *it, const Link *link)
{
    const CostLayer all = whole(it);
    const Traffic t = layer_traffic(it, &all);
    IterationTime time = {it->compute, all.encode, link_seconds(link, &t), layer_decode(it, &all), 0};
    time.total = time.compute + time.encode + time.comm + time.decode;
    return time;
}

static IterationTime overlapped(const Iteration *it, const Link *link)
{
    const CostLayer all = whole(it);
    IterationTime time = {it->compute, all.encode, 0, layer_decode(it, &all), 0};
    const double backward = it->compute * 2 / 3, ready = it->compute + all.encode;
    double processor = it->compute - backward, sent = 0, decoded = ready;
    if (it->plan > 0)
        /* encoding starts after the plan, which needs the whole gradient */
        processor = it->compute + it->plan;
    for (size_t i = it->layers; i-- > 0;) {
        const CostLayer *l = &it->layer[i];
        const Traffic t = layer_traffic(it, l);
        const double comm = link_seconds(link, &t);
        processor += (it->plan > 0 ? 0 : backward * l->n / all.n) + l->encode;
        sent = fmax(sent, processor) + comm;
        decoded = fmax(decoded, sent) + layer_decode(it, l);
        time.comm += comm;
    }
    time.total = decoded;
    return time;
}

IterationTime iteration_time(const Iteration *it, double bandwidth)
{
    const Link link = {"", it->latency, bandwidth};
    return it->overlap && it->layers ? overlapped(it, &link) : one_after_another(it, &link);
}

/* ---- break-even ---- */

static double gain(const Iteration *it, const Iteration *plain, double bandwidth)
{
    return iteration_time(plain, bandwidth).total - iteration_time(it, bandwidth).total;
}

/* Finds by bisection the bandwidth at which the compressed and the uncompressed iteration take the same
 * time. With overlap, the time is not linear in 1 / bandwidth. */
static double crossing(const Iteration *it, const Iteration *plain, bool pays_fast)
{
    double slow = log(1e-3), fast = log(1e18);
    for (int i = 0; i < 200; i++) {
        const double middle = (slow + fast) / 2;
        if ((gain(it, plain, exp(middle)) > 0) == pays_fast)
            fast = middle;
        else
            slow = middle;
    }
    return exp(slow);
}

Pays iteration_pays(const Iteration *it, const Iteration *plain, double *bandwidth)
{
    const Traffic traffic = iteration_traffic(it), most = iteration_traffic(plain);
    const double saved = traffic_bytes(&most) - traffic_bytes(&traffic), lead = gain(it, plain, INFINITY);
    const bool fast = lead > 0, slow = saved > 0 || (saved == 0 && fast);
    *bandwidth = NAN;
    if (fast == slow || saved == 0)
        return fast ? PAYS_ALWAYS : PAYS_NEVER;
    if (lead == 0)
        return slow ? PAYS_ALWAYS : PAYS_NEVER;
    *bandwidth = it->overlap ? crossing(it, plain, fast) : -saved / lead;
    return slow ? PAYS_BELOW : PAYS_ABOVE;
}
