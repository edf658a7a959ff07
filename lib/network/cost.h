/* cost.h -- computes the time of a training iteration: compute, encode, communicate, decode. It uses
 * measurements of each layer and the network model of netcost.h. It also computes the bandwidth above which
 * compression costs more time than it saves. */
#ifndef ATOMO_COST_H
#define ATOMO_COST_H

#include "network/netcost.h"

/* Measurements of a codec on one layer with P workers. If payloads merge, the receiver merges them and decodes
 * the result. If not, it decodes every payload and adds the estimates. */
typedef struct {
    double n;      /* elements */
    double encode; /* seconds that one worker takes to encode */
    /* seconds to decode the merged payload, or one worker's payload if payloads do not merge */
    double decode;
    double merge;  /* seconds to merge P payloads, or to add P estimates */
    double bytes;  /* bytes of a worker's payloads of all rounds */
    double merged; /* bytes of the merged payloads of all rounds; unused if payloads do not merge */
    double early;  /* bytes of the merged payloads of all rounds but the last */
    double encode_se, decode_se, merge_se, bytes_se, merged_se; /* standard errors; NaN: unknown */
} CostLayer;

/* Extrapolates a layer's costs to more workers than were measured. `full` was measured with `measured` workers,
 * a power of two, and `half` with half as many. Payloads of integers grow by one bit per element if the workers
 * double. So each further doubling adds as many bytes as the last measured one. Merging takes time proportional
 * to workers - 1. */
CostLayer cost_more_workers(const CostLayer *half, const CostLayer *full, double measured, double workers);

typedef struct {
    const CostLayer *layer; /* the layers in the order of the forward pass */
    size_t layers;
    double
        /* seconds of the codec's planning step, which needs the gradient of all layers; 0: no such step */
        plan;
    double rounds, workers;
    bool adds;         /* true: payloads merge without decoding (codec_adds) */
    Topology topology; /* ring and tree are allowed only when payloads merge (`adds`) */
    double compute;    /* seconds of the forward and the backward pass together */
    double latency;
    bool overlap; /* true: each layer is sent in its own message, while other layers are computed */
} Iteration;

typedef struct {
    double compute, encode, comm, decode; /* seconds of each part of the iteration by itself */
    double total;                         /* sum of the four parts; less with overlap */
} IterationTime;

/* Returns the times of an iteration if the link has `bandwidth` bytes per second, which may be infinite. */
IterationTime iteration_time(const Iteration *it, double bandwidth);

/* Results for an iteration in comparison with the plain iteration (without compression). cost_errors returns
 * the standard error of each result in the same form. */
typedef struct {
    IterationTime time;
    double speedup;    /* time of the plain iteration / this one's */
    double break_even; /* the threshold that iteration_pays sets, in bytes per second; NaN: there is none */
} CostFigures;

CostFigures cost_figures(const Iteration *it, const Iteration *plain, double bandwidth);

/* Returns the standard errors of the results of cost_figures, to first order. They follow from the standard
 * errors of the layers' measurements, and from `compute_se`, the standard error of the computing time. Both
 * iterations have the same computing time. `same` says that both iterations use the same codec and the same
 * measurements. Otherwise their measurements are independent. A result is NaN if it depends on an unknown
 * standard error. `scratch` has room for the layers of both iterations. */
CostFigures cost_errors(const Iteration *it, const Iteration *plain, bool same, double compute_se,
                        double bandwidth, CostLayer *scratch);

/* Returns the seconds in which a receiver (the server, or each worker) merges and decodes the payloads of P
 * workers. */
double layer_decode(const Iteration *it, const CostLayer *layer);

/* At which bandwidths the compressed iteration is faster than the uncompressed one: below a threshold, above
 * it, at all bandwidths, or at none. */
typedef enum { PAYS_BELOW, PAYS_ABOVE, PAYS_ALWAYS, PAYS_NEVER } Pays;
extern const char *const pays_names[]; /* names in the order of Pays */

/* Returns at which bandwidths the compressed iteration `it` is faster than the uncompressed `plain`. For
 * PAYS_BELOW and PAYS_ABOVE, sets *bandwidth to the threshold in bytes per second, otherwise to NaN. */
Pays iteration_pays(const Iteration *it, const Iteration *plain, double *bandwidth);

#endif
