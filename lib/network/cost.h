/* cost.h -- the time of a training iteration: compute, encode, communicate, decode, from measurements of each layer
 * and a network of netcost.h; and the bandwidth at which compression stops paying. */
#ifndef ATOMO_COST_H
#define ATOMO_COST_H

#include "network/netcost.h"

/* Measurements of a codec on one layer of P workers. Its payloads either merge undecoded, or each is decoded and the
 * decoded vectors are added. */
typedef struct {
    double n;      /* elements */
    double encode; /* seconds of one worker */
    double decode; /* seconds for the merged payload, where payloads merge; else for one payload */
    double merge;  /* seconds to merge P payloads, or to add P decoded vectors */
    double bytes;  /* of a worker's payloads, all rounds */
    double merged; /* bytes of the merged payloads, all rounds; where payloads merge */
    double early;  /* bytes of the merged payloads of the rounds before the last */
} CostLayer;

/* Extrapolates to more workers than were measured. `full`: `measured` workers, a power of two; `half`: half as many.
 * Sizes grow with each doubling by what the last doubling added, as sums of integers grow by a bit. Merging takes
 * time in proportion to workers - 1. */
CostLayer cost_more_workers(const CostLayer *half, const CostLayer *full, double measured, double workers);

typedef struct {
    const CostLayer *layer; /* in the order of the forward pass */
    size_t layers;
    double
        plan; /* seconds to plan the whole gradient before any layer is encoded; 0: the codec plans nothing */
    double rounds, workers;
    bool adds;         /* payloads merge undecoded (codec_adds) */
    Topology topology; /* ring and tree only with `adds` */
    double compute;    /* seconds */
    double latency;
    bool overlap; /* each layer is a message of its own, sent while other layers are computed */
} Iteration;

typedef struct {
    double compute, encode, comm, decode; /* seconds of each part by itself */
    double total;                         /* their sum; less with overlap */
} IterationTime;

/* `bandwidth` in bytes a second; may be infinite. */
IterationTime iteration_time(const Iteration *it, double bandwidth);

/* Seconds that a receiver (the server, or each worker) takes to merge and decode the payloads of P workers. */
double layer_decode(const Iteration *it, const CostLayer *layer);

/* The bandwidths at which a compressed iteration is faster than the plain one. */
typedef enum { PAYS_BELOW, PAYS_ABOVE, PAYS_ALWAYS, PAYS_NEVER } Pays;
extern const char *const pays_names[]; /* in the order of Pays */

/* `*bandwidth` (bytes a second): where both take the same time, for PAYS_BELOW and PAYS_ABOVE; else NaN. */
Pays iteration_pays(const Iteration *it, const Iteration *plain, double *bandwidth);

#endif
