/* bench_cost_layers.c -- what so many workers make of each layer, from what was measured of one and of up to 16. */
#include "bench_cost.h"

static const Measured *measured_at(const Cost *c, size_t codec, size_t workers)
{
    size_t i = 0;
    while (i + 1 < c->measured.count && c->measured.number[i] != workers)
        i++;
    return &c->together[i * c->job.codecs + codec];
}

static CostLayer added_layer(const Cost *c, size_t codec, size_t i, size_t workers)
{
    if (workers <= COST_MEASURED_MOST)
        return measured_at(c, codec, workers)->layer[i];
    const CostLayer *half = &measured_at(c, codec, COST_MEASURED_MOST / 2)->layer[i],
                    *full = &measured_at(c, codec, COST_MEASURED_MOST)->layer[i];
    return cost_more_workers(half, full, COST_MEASURED_MOST, (double)workers);
}

const CostLayer *cost_layers(const Cost *c, size_t codec, size_t workers)
{
    CostLayer *layer = NEW(c->job.a, CostLayer, c->layers);
    for (size_t i = 0; layer && i < c->layers; i++) {
        if (codec_adds(c->job.codec[codec])) {
            layer[i] = added_layer(c, codec, i, workers);
            continue;
        }
        layer[i] = c->alone[codec].layer[i];
        layer[i].merge = added_layer(c, 0, i, workers).merge; /* none's: floats that are added up */
    }
    return layer;
}

const char *cost_error(const Cost *c, size_t codec)
{
    const char *error = c->alone[codec].error;
    for (size_t i = 0; !error && i < c->measured.count; i++)
        error = c->together[i * c->job.codecs + codec].error;
    return error;
}
