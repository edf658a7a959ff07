/* cost.c -- implements cost.h.
 *
 * Without overlap, computing, encoding, communication and decoding follow one another. With overlap
 * (docs/cost.md), the forward pass takes a third of the compute time. The backward pass takes the rest and
 * goes from the last layer to the first; a layer's time is proportional to its elements. The processor
 * encodes each layer as soon as its gradient is computed. Meanwhile the link sends the layers that are
 * already encoded. When all layers are encoded, the processor decodes them in the same order. */
#include "measure/cost.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

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

/* Returns the seconds in which a receiver (the server, or each worker) merges and decodes the payloads of P
 * workers. */
static double layer_decode(const Iteration *it, const CostLayer *l)
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
    for (const CostLayer *l = it->layer; l < it->layer + it->layers; l++)
        for (size_t i = 0; i < sizeof all / sizeof(double); i++) /* standard errors, too, which nobody reads */
            ((double *)&all)[i] += ((const double *)l)[i];
    return all;
}

static Traffic iteration_traffic(const Iteration *it)
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

/* ---- standard errors ---- */

/* Computes standard errors of the time of an iteration, of its speedup and of its
 * break-even bandwidth. Each measured quantity is raised by one standard error, and the results are computed
 * again. The squared changes of the results are added up.
 *
 * The errors of a quantity (such as the encoding time) in different layers are independent. So its sum over
 * the layers has the standard error Q, the root of the summed squared standard errors. All layers are raised
 * together, in proportion to their standard errors and by Q in total. This is exact for results that depend
 * only on the sum over the layers, as all do without overlap. */

static const struct {
    size_t value, se; /* offsets in a CostLayer */
} measured[] = {
    {offsetof(CostLayer, encode), offsetof(CostLayer, encode_se)},
    {offsetof(CostLayer, decode), offsetof(CostLayer, decode_se)},
    {offsetof(CostLayer, merge), offsetof(CostLayer, merge_se)},
    {offsetof(CostLayer, bytes), offsetof(CostLayer, bytes_se)},
    {offsetof(CostLayer, merged), offsetof(CostLayer, merged_se)},
};
enum { MEASURED = sizeof measured / sizeof *measured };

static double *field(CostLayer *layer, size_t offset)
{
    return (double *)((char *)layer + offset);
}

/* Raises quantity `m` of each layer in proportion to the layer's standard error. The sum over the layers then
 * rises by Q, the standard error of the sum. The values become NaN if a standard error is unknown. */
static void move(CostLayer *layer, size_t layers, size_t m)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < layers; i++) {
        const double se = *field(&layer[i], measured[m].se);
        sum += se;
        squares += se * se;
    }
    const double share = sum == 0 ? 0 : sqrt(squares) / sum;
    for (size_t i = 0; i < layers; i++)
        *field(&layer[i], measured[m].value) += share * *field(&layer[i], measured[m].se);
}

CostFigures cost_figures(const Iteration *it, const Iteration *plain, double bandwidth)
{
    CostFigures f = {.time = iteration_time(it, bandwidth)};
    f.speedup = iteration_time(plain, bandwidth).total / f.time.total;
    iteration_pays(it, plain, &f.break_even);
    return f;
}

/* CostFigures is an array of doubles, too. */
enum { FIGURES = sizeof(CostFigures) / sizeof(double) };

static void add_squares(CostFigures *sum, const CostFigures *a, const CostFigures *b)
{
    const double *x = (const double *)a, *y = (const double *)b;
    for (size_t i = 0; i < FIGURES; i++)
        ((double *)sum)[i] += (x[i] - y[i]) * (x[i] - y[i]);
}

CostFigures cost_errors(const Iteration *it, const Iteration *plain, bool same, double compute_se,
                        double bandwidth, CostLayer *scratch)
{
    const CostFigures before = cost_figures(it, plain, bandwidth);
    CostFigures sum = {0};
    Iteration own = *it, other = *plain;
    own.compute += compute_se;
    other.compute += compute_se;
    CostFigures after = cost_figures(&own, &other, bandwidth);
    add_squares(&sum, &after, &before);
    own = *it;
    other = *plain;
    own.layer = scratch;
    other.layer = scratch + it->layers;
    for (size_t m = 0; m < (same ? 1 : 2) * MEASURED; m++) {
        memcpy(scratch, it->layer, it->layers * sizeof *scratch);
        memcpy(scratch + it->layers, plain->layer, it->layers * sizeof *scratch);
        if (same || m < MEASURED)
            move(scratch, it->layers, m % MEASURED);
        if (same || m >= MEASURED)
            move(scratch + it->layers, it->layers, m % MEASURED);
        after = cost_figures(&own, &other, bandwidth);
        add_squares(&sum, &after, &before);
    }
    for (size_t i = 0; i < FIGURES; i++)
        ((double *)&sum)[i] = sqrt(((double *)&sum)[i]);
    return sum;
}
