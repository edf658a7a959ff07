/* cost.h -- computes the time of a training iteration (compute, encode, communicate, decode) from
 * measurements of each layer and the network model of netcost.h. Also computes the bandwidths at which
 * compression saves time. */
#ifndef ATOMO_COST_H
#define ATOMO_COST_H

#include "measure/netcost.h"

/* Measurements of a codec on one layer with P workers. If payloads can be merged, the receiver merges them
 * and decodes the result. If not, it decodes every payload and adds the estimates. */
typedef struct {
    double n;      /* elements */
    double encode; /* seconds that one worker takes to encode */
    /* seconds to decode the merged payload, or one worker's payload if payloads cannot be merged */
    double decode;
    double merge;  /* seconds to merge P payloads, or to add P estimates */
    double bytes;  /* bytes of a worker's payloads of all rounds */
    double merged; /* bytes of the merged payloads of all rounds; unused if payloads cannot be merged */
    double early;  /* bytes of the merged payloads of all rounds but the last */
    double encode_se, decode_se, merge_se, bytes_se, merged_se; /* standard errors; NaN: unknown */
} CostLayer;

/* Extrapolates a layer's costs to more workers than were measured. `full` was measured with `measured`
 * workers, a power of two, and `half` with half as many. Payloads of integers grow by one bit per element if
 * the workers double. So each further doubling adds as many bytes as the last measured one. Merging takes
 * time proportional to workers - 1. */
CostLayer cost_more_workers(const CostLayer *half, const CostLayer *full, double measured, double workers);

typedef struct {
    const CostLayer *layer; /* the layers in the order of the forward pass */
    size_t layers;
    double
        /* seconds in which the codec plans, for which it needs the gradient of all layers; 0: the codec does
         * not plan */
        plan;
    double rounds, workers;
    bool adds;         /* true: payloads can be merged without decoding (`codec_adds`) */
    Topology topology; /* ring and tree are allowed only if `adds` is true */
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

/* Results for an iteration compared with the plain iteration (without compression), or the standard errors
 * of these results (`cost_errors`). */
typedef struct {
    IterationTime time;
    double speedup;    /* total time of the plain iteration / total time of the iteration */
    double break_even; /* the threshold that `iteration_pays` sets, in bytes per second; NaN: there is none */
} CostFigures;

CostFigures cost_figures(const Iteration *it, const Iteration *plain, double bandwidth);

/* Returns the standard errors of the results of `cost_figures`, to first order. They follow from the
 * standard errors of the layers' measurements and of the computing time (`compute_se`), which is the same in
 * both iterations. `same`: both iterations use the same codec and the same measurements; otherwise their
 * measurements are independent. A result that depends on an unknown standard error is NaN. `scratch` has
 * room for the layers of both iterations. */
CostFigures cost_errors(const Iteration *it, const Iteration *plain, bool same, double compute_se,
                        double bandwidth, CostLayer *scratch);

/* The bandwidths at which the compressed iteration is faster than the uncompressed one: below a threshold,
 * above it, all, or none. */
typedef enum { PAYS_BELOW, PAYS_ABOVE, PAYS_ALWAYS, PAYS_NEVER } Pays;

/* Returns at which bandwidths the compressed iteration `it` is faster than the uncompressed `plain`. For
 * PAYS_BELOW and PAYS_ABOVE, sets `*bandwidth` to the threshold in bytes per second, otherwise to NaN. */
Pays iteration_pays(const Iteration *it, const Iteration *plain, double *bandwidth);

#endif
