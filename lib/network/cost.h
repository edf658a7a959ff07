/* cost.h -- computes the time of a training iteration (compute, encode, communicate, decode) from measurements of
 * each layer and a network model of netcost.h; and the bandwidth above which compression costs more time than it
 * saves. */
#ifndef ATOMO_COST_H
#define ATOMO_COST_H

#include "network/netcost.h"

/* Measurements of a codec on one layer with P workers. The receiver merges payloads without decoding them, or decodes
 * each payload and adds the estimates. */
typedef struct {
    double n;      /* elements */
    double encode; /* seconds that one worker takes to encode */
    double decode; /* seconds to decode the merged payload; if payloads do not merge, one payload */
    double merge;  /* seconds to merge P payloads, or to add P estimates */
    double bytes;  /* bytes of a worker's payloads of all rounds */
    double merged; /* bytes of the merged payloads of all rounds; unused if payloads do not merge */
    double early;  /* bytes of the merged payloads of the rounds before the last */
} CostLayer;

/* Extrapolates to more workers than were measured. `full` was measured with `measured` workers, a power of two,
 * `half` with half as many. Each further doubling of the workers adds as many bytes as the last measured doubling,
 * since sums of integers then grow by one bit. Merging takes time proportional to workers - 1. */
CostLayer cost_more_workers(const CostLayer *half, const CostLayer *full, double measured, double workers);

typedef struct {
    const CostLayer *layer; /* the layers in the order of the forward pass */
    size_t layers;
    double
        plan; /* seconds of the codec's planning step, which needs the whole gradient; 0: no planning step */
    double rounds, workers;
    bool adds;         /* true: payloads merge without decoding (codec_adds) */
    Topology topology; /* ring and tree are allowed only when payloads merge (`adds`) */
    double compute;    /* seconds of the forward and the backward pass together */
    double latency;
    bool overlap; /* each layer is sent in a message of its own, while other layers are computed */
} Iteration;

typedef struct {
    double compute, encode, comm, decode; /* seconds of each part of the iteration by itself */
    double total;                         /* sum of the four parts; less with overlap */
} IterationTime;

/* Returns the times of an iteration at `bandwidth` bytes a second, which may be infinite. */
IterationTime iteration_time(const Iteration *it, double bandwidth);

/* Returns the seconds that a receiver (the server, or each worker) takes to merge and decode the payloads of P
 * workers. */
double layer_decode(const Iteration *it, const CostLayer *layer);

/* The bandwidths at which a compressed iteration is faster than the plain one: below or above a threshold, all, or
 * none. */
typedef enum { PAYS_BELOW, PAYS_ABOVE, PAYS_ALWAYS, PAYS_NEVER } Pays;
extern const char *const pays_names[]; /* names in the order of Pays */

/* Returns at which bandwidths `it` is faster than `plain`. For PAYS_BELOW and PAYS_ABOVE sets *bandwidth, in bytes a
 * second, to the bandwidth at which the two iterations take the same time; else to NaN. */
Pays iteration_pays(const Iteration *it, const Iteration *plain, double *bandwidth);

#endif
